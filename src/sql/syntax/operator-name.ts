import { unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';

/** An operator by its name, which may be written with the schema of the built-in ones. */
export function operatorName(node: SyntaxNode, field = 'name'): string {
  const names = node.strings(field);
  const schema = names.length > 1 ? names[0] : 'pg_catalog';
  if (schema !== 'pg_catalog') throw unsupported(`The operator ${names.join('.')}`, node.at);
  return names.at(-1) ?? '';
}

import type { Expression, TypeName } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

/** `CAST (x AS type)` and `x::type`, and constants like `date '2024-01-01'`. */
export function readCast(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'typeName']);
  const type = node.part('typeName', 'TypeName');
  if (type === undefined) throw sqlError('sql_syntax', 'A cast needs a type', node.at);
  return { kind: 'cast', at: node.at, arg: context.expression(node.required('arg')), type: readType(type) };
}

/** The name of a type. */
export function readType(node: SyntaxNode): TypeName {
  node.allow(['names', 'typmods', 'typemod', 'arrayBounds'], { setof: 'SETOF', pct_type: '%TYPE' });
  const names = node.strings('names');
  const name = names.at(-1) ?? '';
  if (names.length > 1 && names[0] !== 'pg_catalog' && names[0] !== 'information_schema')
    throw unsupported(`The type ${names.join('.')}`, node.at);
  const modifiers = node.list('typmods').map((modifier) => {
    const integer = modifier.part('ival', 'Integer');
    if (integer === undefined) throw unsupported(`The modifier of type ${name}`, node.at);
    return integer.number('ival');
  });
  return { name, modifiers, array: node.list('arrayBounds').length > 0, at: node.at };
}

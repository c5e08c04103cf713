import type { Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

/** The parameters of functions that may be called by their names; those left out are 0. */
const parameters: ReadonlyMap<string, readonly string[]> = new Map([
  ['make_interval', ['years', 'months', 'weeks', 'days', 'hours', 'mins', 'secs']],
]);

/** The arguments of a call in the order of the function's parameters. */
export function readArguments(
  name: string,
  nodes: readonly SyntaxNode[],
  context: ReadContext,
): readonly Expression[] {
  const given = new Map<number, Expression>();
  for (const [index, node] of nodes.entries()) {
    const place = node.type === 'NamedArgExpr' ? placeOf(name, node) : index;
    if (given.has(place)) throw sqlError('sql_syntax', 'an argument is given twice', node.at);
    const value = node.type === 'NamedArgExpr' ? node.required('arg') : node;
    given.set(place, context.expression(value));
  }
  let count = 0;
  for (const place of given.keys()) count = Math.max(count, place + 1);
  return Array.from(
    { length: count },
    (_, place): Expression =>
      given.get(place) ?? { kind: 'constant', at: undefined, type: 'integer', text: '0' },
  );
}

function placeOf(name: string, node: SyntaxNode): number {
  node.allow(['name', 'arg', 'argnumber']);
  const names = parameters.get(name);
  if (names === undefined) throw unsupported(`A named argument of ${name}`, node.at);
  const place = names.indexOf(node.text('name'));
  if (place >= 0) return place;
  throw sqlError('sql_unknown_function', `${name} has no argument "${node.text('name')}"`, node.at);
}

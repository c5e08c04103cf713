import type { Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import { operatorName } from './operator-name.ts';
import type { ReadContext } from './read-context.ts';

/** Rows of values, `(a, b)`, which are compared value by value. */
type Row = readonly Expression[];
type RowExpression = Extract<Expression, { readonly kind: 'row' }>;

/** `(a, b)` and `ROW (a)`. */
export function readRow(node: SyntaxNode, context: ReadContext): RowExpression {
  node.allow(['args', 'row_format', 'colnames']);
  return { kind: 'row', at: node.at, items: node.list('args').map((arg) => context.expression(arg)) };
}

function rowItems(node: SyntaxNode, context: ReadContext): Row {
  if (node.type !== 'RowExpr') throw unsupported('A row beside something else', node.at);
  return readRow(node, context).items;
}

/** Both sides of a comparison of rows; undefined if it is none. */
export function rowPair(node: SyntaxNode, context: ReadContext): readonly [Row, Row] | undefined {
  const [left, right] = [node.child('lexpr'), node.child('rexpr')];
  const types = [left?.type, right?.type];
  if (types.includes('RowExpr') && types.includes('SubLink'))
    throw unsupported('A comparison of a row with a subquery', node.at);
  if (left?.type !== 'RowExpr' || right?.type !== 'RowExpr') return undefined;
  return [rowItems(left, context), rowItems(right, context)];
}

function pairs(
  left: Row,
  right: Row,
  at: number | undefined,
): ReadonlyArray<readonly [Expression, Expression]> {
  if (left.length === 0) throw unsupported('A comparison of rows without values', at);
  const found = left.flatMap((value, index) =>
    right.slice(index, index + 1).map((other) => [value, other] as const),
  );
  if (left.length === right.length) return found;
  throw sqlError('sql_syntax', 'unequal number of entries in row expressions', at);
}

/**
 * Rows are equal if all of their values are, and different if one is. Which is less is decided by the first
 * values that are not equal; it is unknown if one of these is NULL.
 */
export function compareRows(name: string, left: Row, right: Row, at: number | undefined): Expression {
  const operator = name === '!=' ? '<>' : name;
  const values = pairs(left, right, at);
  const test = (sign: string, args: readonly Expression[]): Expression => ({
    kind: 'operator',
    at,
    name: sign,
    args,
  });
  if (operator === '=' || operator === '<>') {
    return { kind: operator === '=' ? 'and' : 'or', at, args: values.map((pair) => test(operator, pair)) };
  }
  if (!['<', '<=', '>', '>='].includes(operator)) throw unsupported(`${operator} of rows`, at);
  const [last, ...before] = [...values].reverse();
  if (last === undefined) throw new Error('BUG: the values were counted');
  return before.reduce<Expression>(
    (rest, pair) => ({
      kind: 'or',
      at,
      args: [test(operator.slice(0, 1), pair), { kind: 'and', at, args: [test('=', pair), rest] }],
    }),
    test(operator, last),
  );
}

export function rowsDistinct(left: Row, right: Row, negated: boolean, at: number | undefined): Expression {
  const args = pairs(left, right, at).map(
    ([a, b]): Expression => ({ kind: 'is distinct', at, left: a, right: b, negated }),
  );
  return { kind: negated ? 'and' : 'or', at, args };
}

/** `(a, b) IN ((1, 2), (3, 4))` */
export function readRowList(node: SyntaxNode, context: ReadContext): Expression {
  const { at } = node;
  const row = rowItems(node.required('lexpr'), context);
  const rows = node.required('rexpr').list('items');
  const found: Expression = {
    kind: 'or',
    at,
    args: rows.map((each) => compareRows('=', row, rowItems(each, context), at)),
  };
  return operatorName(node) === '<>' ? { kind: 'not', at, arg: found } : found;
}

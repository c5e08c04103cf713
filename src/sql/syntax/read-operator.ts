import type { Call, Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

/** A plain function call. */
export const callOf = (name: string, args: readonly Expression[], at: number | undefined): Call => ({
  kind: 'call',
  at,
  name,
  args,
  star: false,
  distinct: false,
  filter: undefined,
  withinGroup: [],
  orderBy: [],
  over: undefined,
});

/** An operator by its name, which may be written with the schema of the built-in ones. */
export function operatorName(node: SyntaxNode, field = 'name'): string {
  const names = node.strings(field);
  const schema = names.length > 1 ? names[0] : 'pg_catalog';
  if (schema !== 'pg_catalog') throw unsupported(`The operator ${names.join('.')}`, node.at);
  return names.at(-1) ?? '';
}

/** Everything that the grammar makes an operator of: also LIKE, IN, BETWEEN, IS DISTINCT FROM, NULLIF. */
export function readOperator(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['kind', 'name', 'lexpr', 'rexpr', 'rexpr_list_start', 'rexpr_list_end']);
  const { at } = node;
  const kind = node.text('kind');
  const left = () => context.expression(node.required('lexpr'));
  const right = () => context.expression(node.required('rexpr'));
  switch (kind) {
    case 'AEXPR_OP': {
      const rows = rowPair(node, context);
      if (rows !== undefined) return rowComparison(operatorName(node), ...rows, at);
      const args = node.has('lexpr') ? [left(), right()] : [right()];
      return { kind: 'operator', at, name: operatorName(node), args };
    }
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE':
      return readLike(node, context);
    case 'AEXPR_IN':
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL':
      return readList(node, context);
    case 'AEXPR_DISTINCT':
    case 'AEXPR_NOT_DISTINCT':
      return { kind: 'is distinct', at, left: left(), right: right(), negated: kind !== 'AEXPR_DISTINCT' };
    case 'AEXPR_NULLIF':
      return callOf('nullif', [left(), right()], at);
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN':
    case 'AEXPR_BETWEEN_SYM':
    case 'AEXPR_NOT_BETWEEN_SYM': {
      const [low, high] = node.required('rexpr').list('items');
      if (low === undefined || high === undefined)
        throw sqlError('sql_syntax', 'BETWEEN needs two bounds', at);
      return {
        kind: 'between',
        at,
        arg: left(),
        low: context.expression(low),
        high: context.expression(high),
        negated: kind.includes('NOT'),
        symmetric: kind.endsWith('SYM'),
      };
    }
    case 'AEXPR_SIMILAR':
      throw unsupported('SIMILAR TO', at);
    default:
      throw unsupported(`The expression ${kind}`, at);
  }
}

/** `LIKE` with its escape character, if any, as third argument. */
function readLike(node: SyntaxNode, context: ReadContext): Expression {
  const pattern = node.required('rexpr');
  const escaped = pattern.type === 'FuncCall' && pattern.strings('funcname').at(-1) === 'like_escape';
  const patterns = escaped ? pattern.list('args') : [pattern];
  const args = [node.required('lexpr'), ...patterns].map((arg) => context.expression(arg));
  return { kind: 'operator', at: node.at, name: operatorName(node), args };
}

/**
 * `IN (…)`, and `= ANY (ARRAY[…])` and `<> ALL (ARRAY[…])`, which mean the same; other arrays as they are.
 */
function readList(node: SyntaxNode, context: ReadContext): Expression {
  const operator = operatorName(node);
  const kind = node.text('kind');
  const list = node.required('rexpr');
  if (kind === 'AEXPR_IN' && node.required('lexpr').type === 'RowExpr') return readRowList(node, context);
  const arg = context.expression(node.required('lexpr'));
  const isList =
    kind === 'AEXPR_IN' ||
    (list.type === 'A_ArrayExpr' && operator === (kind === 'AEXPR_OP_ANY' ? '=' : '<>'));
  if (!isList) {
    const quantifier = kind === 'AEXPR_OP_ANY' ? 'any' : 'all';
    return { kind: quantifier, at: node.at, operator, arg, array: context.expression(list) };
  }
  const items = list.list(kind === 'AEXPR_IN' ? 'items' : 'elements').map((item) => context.expression(item));
  return { kind: 'in list', at: node.at, arg, items, negated: operator === '<>' };
}

type Row = readonly Expression[];

/** The values of a row, `(a, b)`. */
function readRow(node: SyntaxNode, context: ReadContext): Row {
  if (node.type !== 'RowExpr') throw unsupported('A row beside something else', node.at);
  node.allow(['args', 'row_format', 'colnames']);
  return node.list('args').map((arg) => context.expression(arg));
}

/** Both sides of a comparison of rows; undefined if it is none. */
function rowPair(node: SyntaxNode, context: ReadContext): readonly [Row, Row] | undefined {
  const [left, right] = [node.child('lexpr'), node.child('rexpr')];
  if (left?.type !== 'RowExpr' || right?.type !== 'RowExpr') return undefined;
  return [readRow(left, context), readRow(right, context)];
}

/** Rows are equal if all of their values are, and different if one is. */
function rowComparison(operator: string, left: Row, right: Row, at: number | undefined): Expression {
  if (operator !== '=' && operator !== '<>') throw unsupported(`${operator} of rows`, at);
  if (left.length !== right.length)
    throw sqlError('sql_syntax', 'unequal number of entries in row expressions', at);
  const args = left.map(
    (value, index): Expression => ({
      kind: 'operator',
      at,
      name: operator,
      args: [value, right[index] ?? value],
    }),
  );
  return { kind: operator === '=' ? 'and' : 'or', at, args };
}

/** `(a, b) IN ((1, 2), (3, 4))` */
function readRowList(node: SyntaxNode, context: ReadContext): Expression {
  const { at } = node;
  const row = readRow(node.required('lexpr'), context);
  const rows = node.required('rexpr').list('items');
  const found: Expression = {
    kind: 'or',
    at,
    args: rows.map((each) => rowComparison('=', row, readRow(each, context), at)),
  };
  return operatorName(node) === '<>' ? { kind: 'not', at, arg: found } : found;
}

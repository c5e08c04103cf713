import type { Call, Expression } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import { operatorName } from './operator-name.ts';
import type { ReadContext } from './read-context.ts';
import { compareRows, readRowList, rowPair, rowsDistinct } from './read-rows.ts';

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
      if (rows !== undefined) return compareRows(operatorName(node), ...rows, at);
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
    case 'AEXPR_NOT_DISTINCT': {
      const negated = kind !== 'AEXPR_DISTINCT';
      const rows = rowPair(node, context);
      if (rows !== undefined) return rowsDistinct(...rows, negated, at);
      return { kind: 'is distinct', at, left: left(), right: right(), negated };
    }
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
      return readSimilar(node, context);
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

/** `SIMILAR TO`, whose pattern arrives with its escape character in a call. */
function readSimilar(node: SyntaxNode, context: ReadContext): Expression {
  const { at } = node;
  const args = [node.required('lexpr'), ...node.required('rexpr').list('args')];
  const similar = callOf(
    similarName,
    args.map((arg) => context.expression(arg)),
    at,
  );
  return operatorName(node).startsWith('!') ? { kind: 'not', at, arg: similar } : similar;
}

/** Of a function that no query can name. */
export const similarName = 'SIMILAR TO';

/** `IN (…)`, and `ANY` and `ALL` of an array. */
function readList(node: SyntaxNode, context: ReadContext): Expression {
  const operator = operatorName(node);
  const kind = node.text('kind');
  const list = node.required('rexpr');
  if (kind === 'AEXPR_IN' && node.required('lexpr').type === 'RowExpr') return readRowList(node, context);
  const arg = context.expression(node.required('lexpr'));
  if (kind !== 'AEXPR_IN') {
    const quantifier = kind === 'AEXPR_OP_ANY' ? 'any' : 'all';
    return { kind: quantifier, at: node.at, operator, arg, array: context.expression(list) };
  }
  const items = list.list('items').map((item) => context.expression(item));
  return { kind: 'in list', at: node.at, arg, items, negated: operator === '<>' };
}

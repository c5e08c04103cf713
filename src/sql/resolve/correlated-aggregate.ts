import { allOf, apply, children, columnOf, isConstant, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import type { Aggregate, Column, Expr, SelectIr } from '../ir.ts';
import { outputName } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { int8 } from '../types.ts';
import type { Environment } from './environment.ts';
import { conjuncts } from './pushdown.ts';

/**
 * The store answers a correlated subquery for the values that its outer columns have. It takes each value
 * once where the subquery says that a field of its own equals the outer one. For all other conditions it
 * joins the subquery to the rows around it and groups by the values, so that a value of three rows has every
 * row of the subquery three times. There the rows get numbers, by which they are brought back to one of each
 * before they are aggregated.
 */
export function correlatedAggregate(query: SelectIr, item: Aggregate, env: Environment): SelectIr {
  const single = { ...query, columns: [{ name: '', type: item.type }], items: [item] };
  return ignoresRepetition(item) || takesEachValueOnce(query, item) ? single : numbered(single, item, env);
}

const isOuter = (expr: Expr): boolean => expr.kind === 'column' && expr.outer;
const conditionsOf = ({ where }: SelectIr): readonly Expr[] => (where === undefined ? [] : conjuncts(where));

/** Aggregates whose result is the same however often a row comes. */
const ignoresRepetition = (item: Aggregate): boolean =>
  item.distinct || /^(?:min|max|bool_and|bool_or|every|bit_and|bit_or|any_value)\(/.test(item.name);

function takesEachValueOnce(query: SelectIr, item: Aggregate): boolean {
  const conditions = conditionsOf(query);
  const equated = new Set(conditions.flatMap(equatedOuter));
  const taken: Column[] = [];
  for (const expr of [...conditions, item]) {
    some(expr, (each) => {
      if (each.kind === 'column' && each.outer) taken.push(each);
      return false;
    });
  }
  return taken.every((column) => equated.has(exprKey(column)));
}

/**
 * The outer column that a condition says to be equal to one of the subquery's own. The store takes it for the
 * other one only if both have the same type there, which is known of fields alone: an integer may have any
 * width, and a text may be one that cannot be NULL.
 */
function equatedOuter(condition: Expr): readonly string[] {
  if (condition.kind !== 'apply' || condition.name !== 'compare =') return [];
  const sides = condition.args.filter((each) => each.kind === 'column');
  const [outer, second] = sides.filter(isOuter);
  const [left, right] = sides.map(({ stored }) => stored);
  const areAlike = left !== undefined && left === right;
  return areAlike && outer !== undefined && second === undefined ? [exprKey(outer)] : [];
}

/**
 * `SELECT aggregate (values) FROM (SELECT values FROM (SELECT …, number FROM …) WHERE … GROUP
 * BY number, values)`.
 */
function numbered(query: SelectIr, item: Aggregate, env: Environment): SelectIr {
  const conditions = conditionsOf(query);
  const linking = conditions.filter((each) => some(each, isOuter));
  const isLinking = new Set(linking);
  const own: Column[] = [];
  const places = new Map<string, number>();
  const rows = env.alias();
  const inRows = mapColumns((column) => {
    if (column.outer) return column;
    const place = places.get(exprKey(column)) ?? own.push(column) - 1;
    places.set(exprKey(column), place);
    return columnOf(rows, outputName(place), column.type, column.label);
  });
  const values = [...item.args, ...(item.filter === undefined ? [] : [item.filter])].map(inRows);
  const where = allOf(linking.map(inRows));
  // A window, which the store computes where it stands: it moves functions of no column below joins.
  const number = apply('number of the row', int8, () => 'row_number() OVER ()');
  const numbers = plainSelect([...own, number], {
    ...query,
    where: allOf(conditions.filter((each) => !isLinking.has(each))),
  });
  const unique = env.alias();
  const keys = [columnOf(rows, outputName(own.length), int8, 'number'), ...values];
  const once = {
    ...plainSelect(values, { from: { kind: 'derived', alias: rows, query: numbers }, where }),
    groupingSets: [keys],
  };
  const results = values.map((value, index) => columnOf(unique, outputName(index), value.type, ''));
  const filter = item.filter === undefined ? undefined : results.at(-1);
  const aggregate: Aggregate = { ...item, args: results.slice(0, item.args.length), filter };
  return {
    ...plainSelect([aggregate], { from: { kind: 'derived', alias: unique, query: once }, where: undefined }),
    columns: query.columns,
  };
}

const plainSelect = (
  items: readonly Expr[],
  { from, where }: Pick<SelectIr, 'from' | 'where'>,
): SelectIr => ({
  kind: 'select',
  columns: items.map(({ type }) => ({ name: '', type })),
  distinct: false,
  distinctOn: [],
  items,
  from,
  where,
  groupingSets: [],
  having: undefined,
  orderBy: [],
  limit: undefined,
  offset: undefined,
});

/** The expression with other columns. */
function mapColumns(to: (column: Column) => Column): (expr: Expr) => Expr {
  const map = (expr: Expr): Expr => {
    if (expr.kind === 'column') return to(expr);
    if (isConstant(expr)) return expr;
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(map) };
    throw unsupported('A correlated scalar subquery with a subquery in the condition that correlates it');
  };
  return map;
}

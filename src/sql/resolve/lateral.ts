import { allOf, and, apply, children, columnOf, isConstant, literal, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { arrayLiteral } from '../functions/arrays/arrays.ts';
import { compare } from '../functions/operators.ts';
import { isSet } from '../functions/set-returning.ts';
import { type Column, type Expr, type FromIr, outputName, type QueryIr, type SelectIr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { bool, int4 } from '../types.ts';
import type { Environment } from './environment.ts';
import { isAggregate, isGrouped } from './grouping.ts';
import { conjuncts } from './pushdown.ts';
import type { Link } from './resolved-from.ts';
import { RowsInFrom } from './rows-in-from.ts';
import { plainSelect } from './subquery.ts';

/** A relation that is made for each row of the left side, as the store can have it. */
export interface Lateral {
  readonly ir: FromIr;
  /** The output columns of the query. */
  readonly columns: readonly Expr[];
  /** What joins it to the left side; undefined where it contains that. */
  readonly link: Link | undefined;
}

/**
 * `LATERAL (SELECT …)` with columns of the left side. The store runs no query for each row of another. Where
 * the conditions that name such columns are equalities with what the query reads itself, one query gives the
 * rows for all of them, together with the values to join them by. What reads nothing itself is computed
 * beside the left side.
 * @throws AppError `sql_unsupported` for all else
 */
export function lateralOf(query: QueryIr, left: FromIr, env: Environment): Lateral {
  const alias = env.alias();
  if (query.kind === 'values') return beside(query.rows, alias, left);
  if (query.kind === 'set') throw unsupported('A set operation over columns of the other side (LATERAL)');
  if (isComputed(query)) return beside([query.items], alias, left);
  if (isPlain(query) && !isGrouped(query)) return plainRows(query, alias);
  return isGrouped(query) && query.groupingSets.length === 0
    ? oneRow(query, alias)
    : severalRows(query, alias);
}

const isComputed = (query: SelectIr): boolean =>
  query.from === undefined && query.where === undefined && query.limit === undefined && !isGrouped(query);

/** Rows of expressions over the left side, each column an array to be unnested. */
function beside(rows: readonly (readonly Expr[])[], alias: string, input: FromIr): Lateral {
  const [first = []] = rows;
  const arrays = first.map((_, index) =>
    arrayLiteral(rows.flatMap((row) => row.slice(index, index + 1)).map(unmarked), undefined),
  );
  const columns = first.map(({ type }, index) => ({ ...outputColumn(alias, index, type), unnested: true }));
  const ir: FromIr = { kind: 'unnest', alias, input, arrays, ordinality: false, outer: false };
  return { ir, columns, link: undefined };
}

interface Links {
  /** What the query computes, and what of the left side is to be equal to it. */
  readonly pairs: readonly { readonly key: Expr; readonly outer: Expr }[];
  /** The other conditions. */
  readonly rest: readonly Expr[];
}

const keysOf = ({ pairs }: Links): readonly Expr[] => pairs.map(({ key }) => key);

/** @param itemsAreOutside whether what the query gives is computed behind the join */
function linksOf(query: SelectIr, itemsAreOutside: boolean): Links {
  const conditions = query.where === undefined ? [] : conjuncts(query.where);
  const linking = conditions.filter(hasOuter);
  const pairs = linking.map((condition) => {
    const [a, b] = condition.kind === 'apply' && condition.name === 'compare =' ? condition.args : [];
    if (a !== undefined && b !== undefined) {
      if (!hasOuter(a) && !some(b, isOwn)) return { key: a, outer: unmarked(b) };
      if (!hasOuter(b) && !some(a, isOwn)) return { key: b, outer: unmarked(a) };
    }
    throw refusal('a condition other than an equality with its own columns');
  });
  const { items, groupingSets, having, orderBy, distinctOn } = query;
  const inside = itemsAreOutside ? [] : [...items, ...(having === undefined ? [] : [having])];
  const others = [...inside, ...groupingSets.flat(), ...orderBy.map((sort) => sort.expr), ...distinctOn];
  if (others.some(hasOuter)) {
    throw refusal('its results or its order');
  }
  return { pairs, rest: conditions.filter((condition) => !hasOuter(condition)) };
}

const refusal = (place: string): Error =>
  unsupported(`A subquery in FROM (LATERAL) that uses columns of the other side in ${place}`);

const isOuter = (expr: Expr): boolean => expr.kind === 'column' && expr.outer;
const isOwn = (expr: Expr): boolean => expr.kind === 'subquery' || (expr.kind === 'column' && !expr.outer);
const hasOuter = (expr: Expr): boolean => some(expr, isOuter);

/** An expression over the left side, as it stands beside it. */
function unmarked(expr: Expr): Expr {
  if (expr.kind === 'column') return { ...expr, outer: false };
  if (isConstant(expr)) return expr;
  if (expr.kind === 'apply') return { ...expr, args: children(expr).map(unmarked) };
  throw refusal('an aggregate or a subquery');
}

const outputColumn = (alias: string, index: number, type: Expr['type']): Column =>
  columnOf(alias, outputName(index), type, outputName(index));

/** The query with its keys behind its output columns, and what they are equal to. */
function linked(
  query: SelectIr,
  links: Links,
  alias: string,
  keepsLeft: boolean,
): Pick<Lateral, 'ir' | 'link'> {
  const items = [...query.items, ...keysOf(links)];
  const columns = items.map(({ type }, index) => ({ name: outputName(index), type }));
  const withKeys: SelectIr = { ...query, columns, items, where: allOf(links.rest) };
  const equalities = links.pairs.map(({ key, outer }, index) =>
    compare('=', outputColumn(alias, query.items.length + index, key.type), outer, undefined),
  );
  const on = equalities.length === 0 ? literal(bool, true) : and(...equalities);
  return { ir: { kind: 'derived', alias, query: withKeys }, link: { on, keepsLeft, where: undefined } };
}

/** As many rows for each key as there are; the first ones of each, if there is a LIMIT. */
function severalRows(query: SelectIr, alias: string): Lateral {
  const links = linksOf(query, false);
  const { limit, offset, groupingSets, distinctOn, items, orderBy } = query;
  const [keysOfGroups, second] = groupingSets;
  if (second !== undefined) throw refusal('a query with several grouping sets');
  if (items.some((item) => some(item, (each) => each.kind === 'aggregate' && each.over !== undefined))) {
    throw refusal('a query with window functions');
  }
  const isLimited = limit !== undefined || offset !== undefined;
  if (query.withTies === true) throw refusal('a query with WITH TIES');
  if (isLimited && distinctOn.length > 0) throw refusal('a query with DISTINCT ON and LIMIT');
  const keys = keysOf(links);
  const perKey: SelectIr = {
    ...query,
    orderBy: isLimited || distinctOn.length > 0 ? orderBy : [],
    groupingSets: keysOfGroups === undefined ? [] : [[...keysOfGroups, ...keys]],
    distinctOn: distinctOn.length === 0 ? [] : [...distinctOn, ...keys],
    ...(isLimited ? { limitBy: keys } : {}),
  };
  const columns = items.map(({ type }, index) => outputColumn(alias, index, type));
  return { ...linked(perKey, links, alias, false), columns };
}

/** A query of rows as they are, whatever links it to the left side. */
const isPlain = (query: SelectIr): boolean =>
  query.groupingSets.length === 0 &&
  query.distinctOn.length === 0 &&
  query.limit === undefined &&
  query.offset === undefined &&
  !query.distinct &&
  !query.items.some((item) => some(item, (each) => each.kind === 'aggregate' || isSet(each)));

/** What of the rows is needed outside becomes a column of them; the rest is computed behind the join. */
function plainRows(query: SelectIr, alias: string): Lateral {
  const rows = new RowsInFrom(alias);
  const outside = (expr: Expr): Expr => {
    if (expr.kind === 'column' && expr.outer) return { ...expr, outer: false };
    if (isConstant(expr)) return expr;
    if (!hasOuter(expr)) {
      if (some(expr, (each) => each.kind === 'subquery' && each.correlated)) throw refusal('a subquery');
      return rows.place(expr);
    }
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(outside) };
    throw refusal('a subquery');
  };
  const conditions = query.where === undefined ? [] : conjuncts(query.where);
  const linking = conditions.filter((each) => hasOuter(each));
  if (conditions.some((each) => some(each, (one) => one.kind === 'subquery' && one.correlated))) {
    throw refusal('a subquery');
  }
  const columns = query.items.map((item) => {
    // Also of a constant: an outer join puts NULL in the place of a column.
    if (!hasOuter(item)) return rows.place(item);
    const isThere = rows.place(apply('1', int4, () => '1'));
    const missing = item.type.name === 'array' ? '[]' : 'NULL';
    const value = outside(item);
    // Where an outer join finds no row, nothing is computed.
    return apply('of a row', item.type, (one, a) => `if(isNull(${one}), ${missing}, ${a})`, isThere, value);
  });
  const on = linking.length === 0 ? literal(bool, true) : and(...linking.map(outside));
  const inner: SelectIr = {
    ...plainSelect(rows.items),
    columns: rows.columns,
    from: query.from,
    where: allOf(conditions.filter((each) => !hasOuter(each))),
  };
  return {
    ir: { kind: 'derived', alias, query: inner },
    columns,
    link: { on, keepsLeft: false, where: undefined },
  };
}

/**
 * Aggregates without GROUP BY give a row where there is nothing, too. So they are joined to rows that are
 * kept, and what is computed of them is computed behind that.
 */
function oneRow(query: SelectIr, alias: string): Lateral {
  const links = linksOf(query, true);
  if (query.limit !== undefined || query.offset !== undefined) {
    throw refusal('a query with aggregates and LIMIT');
  }
  const aggregates: Expr[] = [];
  const places = new Map<string, number>();
  const outside = (expr: Expr): Expr => {
    if (isAggregate(expr)) {
      if (hasOuter(expr)) throw refusal('an aggregate');
      const key = exprKey(expr);
      const place = places.get(key) ?? aggregates.push(expr) - 1;
      places.set(key, place);
      const column = outputColumn(alias, place, expr.type);
      const isCount = expr.kind === 'aggregate' && expr.name.startsWith('count');
      return isCount ? apply('count or 0', expr.type, (a) => `ifNull(${a}, 0)`, column) : column;
    }
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(outside) };
    if (isConstant(expr)) return expr;
    if (expr.kind === 'column' && expr.outer) return { ...expr, outer: false };
    throw refusal('a query with aggregates and subqueries or window functions');
  };
  const columns = query.items.map(outside);
  const where = query.having && outside(query.having);
  const grouped: SelectIr = {
    ...query,
    items: aggregates,
    having: undefined,
    distinct: false,
    distinctOn: [],
    groupingSets: [keysOf(links)],
    orderBy: [],
  };
  const { ir, link } = linked(grouped, links, alias, true);
  return { ir, columns, link: link && { ...link, where } };
}

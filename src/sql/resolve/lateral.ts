import { allOf, and, apply, children, columnOf, isConstant, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { arrayLiteral } from '../functions/arrays/arrays.ts';
import { compare } from '../functions/operators.ts';
import { type Column, type Expr, type FromIr, outputName, type QueryIr, type SelectIr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import type { Environment } from './environment.ts';
import { isAggregate, isGrouped } from './grouping.ts';
import { conjuncts } from './pushdown.ts';
import type { Link } from './resolved-from.ts';

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
  const links = linksOf(query);
  return isGrouped(query) && query.groupingSets.length === 0
    ? oneRow(query, links, alias)
    : severalRows(query, links, alias);
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

function linksOf(query: SelectIr): Links {
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
  const others = [...items, ...groupingSets.flat(), ...orderBy.map((sort) => sort.expr), ...distinctOn];
  if ([...others, ...(having === undefined ? [] : [having])].some(hasOuter)) {
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
  return { ir: { kind: 'derived', alias, query: withKeys }, link: { on: and(...equalities), keepsLeft } };
}

/** As many rows for each key as there are; the first ones of each, if there is a LIMIT. */
function severalRows(query: SelectIr, links: Links, alias: string): Lateral {
  const { limit, offset, groupingSets, distinctOn, items, orderBy } = query;
  const [keysOfGroups, second] = groupingSets;
  if (second !== undefined) throw refusal('a query with several grouping sets');
  if (items.some((item) => some(item, (each) => each.kind === 'aggregate' && each.over !== undefined))) {
    throw refusal('a query with window functions');
  }
  const isLimited = limit !== undefined || offset !== undefined;
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

/**
 * Aggregates without GROUP BY give a row where there is nothing, too. So they are joined to rows that are
 * kept, and what is computed of them is computed behind that.
 */
function oneRow(query: SelectIr, links: Links, alias: string): Lateral {
  if (query.having !== undefined || query.limit !== undefined || query.offset !== undefined) {
    throw refusal('a query with aggregates and HAVING or LIMIT');
  }
  const aggregates: Expr[] = [];
  const places = new Map<string, number>();
  const outside = (expr: Expr): Expr => {
    if (isAggregate(expr)) {
      const key = exprKey(expr);
      const place = places.get(key) ?? aggregates.push(expr) - 1;
      places.set(key, place);
      const column = outputColumn(alias, place, expr.type);
      const isCount = expr.kind === 'aggregate' && expr.name.startsWith('count');
      return isCount ? apply('count or 0', expr.type, (a) => `ifNull(${a}, 0)`, column) : column;
    }
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(outside) };
    if (isConstant(expr)) return expr;
    throw refusal('a query with aggregates and subqueries or window functions');
  };
  const columns = query.items.map(outside);
  const grouped: SelectIr = {
    ...query,
    items: aggregates,
    distinct: false,
    distinctOn: [],
    groupingSets: [keysOf(links)],
    orderBy: [],
  };
  return { ...linked(grouped, links, alias, true), columns };
}

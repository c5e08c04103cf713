import { children, relationsIn, some } from '../build.ts';
import type { Expr, FromIr, PointsRead } from '../ir.ts';
import { attributeFilters } from './attribute-filters.ts';
import { searchFilters } from './search-filters.ts';

/** FROM and WHERE, with conditions moved from the one into the other. */
export interface Pushed {
  readonly from: FromIr;
  readonly where: readonly Expr[];
}

/**
 * Conditions of WHERE that only look at the series of a metrics dataset (its name, its labels) choose the
 * series to read, so that the samples of others are not touched. What is named in such conditions alone
 * doesn't have to be joined to the samples at all. Those on attributes of logs and traces, and on texts of
 * events, stay where they are, and what follows from them goes to where these are read.
 */
export function pushIntoReads(from: FromIr, where: readonly Expr[]): Pushed {
  const pushed = new Set<Expr>();
  const ofOne = conditionsOfOneRelation(where);
  // No condition is moved in: it names columns of the join, and not those that are read there.
  const inJoin = (item: Extract<FromIr, { kind: 'derived' }>): FromIr =>
    item.query.kind === 'select' && item.query.from !== undefined
      ? { ...item, query: { ...item.query, from: visit(item.query.from, false) } }
      : item;
  const ofPoints = (read: PointsRead, alias: string, mayFilter: boolean): PointsRead => {
    const candidates = mayFilter ? (ofOne.get(alias) ?? []) : [];
    const conditions = candidates.filter((condition) => readsSeriesOnly(condition, read));
    for (const condition of conditions) pushed.add(condition);
    return { ...read, seriesConditions: conditions, joined: joinedColumns(read, conditions) };
  };
  const visit = (item: FromIr, mayFilter: boolean): FromIr => {
    if (item.kind === 'join') {
      // A side that a join may fill up with NULLs must keep all its rows.
      const left = visit(item.left, mayFilter && item.type !== 'RIGHT' && item.type !== 'FULL');
      const right = visit(item.right, mayFilter && item.type !== 'LEFT' && item.type !== 'FULL');
      return { ...item, left, right };
    }
    if (item.kind === 'unnest') {
      return item.input === undefined ? item : { ...item, input: visit(item.input, mayFilter) };
    }
    if (item.kind === 'derived') return item.isJoin === true ? inJoin(item) : item;
    if (item.kind !== 'dataset') return item;
    const { read, alias } = item;
    if (read.kind === 'points') return { ...item, read: ofPoints(read, alias, mayFilter) };
    const candidates = mayFilter ? (ofOne.get(alias) ?? []) : [];
    if (read.kind === 'records')
      return { ...item, read: { ...read, filters: attributeFilters(read, alias, candidates) } };
    if (read.kind === 'events')
      return { ...item, read: { ...read, filters: searchFilters(read, alias, candidates) } };
    return item;
  };
  return { from: visit(from, true), where: where.filter((condition) => !pushed.has(condition)) };
}

/**
 * Every mention of a column is an object of its own, so mentions outside of the conditions can be counted.
 */
function joinedColumns(read: PointsRead, conditions: readonly Expr[]): ReadonlySet<string> {
  const mentions = new Map<string, Set<Expr>>();
  for (const condition of conditions) {
    some(condition, (each) => {
      if (each.kind === 'column') mentions.set(each.name, (mentions.get(each.name) ?? new Set()).add(each));
      return false;
    });
  }
  const isUsedElsewhere = ([name, uses]: readonly [string, number]) => uses > (mentions.get(name)?.size ?? 0);
  return new Set([...read.seriesUses].filter(isUsedElsewhere).map(([name]) => name));
}

/** The conditions that must all hold. */
export const conjuncts = (expr: Expr): readonly Expr[] =>
  expr.kind === 'apply' && expr.name === 'and' ? children(expr).flatMap(conjuncts) : [expr];

/** The conditions that look at one relation, by its alias. */
function conditionsOfOneRelation(where: readonly Expr[]): ReadonlyMap<string, readonly Expr[]> {
  const conditions = new Map<string, Expr[]>();
  for (const condition of where) {
    const [alias, second] = relationsIn(condition);
    if (alias === undefined || second !== undefined) continue;
    const known = conditions.get(alias);
    if (known === undefined) conditions.set(alias, [condition]);
    else known.push(condition);
  }
  return conditions;
}

function readsSeriesOnly(condition: Expr, read: PointsRead): boolean {
  return !some(
    condition,
    (each) =>
      each.kind === 'subquery' || (each.kind === 'column' && (each.outer || !read.series.has(each.name))),
  );
}

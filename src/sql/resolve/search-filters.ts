import { mayContain, searchedSequenceLength } from '../../model/text-search.ts';
import { children } from '../build.ts';
import type { Apply, EventsRead, Expr } from '../ir.ts';

/**
 * What follows from the conditions of WHERE for texts of events that have an index: what such a text must
 * contain to be asked for. In the store's SQL.
 *
 * None for those who may not see all rows: how long a query takes would tell them what is in the others.
 */
export function searchFilters(read: EventsRead, alias: string, where: readonly Expr[]): readonly string[] {
  if (read.allowed !== 'all' || read.searched.size === 0) return [];
  return where.flatMap((condition) => filterOf(condition, read, alias) ?? []);
}

/** Undefined where nothing follows from a condition. */
function filterOf(condition: Expr, read: EventsRead, alias: string): string | undefined {
  if (condition.kind !== 'apply') return undefined;
  const inner = (): readonly (string | undefined)[] =>
    children(condition).map((each) => filterOf(each, read, alias));
  if (condition.name === 'and') {
    const known = inner().filter((each) => each !== undefined);
    return known.length === 0 ? undefined : known.join(' AND ');
  }
  if (condition.name === 'or') {
    const each = inner();
    return each.every((filter) => filter !== undefined) ? `(${each.join(' OR ')})` : undefined;
  }
  const [subject, parts = []] = textsInside(condition) ?? [];
  if (subject?.kind !== 'column' || subject.relation !== alias || subject.outer) return undefined;
  const column = read.columns.get(subject.name);
  if (column === undefined || !read.searched.has(column)) return undefined;
  const filters = longest(parts).map((part) => mayContain(column, part));
  return filters.length === 0 ? undefined : filters.join(' AND ');
}

/** What is looked into, and texts that must be in it. */
function textsInside(condition: Apply): readonly [Expr, readonly string[]] | undefined {
  const [left, right] = condition.args;
  if (left === undefined) return undefined;
  if (condition.contains !== undefined) return [left, condition.contains];
  if (condition.name !== 'compare =' || right === undefined) return undefined;
  const [subject, value] = left.kind === 'literal' ? [right, left] : [left, right];
  return value.kind === 'literal' && value.type.name === 'text' && typeof value.value === 'string'
    ? [subject, [value.value]]
    : undefined;
}

/** More of them, or of their characters, would leave out hardly any more rows. */
const maxSearchedParts = 3;
const maxSearchedLength = 64;

const longest = (parts: readonly string[]): readonly string[] =>
  parts
    .map((part) => [...part])
    .filter(({ length }) => length >= searchedSequenceLength)
    .sort((a, b) => b.length - a.length)
    .slice(0, maxSearchedParts)
    .map((characters) => characters.slice(0, maxSearchedLength).join(''));

import { some } from './build.ts';
import { isSet } from './functions/set-returning.ts';
import type { QueryIr, SelectIr } from './ir.ts';
import { isGrouped } from './resolve/grouping.ts';

/** How many rows a query has at most, as far as its text tells; undefined if it does not. */
export function rowBound(query: QueryIr): number | undefined {
  switch (query.kind) {
    case 'values':
      return query.rows.length;
    case 'select':
      return limited(query, selected(query));
    case 'set': {
      const [left, right] = [rowBound(query.left), rowBound(query.right)];
      if (query.operator !== 'UNION') return left;
      return left === undefined || right === undefined ? undefined : left + right;
    }
  }
}

const limited = ({ limit, withTies }: SelectIr, rows: number | undefined): number | undefined =>
  typeof limit !== 'number' || withTies === true || (rows !== undefined && rows < limit) ? rows : limit;

function selected(query: SelectIr): number | undefined {
  if (query.items.some((item) => some(item, isSet))) return undefined;
  if (isGrouped(query))
    return query.groupingSets.flat().length === 0 ? Math.max(1, query.groupingSets.length) : undefined;
  if (query.from === undefined) return 1;
  if (query.from.kind === 'series') return Number(query.from.series.count);
  return query.from.kind === 'derived' ? rowBound(query.from.query) : undefined;
}

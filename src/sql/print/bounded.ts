import { maxStoreSqlLength } from '../budget.ts';
import { sqlError } from '../sql-error.ts';

export const tooLargeForStore = 'The query is too complex: what the store would have to run is too large';

/** What would be too large in the end is given up as soon as it is: operations may repeat their arguments. */
export function bounded(sql: string): string {
  checkLength(sql.length);
  return sql;
}

/** A list, given up as soon as it is too long. */
export function boundedList<Item>(
  items: Iterable<Item>,
  print: (item: Item, index: number) => string,
): string[] {
  const printed: string[] = [];
  let length = 0;
  for (const item of items) {
    const sql = print(item, printed.length);
    length += sql.length;
    checkLength(length);
    printed.push(sql);
  }
  return printed;
}

/** Longer arguments are not repeated to see how long the result is. */
const minLongLength = 1000;
/**
 * Half a surrogate pair, which no text contains, in front of letters: longer than what is
 * repeated rather than named.
 */
const firstMark = 0xd800;
const markOf = (index: number): string => String.fromCharCode(firstMark + index).padEnd(80, 'x');
const marks = /[\ud800-\udbff](?=x)/g;

/**
 * What an operation makes of its arguments. Some repeat them often: a format its value, in each of its parts.
 * So where an argument is long, a mark in its place tells how long the result will be.
 */
export function boundedCall(render: (...args: string[]) => string, args: readonly string[]): string {
  const long = args.filter((arg) => arg.length > minLongLength);
  if (long.length > 0) {
    let next = 0;
    const outline = render(...args.map((arg) => (arg.length > minLongLength ? markOf(next++) : arg)));
    let length = 0;
    for (const [mark] of outline.matchAll(marks)) length += long[mark.charCodeAt(0) - firstMark]?.length ?? 0;
    checkLength(length);
  }
  return bounded(render(...args));
}

function checkLength(length: number): void {
  if (length > maxStoreSqlLength()) throw sqlError('sql_too_large', tooLargeForStore);
}

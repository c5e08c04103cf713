/**
 * Words that mean a moment where a time or a date is written (PostgreSQL's documentation, "Special Values").
 * What they mean is known when the query runs.
 */

/** The moment itself, or a day: so many days after the one of the query. */
export type MomentWord = 'now' | { readonly days: number };

export function readMomentWord(written: string): MomentWord | undefined {
  const word = written.trim().toLowerCase();
  if (word === 'now') return 'now';
  const index = dayWords.indexOf(word);
  return index < 0 ? undefined : { days: index - 1 };
}

const dayWords: readonly string[] = ['yesterday', 'today', 'tomorrow'];

const infinities: ReadonlySet<string> = new Set(['infinity', '-infinity', '+infinity']);

/** Before and behind all times, where the store has none. */
export const isInfiniteMoment = (written: string): boolean => infinities.has(written.trim().toLowerCase());

import { microsPerDay } from '../lib/timestamp.ts';

/**
 * A translation is made once and used again and again, at other times and with other ranges. So moments are holes in
 * it: text between NULs, which no query can hold, filled in when it is used.
 */
export interface Moments {
  /** Half-open range on the time column of every dataset; microseconds since 1970. */
  readonly startMicros: number | undefined;
  readonly endMicros: number | undefined;
  /** What `now()` means. */
  readonly nowMicros: number;
}

type MomentName = 'start' | 'end' | 'now';

/** A moment as a timestamp of the store, rounded up to whole units. */
export const momentTimestamp = (name: MomentName, unitMicros = 1): string =>
  `fromUnixTimestamp64Micro(\0${name}:${unitMicros}\0, 'UTC')`;

/** The day of a moment, as `YYYY-MM-DD` in quotes; of an end, the last day that lies before it. */
export const momentDay = (name: MomentName): string => `'\0${name}:day\0'`;

/**
 * The statement with these moments in it; they must be there where the translation was made for them. A statement of the
 * catalog has many MiB, of which nothing but the next NUL is looked for.
 */
export function fillMoments(statement: string, moments: Moments): string {
  return statement
    .split('\0')
    .map((text, index) => (index % 2 === 0 ? text : momentText(text, moments)))
    .join('');
}

/** @param hole what stands between NULs: the name of a moment, and its unit or `day` */
function momentText(hole: string, moments: Moments): string {
  const [name, form] = hole.split(':') as [MomentName, string];
  const micros = moments[`${name}Micros`];
  if (micros === undefined) throw new Error(`BUG: the translation is for a range with ${name}`);
  if (form !== 'day') return String(Math.ceil(micros / Number(form)) * Number(form));
  const day = Math.floor((name === 'end' ? micros - 1 : micros) / microsPerDay);
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

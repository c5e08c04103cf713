import { microsPerDay } from '../lib/timestamp.ts';
import { limits } from '../limits/limits.ts';
import { sqlError } from './sql-error.ts';

/**
 * A translation is made once and used again and again, at other times, with other ranges and other values
 * of its parameters. So these are placeholders in it, between NULs, which no query can contain, and are
 * filled in when it is used.
 */

/** What times a query is about. */
export interface QueryTimes {
  /** Half-open range on the time column of every dataset; microseconds since 1970. */
  readonly startMicros: number | undefined;
  readonly endMicros: number | undefined;
  /** What `now()` means. */
  readonly nowMicros: number;
  /** For a query about arrivals. */
  readonly inserts?: InsertRange | undefined;
}

/** Inserts by their numbers, in the order of which their rows have arrived; half-open. */
export interface InsertRange {
  readonly from: number;
  readonly to: number;
}

type TimeName = 'start' | 'end' | 'now';

/** A time as a timestamp of the store, rounded up to whole units. */
export const timePlaceholder = (name: TimeName, unitMicros = 1): string =>
  `fromUnixTimestamp64Micro(\0${name}:${unitMicros}\0, 'UTC')`;

const insertsFrom = 'inserts:from';

/** The number of an insert: the first of the range, or the first one behind it. */
export const insertPlaceholder = (end: keyof InsertRange): string => `\0inserts:${end}\0`;

/** The day of a time, as `YYYY-MM-DD` in quotes; of an end, the last day that lies before it. */
export const dayPlaceholder = (name: TimeName): string => `'\0${name}:day\0'`;

/** The value of a parameter. What follows is never a digit, before which a NUL would be a generated name. */
export const parameterPlaceholder = (number: number): string => `\0${parameterMark}${number}\0 `;

const parameterMark = '$';

/**
 * A statement with placeholders, taken apart: it may have many MiB, of which nothing but NULs is looked for.
 */
export class StatementTemplate {
  /** Text and placeholders in turn. */
  readonly #parts: readonly string[];
  readonly bytes: number;

  /** @param statement as translated */
  constructor(statement: string) {
    this.#parts = statement.split('\0');
    this.bytes = Buffer.byteLength(statement);
  }

  /** Whether it has no placeholders: it is the statement. */
  get isWhole(): boolean {
    return this.#parts.length === 1;
  }

  /**
   * The statement with these values in it; the times must be there for which the translation was made.
   * @param parameters literals in the store's SQL
   * @param maxBytes of what parameters add to the statement
   * @throws AppError `sql_too_large`
   */
  fill(times: QueryTimes, parameters: readonly string[], maxBytes: number): string {
    const parts = this.#parts;
    let statement = '';
    let left = maxBytes;
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index] ?? '';
      if (index % 2 === 0) statement += part;
      else if (part.startsWith(parameterMark)) {
        const value = parameters[Number(part.slice(1)) - 1];
        if (value === undefined) throw new Error(`BUG: parameter ${part} has no value`);
        left -= Buffer.byteLength(value);
        if (left < 0) throw tooLarge();
        statement += value;
      } else statement += timeText(part, times);
    }
    return statement;
  }
}

const tooLarge = (): Error =>
  sqlError(
    'sql_too_large',
    `The values of the parameters are too large: with them, the query has more than ${limits.maxStoreSqlBytes} bytes for the store`,
  );

/** @param placeholder the name of a time, and its unit or `day`; or an end of the range of inserts */
function timeText(placeholder: string, times: QueryTimes): string {
  if (placeholder.startsWith('inserts:')) {
    const number = times.inserts?.[placeholder === insertsFrom ? 'from' : 'to'];
    if (number === undefined) throw new Error('BUG: the translation is for a range of inserts');
    return String(number);
  }
  const [name, form] = placeholder.split(':') as [TimeName, string];
  const micros = times[`${name}Micros`];
  if (micros === undefined) throw new Error(`BUG: the translation is for a range with ${name}`);
  if (form !== 'day') return String(Math.ceil(micros / Number(form)) * Number(form));
  const day = Math.floor((name === 'end' ? micros - 1 : micros) / microsPerDay);
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

import { AppError } from '../errors.ts';
import { microsPerDay, parseTimestamp } from '../lib/timestamp.ts';
import { parseInterval } from '../sql/syntax/datetime.ts';

/** Half-open; microseconds since 1970. */
export interface TimeRange {
  readonly startMicros: number | undefined;
  readonly endMicros: number | undefined;
}

const absolute = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.(\d+))?(?:Z|[+-]\d{2}:\d{2})?$/i;
const duration = /^(?:\d+(?:\.\d+)?\s*[a-z]+\s*)+$/;

/**
 * The time range of a request, half-open.
 * @param start as the client wrote it: `YYYY-MM-DD HH:MM:SS[.ffffff]` (UTC), RFC 3339, a duration back from
 *   now (`10m`, `1h30m`, `2 days`), or `now`
 * @throws AppError `bad_time_range`
 */
export function parseTimeRange(
  start: string | undefined,
  end: string | undefined,
  nowMicros: number,
): TimeRange {
  const startMicros = start === undefined ? undefined : parseBound('startTime', start, nowMicros);
  const endMicros = end === undefined ? undefined : parseBound('endTime', end, nowMicros);
  if (startMicros !== undefined && endMicros !== undefined && startMicros > endMicros) {
    throw new AppError('bad_time_range', `startTime ${start} is after endTime ${end}`);
  }
  return { startMicros, endMicros };
}

function parseBound(name: string, written: string, nowMicros: number): number {
  const text = written.trim();
  const micros = text === 'now' ? nowMicros : (parseAbsolute(text) ?? parseBack(text, nowMicros));
  if (micros !== undefined && Number.isSafeInteger(micros)) return micros;
  throw new AppError(
    'bad_time_range',
    `${name} ${JSON.stringify(text.slice(0, 60))} is not understood: use "YYYY-MM-DD HH:MM:SS" (UTC), RFC 3339, ` +
      'a duration back from now such as "10m", "1h30m" or "2 days", or "now"',
  );
}

function parseAbsolute(text: string): number | undefined {
  const match = absolute.exec(text);
  const micros = match === null ? undefined : parseTimestamp(text);
  // A time with more digits is rounded up to the next microsecond. Stored times are whole microseconds, so no
  // row changes sides.
  const beyond = /[1-9]/.test(match?.[1]?.slice(6) ?? '') ? 1 : 0;
  return micros === undefined ? undefined : micros + beyond;
}

function parseBack(text: string, nowMicros: number): number | undefined {
  const micros = parseDuration(text);
  return micros === undefined ? undefined : nowMicros - micros;
}

/**
 * A duration such as `10m`, `1h30m` or `2 days`, in microseconds; undefined if the text is none, or is one of
 * months, which differ in length.
 */
export function parseDuration(text: string): number | undefined {
  const parts = duration.test(text) ? parseInterval(text) : undefined;
  if (parts === undefined || parts.months !== 0) return undefined;
  return parts.days * microsPerDay + parts.micros;
}

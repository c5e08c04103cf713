import { parseTimestamp } from '../../lib/timestamp.ts';
import { limits } from '../../limits/limits.ts';

const withTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}/;
const dateAlone = /^\d{4}-\d{2}-\d{2}$/;
const integer = /^-?\d{1,19}$/;

/**
 * Microseconds since 1970 of the time that an event names: text as in RFC 3339 (without an offset: UTC), or a
 * number, also one in quotes, of seconds, milliseconds, microseconds or nanoseconds since 1970. Which of
 * these it is follows from its magnitude: below 10^11 seconds (the year 5138), below 10^14 milliseconds,
 * below 10^17 microseconds. What is finer than a microsecond is cut.
 * @returns undefined for anything else, and for times that the store's dates do not reach
 */
export function eventMicros(value: number | string): number | undefined {
  const micros = typeof value === 'number' ? epochMicros(value) : textMicros(value);
  const isInRange = micros !== undefined && micros >= 0 && micros <= limits.maxSampleTimestampMs * 1000 + 999;
  return isInRange ? micros : undefined;
}

function textMicros(text: string): number | undefined {
  if (integer.test(text)) {
    const value = Number(text);
    // Nanoseconds have more digits than a double; the last three are cut anyway.
    return Math.abs(value) < 1e17 ? epochMicros(value) : Number(BigInt(text) / 1000n);
  }
  return withTime.test(text) ? parseTimestamp(text) : undefined;
}

function epochMicros(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude < 1e11) return Math.round(value * 1_000_000);
  if (magnitude < 1e14) return Math.round(value * 1000);
  return Math.floor(magnitude < 1e17 ? value : value / 1000);
}

/** Whether a text is a date with a time, as in RFC 3339. */
export const isTimestamp = (text: string): boolean =>
  withTime.test(text) && parseTimestamp(text) !== undefined;

/** Whether a text is a day, `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => dateAlone.test(text) && parseTimestamp(text) !== undefined;

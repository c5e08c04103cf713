import { dayPlaceholder, timePlaceholder } from './placeholders.ts';
import { isSessionInUtc, sessionZone } from './session-times.ts';
import { momentOfClock, wallClock } from './zone-clock.ts';

/** The moment of the query in the store's SQL, the same wherever it is asked for, as in a transaction. */
export const momentOfQuery = (type: 'timestamp' | 'timestamptz'): string =>
  type === 'timestamptz' || isSessionInUtc()
    ? timePlaceholder('now')
    : wallClock(timePlaceholder('now'), sessionZone());

/** The day that it is then for the session. */
export const dayOfQuery = (): string =>
  `toDate32(${isSessionInUtc() ? dayPlaceholder('now') : momentOfQuery('timestamp')})`;

/** When a day begins for the session. */
export function beginOfDay(day: string, type: 'timestamp' | 'timestamptz'): string {
  const clock = `toDateTime64(${day}, 6, 'UTC')`;
  return type === 'timestamp' ? clock : momentOfClock(clock, sessionZone());
}

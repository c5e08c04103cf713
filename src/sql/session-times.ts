import { type TimeZone, timeZoneOf, utc } from '../lib/time-zone.ts';
import {
  type DateStyle,
  type IntervalStyle,
  intervalStyles,
  isoStyle,
  readDateStyle,
} from './time-styles.ts';

/** What a session says about times, as its settings are written: data only. */
export interface TimeSettings {
  readonly timeZone?: string | undefined;
  readonly dateStyle?: string | undefined;
  readonly intervalStyle?: string | undefined;
}

export interface SessionTimes {
  readonly timeZone: TimeZone;
  readonly dateStyle: DateStyle;
  readonly intervalStyle: IntervalStyle;
}

const defaultTimes: SessionTimes = { timeZone: utc, dateStyle: isoStyle, intervalStyle: 'postgres' };

/** @returns undefined if a setting has no such value */
export function sessionTimesOf({
  timeZone,
  dateStyle,
  intervalStyle,
}: TimeSettings): SessionTimes | undefined {
  const zone = timeZone === undefined ? utc : timeZoneOf(timeZone);
  const style = dateStyle === undefined ? isoStyle : readDateStyle(dateStyle);
  const spans = intervalStyles.find((each) => each === (intervalStyle ?? 'postgres'));
  if (zone === undefined || style === undefined || spans === undefined) return undefined;
  return { timeZone: zone, dateStyle: style, intervalStyle: spans };
}

/**
 * The settings of the session whose query is being translated. Literals are read and expressions are made by
 * small functions that know nothing of where they are used; a translation never waits for anything, so there
 * is one at a time (as for `budget.ts`).
 */
let running = defaultTimes;

/** Does a part of a translation, or reads the value of a parameter, for such a session. */
export function withSessionTimes<Result>(times: SessionTimes, work: () => Result): Result {
  const before = running;
  running = times;
  try {
    return work();
  } finally {
    running = before;
  }
}

/** Intervals as the store is to give them, whatever the session has set: clients see another text of them. */
export const withDefaultIntervals = <Result>(work: () => Result): Result =>
  withSessionTimes({ ...running, intervalStyle: 'postgres' }, work);

export const sessionTimes = (): SessionTimes => running;
export const sessionZone = (): TimeZone => running.timeZone;

/** In UTC, times with and without time zone are the same in the store. */
export const isSessionInUtc = (): boolean => running.timeZone.fixedSeconds === 0;

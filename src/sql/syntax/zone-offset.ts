/** Time zones as PostgreSQL knows them: by abbreviations with one offset, by names of the IANA database. */

const hours = (count: number, names: string): ReadonlyArray<readonly [string, number]> =>
  names.split(' ').map((name) => [name, count * 3600]);

/** Abbreviations that mean the same at all times (src/timezone/tznames/Default), in seconds ahead of UTC. */
const abbreviations: ReadonlyMap<string, number> = new Map([
  ...hours(0, 'utc uct ut gmt z zulu wet'),
  ...hours(1, 'cet met mez bst wat'),
  ...hours(2, 'eet cest mesz sast ist'),
  ...hours(3, 'eest eat'),
  ...hours(7, 'ict'),
  ...hours(8, 'hkt awst'),
  ...hours(9, 'jst kst'),
  ...hours(9.5, 'acst'),
  ...hours(10, 'aest'),
  ...hours(11, 'aedt'),
  ...hours(12, 'nzst'),
  ...hours(13, 'nzdt'),
  ...hours(-2.5, 'ndt'),
  ...hours(-3, 'adt brt'),
  ...hours(-3.5, 'nst'),
  ...hours(-4, 'ast edt'),
  ...hours(-5, 'est cdt'),
  ...hours(-6, 'cst mdt'),
  ...hours(-7, 'mst pdt'),
  ...hours(-8, 'pst akdt'),
  ...hours(-9, 'akst'),
  ...hours(-10, 'hst'),
]);

/** Seconds ahead of UTC; undefined for what is no such abbreviation. */
export const abbreviationSeconds = (name: string): number | undefined =>
  abbreviations.get(name.toLowerCase());

/** By area and city, or like `EST5EDT`. Other names are abbreviations, or mean several things. */
const zoneName = /^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$|^[A-Za-z]{3}\d[A-Za-z]{3}$/;

/** True for what may be the name of a zone. */
export const isZoneName = (name: string): boolean => zoneName.test(name);

/** Undefined if there is no zone of that name. */
export function zoneFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}

/** Seconds that the clocks of a zone are ahead of UTC at a moment, from a text like `GMT-03:30`. */
export function secondsAhead(format: Intl.DateTimeFormat, atMs: number): number {
  const name = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hour = 0, minute = 0, second = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? [];
  const size = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return sign === '-' ? -size : size;
}

const dayMs = 86_400_000;

/**
 * Seconds that the clocks of a zone are ahead of UTC when they show a time. Of the offsets a day before and
 * after it, the later holds if it leads to a moment at which it holds (DetermineTimeZoneOffset in
 * src/backend/utils/adt/datetime.c).
 * @param clockMs what the clocks show, as milliseconds since 1970
 */
export function secondsAheadOfClock(format: Intl.DateTimeFormat, clockMs: number): number {
  const before = secondsAhead(format, clockMs - dayMs);
  const after = secondsAhead(format, clockMs + dayMs);
  return secondsAhead(format, clockMs - after * 1000) === after ? after : before;
}

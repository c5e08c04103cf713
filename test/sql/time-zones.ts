import type { Fixture } from './fixtures.ts';

/** Zones in which statements are compared with PostgreSQL: what is special about each stands beside it. */
export const zones = [
  'Europe/Berlin',
  'Australia/Lord_Howe', // summer time of half an hour
  'America/Sao_Paulo', // changed at midnight
  'America/New_York',
  'Asia/Kolkata', // half hours
  'Pacific/Apia', // has left out a day
  'Africa/Casablanca', // back and forth around Ramadan
  'America/St_Johns', // changed a minute after midnight
  'Africa/Monrovia', // offsets with seconds until 1972
  'UTC-05:45',
  '-3.5',
] as const;

/**
 * Those whose future does not depend on the release of the time zone database. Morocco follows the moon: what
 * 2029 will be was another guess in 2025c than in 2026c, and Node.js and PostgreSQL have their own copies.
 */
export const settledZones = zones.filter((zone) => zone !== 'Africa/Casablanca');

/** Moments around changes of the clocks in these zones, before 1970 and beyond 2038. */
const moments = [
  '2024-03-31 00:59:59.999999',
  '2024-03-31 01:00',
  '2024-03-31 01:30',
  '2024-10-26 23:30',
  '2024-10-27 00:30',
  '2024-10-27 01:30:00.5',
  '2024-03-10 06:59:59.5',
  '2024-03-10 07:30',
  '2024-11-03 05:30',
  '2024-11-03 06:30',
  '2024-04-06 14:45',
  '2024-04-06 15:15',
  '2024-10-05 15:29:59',
  '2024-10-05 15:30',
  '2011-12-29 12:00',
  '2011-12-30 09:59:59',
  '2011-12-30 10:00',
  '2011-12-31 12:00',
  '2018-11-04 02:59:59',
  '2018-11-04 03:00',
  '2018-02-18 01:30',
  '2018-02-18 02:30',
  '2024-03-10 01:59:59',
  '2024-04-14 02:00',
  '2010-11-07 02:30:59',
  '2010-11-07 02:31:00',
  '1972-01-07 00:44:29',
  '1972-01-07 00:44:30.25',
  '2037-10-25 01:00',
  '2045-03-26 01:00',
];

/** Moments that no event can have: they come as texts. */
const distantMoments = [
  '1969-12-31 23:59:59.75+00',
  '1945-05-24 00:00+00',
  '1916-04-30 21:59:59.999999+00',
  '1900-01-02 03:04+00',
  '2106-02-07 06:28:16+00',
  '2120-07-01 12:00+00',
  '2149-06-07 00:00+00',
];

export const turns: Fixture = {
  name: 'turns',
  fields: { id: 'num' },
  rows: moments.map((moment, index) => [moment, index]),
};

export const distant: Fixture = {
  name: 'distant',
  fields: { id: 'num', moment: 'str' },
  rows: distantMoments.map((moment, index) => ['2024-01-01 00:00', index, moment]),
};

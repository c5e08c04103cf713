import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresBinaries } from '../../sql/postgres.ts';
import { randomRuns } from '../../sql/random-runs.ts';
import { distant, turns, zones } from '../../sql/time-zones.ts';
import { zonedExpression } from '../../sql/zone-expressions.ts';
import { compareIn } from '../../support/sql/compare-in-zone.ts';
import { ComparedSessions, rowsOf } from '../../support/sql/compared-sessions.ts';

/** Settings about times, in Millrace and in PostgreSQL; skipped where that is not installed. */
const bin = postgresBinaries();

let sessions: ComparedSessions;
beforeAll(async () => {
  if (bin !== undefined) sessions = await ComparedSessions.start(bin, [turns, distant]);
});
afterAll(() => sessions?.stop());

/** What is refused by name, or outside of the years that there are here. */
const refusals: ReadonlySet<unknown> = new Set(['0A000', '22008', '22003', '54000']);

test.skipIf(bin === undefined)(
  'random expressions in random zones are the same, or refused by name',
  async () => {
    const counts = { same: 0, refused: 0 };
    let current = '';
    const property = fc.asyncProperty(zonedExpression, async ([zone, expression]) => {
      if (zone !== current) await sessions.both(`SET TimeZone = '${zone}'`);
      current = zone;
      const [own, expected] = await sessions.outcomes(`select ${expression} as a`);
      if (refusals.has(own)) counts.refused += 1;
      else {
        expect(own).toEqual(expected);
        counts.same += 1;
      }
    });
    await fc.assert(property, randomRuns(250));
    // Most are answered.
    expect(counts.same).toBeGreaterThan(counts.refused);
  },
);

describe.skipIf(bin === undefined)('in a time zone, the same as PostgreSQL', () => {
  for (const zone of zones.slice(0, 3)) compareIn(zone, () => sessions);
});

const styles = ['ISO', 'SQL', 'Postgres', 'German'].flatMap((format) =>
  ['MDY', 'DMY', 'YMD'].map((order) => `${format}, ${order}`),
);

describe.skipIf(bin === undefined).each(styles)('in the DateStyle %s', (style) => {
  beforeAll(() => sessions.both(`SET TimeZone = 'UTC'; SET DateStyle = '${style}'`));
  afterAll(() => sessions.both('RESET ALL'));

  test.each([
    "select date '2024-03-01', timestamp '2024-03-31 02:30:00.5', timestamptz '1969-12-31 23:59:59.25'",
    "select array[date '2024-12-25', null], array[timestamp '2024-01-02 03:04:05'], to_json(date '2024-03-01')",
    "select '2024-02-01'::date, '20240201'::date, 'March 1, 2024'::date, '31-Mar-2024'::date",
    "select '1/2/2024'::date",
    "select '01.02.24'::date",
    "select '24-03-01'::date",
    "select '08-01-99'::date",
    "select '1-Mar-02'::date",
    "select '13/2/2024'::date",
    "select '1/13/2024'::date",
    "select 'Mar 01 02'::date",
    "select timestamp '1/2/2024 13:30'",
    'show datestyle',
    'select p_timestamp, p_timestamp::date, p_timestamp::timestamp from turns order by id',
  ])('%s', async (query) => {
    const [own, expected] = (await sessions.outcomes(query)).map((each) =>
      typeof each === 'string' ? each.slice(0, 2) : each,
    );
    expect(own).toEqual(expected);
  });

  test('refuses what would be another text, or abbreviations of zones', async () => {
    if (style.startsWith('ISO')) return;
    const { ours } = sessions;
    const refused = { code: '0A000' };
    await expect(rowsOf(ours, "select date '2024-03-01'::text")).rejects.toMatchObject(refused);
    await expect(rowsOf(ours, 'select concat(p_timestamp) from turns')).rejects.toMatchObject(refused);
    await ours.query("SET TimeZone = 'Europe/Berlin'");
    await expect(rowsOf(ours, 'select p_timestamp from turns')).rejects.toMatchObject(refused);
    await ours.query("SET TimeZone = 'UTC'");
  });
});

const spans = [
  '1 year 2 mons 3 days 04:05:06.7',
  '-1 day',
  '1 day -2:00',
  '-1 year',
  '0',
  '25:00:00',
  '-0.5 sec',
  '3 days 00:00:01',
  '1 sec',
  '-13 months',
];

describe.skipIf(bin === undefined).each(['postgres', 'postgres_verbose', 'sql_standard', 'iso_8601'])(
  'in the IntervalStyle %s',
  (style) => {
    beforeAll(() => sessions.both(`SET IntervalStyle = '${style}'`));
    afterAll(() => sessions.both('RESET ALL'));

    test.each(spans)('%s', async (span) => {
      const query = `select interval '${span}', interval '${span}' * 2`;
      const [own, expected] = await sessions.ask(query);
      expect(own).toEqual(expected);
    });

    test('of times', async () => {
      const query = `select id, p_timestamp - timestamptz '2024-01-01', age(p_timestamp, timestamptz '2000-01-01')
        from turns order by id`;
      const [own, expected] = await sessions.ask(query);
      expect(own).toEqual(expected);
    });
  },
);

import { beforeAll, describe, expect, test } from 'vitest';
import { readCases } from '../../sql/cases.ts';
import type { ComparedSessions } from './compared-sessions.ts';

/** The statements of `test/sql/time-zones.sql` in a time zone, and what SHOW and parameters say there. */
export function compareIn(zone: string, sessions: () => ComparedSessions): void {
  describe(`in ${zone}`, () => {
    const same = async (text: string, values: readonly string[] = []): Promise<void> => {
      const [own, expected] = await sessions().ask(text, values);
      expect(own).toEqual(expected);
    };

    beforeAll(() => sessions().both(`SET TimeZone = '${zone}'`));

    test('is known by the same name', () => same('SHOW TimeZone'));

    test('is that of parameters', async () => {
      const query = `select $1::timestamptz, $2::timestamp::timestamptz, $3::date::timestamptz, $4::timestamptz[],
        id from turns where p_timestamp >= $5 and p_timestamp < $6::date order by id`;
      const values = [
        ...['2024-03-31 02:30', '2024-10-27 02:30', '2018-11-04', '{2024-03-10 02:30,2011-12-30 12:00Z}'],
        ...['2024-03-31 02:30', '2024-11-04'],
      ];
      await same(query, values);
    });

    test.each(readCases('time-zones.sql'))('$place $query', ({ query }) => same(query));
  });
}

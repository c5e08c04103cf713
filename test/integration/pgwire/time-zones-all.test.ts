import { afterAll, beforeAll, describe } from 'vitest';
import { postgresBinaries } from '../../sql/postgres.ts';
import { distant, turns, zones } from '../../sql/time-zones.ts';
import { compareIn } from '../../support/sql/compare-in-zone.ts';
import { ComparedSessions } from '../../support/sql/compared-sessions.ts';

/** The time zones that `time-zones.test.ts` leaves out. */
const bin = postgresBinaries();

let sessions: ComparedSessions;
beforeAll(async () => {
  if (bin !== undefined) sessions = await ComparedSessions.start(bin, [turns, distant]);
});
afterAll(() => sessions?.stop());

describe.skipIf(bin === undefined)('in a time zone, the same as PostgreSQL', () => {
  for (const zone of zones.slice(3)) compareIn(zone, () => sessions);
});

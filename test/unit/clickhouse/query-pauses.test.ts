import { expect, it } from 'vitest';
import { QueryPauses } from '../../../src/clickhouse/query-pauses.ts';
import { limits } from '../../../src/limits/limits.ts';

function createPauses() {
  let nowMs = 1000;
  const pauses = new QueryPauses({ monotonicMs: () => nowMs });
  return {
    pauses,
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** Seconds for which somebody is refused; 0 if not. */
    left: (who: string): number => {
      try {
        pauses.check(who);
        return 0;
      } catch (error) {
        expect(error).toMatchObject({ code: 'queries_paused' });
        return (error as { retryAfterSeconds: number }).retryAfterSeconds;
      }
    },
  };
}

it('refuses one alone, for as long as it says, and twice as long each time that it happens again', () => {
  const { pauses, wait, left } = createPauses();
  pauses.add('hostile');
  expect([left('hostile'), left('other')]).toEqual([60, 0]);
  // Of the same moment.
  pauses.add('hostile');
  wait(limits.minQueryPauseMs);
  expect(left('hostile')).toBe(0);
  for (const seconds of [120, 240, 480, 960, 1920, 3600, 3600]) {
    pauses.add('hostile');
    expect(left('hostile')).toBe(seconds);
    wait(seconds * 1000);
    expect(left('hostile')).toBe(0);
  }
});

it('forgets who behaves for as long again, and the oldest when there are too many', () => {
  const { pauses, wait, left } = createPauses();
  pauses.add('once');
  wait(2 * limits.minQueryPauseMs + 1);
  expect(left('once')).toBe(0);
  pauses.add('once');
  expect(left('once')).toBe(60);
  for (let index = 0; index < limits.maxQueryPauses; index += 1) pauses.add(`user ${index}`);
  expect([left('once'), left('user 0')]).toEqual([0, 60]);
});

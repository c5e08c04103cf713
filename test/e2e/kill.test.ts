import { describe, expect, test } from 'vitest';
import { testSeed } from '../support/lib/seed.ts';
import { runKillRounds } from '../support/service/kill-rounds.ts';
import { compareBatches } from '../support/service/sent-and-stored.ts';

const rounds = 3;

test('SIGKILL in the middle of ingest loses nothing that was acknowledged and doubles nothing', async () => {
  const seed = testSeed;
  const reports = await runKillRounds({ rounds, seed });
  const acknowledged = reports.map((report) => report.acknowledgedRows);
  expect(
    reports.flatMap(({ round, problems }) => problems.map((problem) => `round ${round}: ${problem}`)),
    `seed ${seed}`,
  ).toEqual([]);
  // Otherwise the test could pass without sending anything.
  expect(Math.min(...acknowledged), `seed ${seed}`).toBeGreaterThan(0);
  expect(reports.at(-1)?.storedRows).toBeGreaterThanOrEqual(acknowledged.reduce((a, b) => a + b, 0));
}, 180_000);

describe('the comparison itself sees', () => {
  const acknowledged = { kind: 'events', number: 7, rows: 10, acknowledged: true } as const;
  const unanswered = { ...acknowledged, acknowledged: false };

  test.each([
    ['a lost batch', acknowledged, [], { lostRows: 10, duplicatedRows: 0 }],
    ['a lost row', acknowledged, [{ number: 7, stored: 9, distinct: 9 }], { lostRows: 1, duplicatedRows: 0 }],
    ['a doubled row', acknowledged, [{ number: 7, stored: 11, distinct: 10 }], { duplicatedRows: 1 }],
    [
      'a doubled row that hides a lost one',
      acknowledged,
      [{ number: 7, stored: 10, distinct: 9 }],
      { lostRows: 1 },
    ],
    ['half of an unanswered batch', unanswered, [{ number: 7, stored: 5, distinct: 5 }], { lostRows: 0 }],
    [
      'a doubled unanswered batch',
      unanswered,
      [{ number: 7, stored: 20, distinct: 10 }],
      { duplicatedRows: 10 },
    ],
    ['rows that nobody sent', unanswered, [{ number: 8, stored: 1, distinct: 1 }], { storedRows: 1 }],
  ])('%s', (_, sent, stored, expected) => {
    const comparison = compareBatches([sent], stored);
    expect(comparison).toMatchObject(expected);
    expect(comparison.problems).toHaveLength(1);
  });

  test.each([
    ['whole and once', acknowledged, [{ number: 7, stored: 10, distinct: 10 }]],
    ['an unanswered batch that is there', unanswered, [{ number: 7, stored: 10, distinct: 10 }]],
    ['an unanswered batch that is not', unanswered, []],
  ])('nothing wrong with %s', (_, sent, stored) => {
    expect(compareBatches([sent], stored).problems).toEqual([]);
  });
});

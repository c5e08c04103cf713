import { expect, test } from 'vitest';
import type { Answer } from '../../../bench/hostile/answer.ts';
import { brokenBounds, isAllowed, type Measured } from '../../../bench/hostile/judge.ts';
import { shownAnswers } from '../../../bench/hostile/shown-answers.ts';

const held: Measured = {
  answers: [{ status: 200 }, { status: 400, code: 'sql_too_large' }, { status: 503, code: 'overloaded' }],
  replyMs: 14_000,
  worstMs: { liveness: 200, query: 1000, ingest: 1000, sqlClient: 1000 },
  failures: [],
  cpuSecondsAfter: 4,
  busyCores: 0.1,
  peakBytes: 1.4e9,
  ended: undefined,
};
const attack = { name: 'a', aim: 'b', run: async () => [] };

test('an attack that keeps to all bounds breaks none', () => {
  expect(brokenBounds(attack, held)).toEqual([]);
});

test.each<[Partial<Measured>, string]>([
  [{ answers: [{ status: 500, code: 'internal' }] }, 'answered with 500 internal'],
  [{ answers: [{ status: 'none' }, { status: 'none' }] }, 'answered with 2 x none'],
  [{ replyMs: 15_000 }, 'a request waited for 15.0 s'],
  [{ worstMs: { liveness: 201, query: 0, ingest: 0, sqlClient: 0 } }, 'liveness took 201 ms'],
  [{ worstMs: { liveness: 0, query: 1001, ingest: 0, sqlClient: 0 } }, "the victim's query took 1001 ms"],
  [{ worstMs: { liveness: 0, query: 0, ingest: 1001, sqlClient: 0 } }, "the victim's ingest took 1001 ms"],
  [{ failures: ['503 x'] }, 'the victim got 503 x'],
  [{ busyCores: 1 }, '1.0 cores were busy five seconds later'],
  [{ peakBytes: 1.5e9 }, '1.50 GB of memory'],
  [{ ended: 'ended with 134' }, 'the process ended with 134'],
])('%j breaks one', (change, problem) => {
  expect(brokenBounds(attack, { ...held, ...change })).toEqual([problem]);
});

test.each<[Answer['status'], boolean, boolean]>([
  [200, true, true],
  [404, true, true],
  [499, true, true],
  [500, false, false],
  [503, true, true],
  [505, false, true],
  ['left', true, true],
  ['closed', false, true],
  ['none', false, false],
])('%s is allowed: %s, and %s where a connection may end', (status, otherwise, whereItMayClose) => {
  expect(isAllowed({ status }, {})).toBe(otherwise);
  expect(isAllowed({ status }, { mayClose: true })).toBe(whereItMayClose);
});

test('equal replies are shown once', () => {
  expect(shownAnswers([{ status: 200 }, { status: 400, code: 'x' }, { status: 200 }])).toBe('2 x 200, 400 x');
});

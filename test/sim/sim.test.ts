import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testSeed } from '../support/lib/seed.ts';
import { simulateMany } from './many.ts';
import { mistakes } from './mistakes.ts';
import { type RunReport, simulate } from './simulate.ts';

const runs = 120;
const told = ({ seed, violations }: RunReport): string =>
  `seed ${seed}; to see it: npm run torture -- --sim 1 --seed ${seed} --trace\n  ${violations.slice(0, 5).join('\n  ')}`;

describe('the log, the drain and the catalog under simulated faults', () => {
  it('store what was acknowledged exactly once, and leave nothing behind', async () => {
    const failures: string[] = [];
    const totals = await simulateMany({
      runs,
      seed: testSeed,
      onFailure: (report) => failures.push(told(report)),
    });
    expect(failures.slice(0, 3).join('\n')).toBe('');
    // The runs must exercise something: most have crashes in the middle of requests, and refusals.
    expect(totals.lives).toBeGreaterThan(2 * runs);
    expect(totals.acknowledged).toBeGreaterThan(10 * runs);
    expect(totals.refused).toBeGreaterThan(runs);
    expect(totals.unanswered).toBeGreaterThan(runs / 10);
  }, 120_000);

  it('take the same way again with the same seed', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });
});

// `npm run torture -- --mistakes` makes them and looks for the first run that finds each.
it.each(mistakes)('the source has the place where this mistake could be made: $what', ({ file, from }) => {
  const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  expect(source.split(from)).toHaveLength(2);
});

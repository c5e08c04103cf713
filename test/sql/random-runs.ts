import { testSeed } from '../support/lib/seed.ts';

/**
 * How many random cases to compare, and which. They are the same each time, so that a change fails for
 * what it does; to search for differences, `MILLRACE_TEST_SEED` names others and `MILLRACE_TEST_RUNS`
 * takes so many times as many.
 */
export const randomRuns = (numRuns: number) => ({
  numRuns: numRuns * Number(process.env['MILLRACE_TEST_RUNS'] ?? 1),
  seed: testSeed,
});

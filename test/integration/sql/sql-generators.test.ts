import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerPair } from '../../sql/generators/server-pair.ts';
import { type StatementClass, statementClasses } from '../../sql/generators/statement-classes.ts';
import { compareStatements, statementsOf } from '../../sql/generators/torture-run.ts';
import { postgresBinaries } from '../../sql/postgres.ts';
import { randomRuns } from '../../sql/random-runs.ts';

/** The small form of `npm run torture -- --sql-generators <minutes>`. */
const bin = postgresBinaries();
const { numRuns, seed } = randomRuns(30);
const classes = Object.keys(statementClasses) as readonly StatementClass[];

let pair: ServerPair;
beforeAll(async () => {
  if (bin !== undefined) pair = await ServerPair.start(bin, 2);
});
afterAll(() => pair?.stop());

describe.skipIf(bin === undefined)('the same as PostgreSQL (skipped where it is not installed)', () => {
  test.each(classes)(`random statements: %s, seed ${seed}`, async (name) => {
    const { counts, differences } = await compareStatements(pair, statementsOf(name, seed, numRuns));
    expect(differences).toEqual([]);
    expect(counts.same).toBeGreaterThan(0);
  });
});

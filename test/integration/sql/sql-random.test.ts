import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { difference, type Rows } from '../../sql/compare.ts';
import { anyOfContainer } from '../../sql/container-expressions.ts';
import { anyExpression } from '../../sql/expressions.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import type { Oracle, PostgresAnswer } from '../../sql/oracle.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { randomRuns } from '../../sql/random-runs.ts';
import { startOracle } from '../../sql/start-oracle.ts';
import { anyOfText } from '../../sql/text-expressions.ts';
import { anyOfTimes } from '../../sql/time-expressions.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** Errors of the translator and of values; anything else means that the store did not understand us. */
const expectedCodes = [
  'sql_division_by_zero',
  'sql_out_of_range',
  'sql_bad_value',
  'sql_unsupported',
  'sql_too_large',
];

let store: TestStore;
let ask: Ask;

beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  ask = asker(queryService(store.store, catalogOf(fixtures)));
});
afterAll(() => store?.close());

const outcome = (sql: string) =>
  ask(sql).catch((thrown: unknown) => {
    if (thrown instanceof AppError && expectedCodes.includes(thrown.code)) return thrown;
    throw thrown;
  });

test('what is printed for any expression is understood by the store', async () => {
  const property = fc.asyncProperty(anyExpression, anyExpression, async (item, other) => {
    await outcome(
      `select ${item} as a, count(*) from app where (${other}) is not null group by 1 order by 1, 2`,
    );
  });
  // Within the time of a test, so that a failure names its seed, also where it takes long to make it smaller.
  await fc.assert(property, {
    ...randomRuns(75),
    interruptAfterTimeLimit: 90_000,
    markInterruptAsFailure: true,
  });
});

describe('random expressions', () => {
  let postgres: Oracle;
  beforeAll(async () => {
    postgres = await startOracle();
    for (const fixture of fixtures) await postgres.execute(postgresStatements(fixture));
  });
  afterAll(() => postgres?.stop());

  test.each([
    ['', anyExpression, 15],
    ['of arrays, JSON and intervals ', anyOfContainer, 8],
    ['of dates and time zones ', anyOfTimes, 4],
    ['of text in many scripts ', anyOfText, 6],
  ])('%sgive what PostgreSQL gives', async (_, expression, numRuns) => {
    const batch = fc.array(expression, { minLength: 20, maxLength: 20 });
    const property = fc.asyncProperty(batch, async (expressions) => {
      const queries = expressions.map((expression) => `select ${expression} as v from app order by id`);
      for (const [index, expected] of (await postgres.answers(queries)).entries()) {
        expect(await compare(queries[index] ?? '', expected), queries[index]).toBeUndefined();
      }
    });
    await fc.assert(property, randomRuns(numRuns));
  });

  async function compare(query: string, expected: PostgresAnswer): Promise<string | undefined> {
    const actual = await outcome(query);
    const failure = actual instanceof AppError ? actual : undefined;
    if (failure?.code === 'sql_unsupported' || failure?.code === 'sql_too_large') return undefined;
    const states = [failure?.definition.sqlState, 'sqlState' in expected ? expected.sqlState : undefined];
    // Both compute some constants beforehand, each others, also where a branch is never taken. That a
    // division by zero is an error where it is computed, errors.sql shows.
    if (states.includes('22012')) return undefined;
    if (failure === undefined && !('sqlState' in expected)) return difference(actual as Rows, expected, true);
    const [ours, theirs] = states.map((state) => state?.slice(0, 2));
    return ours === theirs
      ? undefined
      : `${JSON.stringify(failure ?? actual).slice(0, 200)}, PostgreSQL says ${JSON.stringify(expected).slice(0, 200)}`;
  }
});

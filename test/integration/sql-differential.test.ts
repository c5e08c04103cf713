import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { parseQuery } from '../../src/sql/parse.ts';
import { uniqueNames } from '../../src/sql/resolve/output-name.ts';
import { readCases, type SqlCase } from '../sql/cases.ts';
import { difference } from '../sql/compare.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../sql/fixtures.ts';
import { Postgres, type PostgresAnswer, postgresBinaries } from '../sql/postgres.ts';
import { type Ask, asker, queryService } from '../sql/querier.ts';
import { openTestStore, type TestStore } from '../support/embedded.ts';

/**
 * The same data in PostgreSQL and in Millrace, the same queries to both, the same answers. Needs PostgreSQL's
 * server binaries (`apt-get install postgresql`).
 */
const bin = postgresBinaries();
const everyday = readCases('everyday.sql');
const errors = readCases('errors.sql');

if (bin === undefined) {
  process.stderr.write('skipped: the comparison with PostgreSQL (its server is not installed)\n');
}

describe.skipIf(bin === undefined)('the same as PostgreSQL', () => {
  let postgres: Postgres;
  let store: TestStore;
  let ask: Ask;
  const answers = new Map<SqlCase, PostgresAnswer>();

  beforeAll(async () => {
    postgres = await Postgres.start(bin ?? '');
    store = await openTestStore();
    for (const fixture of fixtures) {
      postgres.execute(postgresStatements(fixture));
      await loadEvents(store.store, fixture);
    }
    ask = asker(queryService(store.store, catalogOf(fixtures)));
    const cases = [...everyday, ...errors];
    for (const [index, answer] of postgres.answers(cases.map(({ query }) => query)).entries()) {
      const sqlCase = cases[index];
      if (sqlCase !== undefined) answers.set(sqlCase, answer);
    }
  });

  afterAll(async () => {
    await store?.close();
    await postgres?.stop();
  });

  test.each(everyday)('$place $query', async (sqlCase) => {
    const expected = answers.get(sqlCase);
    if (expected === undefined || 'sqlState' in expected) {
      throw new Error(`PostgreSQL refused this query: ${JSON.stringify(expected)}`);
    }
    const actual = await ask(sqlCase.query);
    const ordered = (await parseQuery(sqlCase.query)).orderBy.length > 0;
    const named = { ...expected, names: uniqueNames(expected.names) };
    expect(difference(actual, named, ordered)).toBeUndefined();
  });

  test.each(errors)('$place $query is refused with the same SQLSTATE', async (sqlCase) => {
    const expected = answers.get(sqlCase);
    if (expected === undefined || !('sqlState' in expected)) {
      throw new Error('PostgreSQL answered this query');
    }
    const error = await ask(sqlCase.query).then(
      (rows) => new Error(`no error, but ${JSON.stringify(rows)}`),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof AppError)) throw error;
    const digits = sqlCase.comment === 'class' ? 2 : 5;
    expect(error.definition.sqlState?.slice(0, digits)).toBe(expected.sqlState.slice(0, digits));
    expect(error.definition.status).toBe(400);
  });
});

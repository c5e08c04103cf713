import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { uniqueNames } from '../../../src/sql/resolve/output-name.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { readCases, type SqlCase } from '../../sql/cases.ts';
import { difference } from '../../sql/compare.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import type { Oracle, PostgresAnswer } from '../../sql/oracle.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { startOracle } from '../../sql/start-oracle.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** The same data in PostgreSQL and in Millrace, the same queries to both, the same answers. */
const topics = readdirSync(new URL('../../sql/same/', import.meta.url))
  .filter((file) => file.endsWith('.sql'))
  .map((file) => ({ topic: file.replace('.sql', ''), cases: readCases(`same/${file}`) }));
const errors = readCases('errors.sql');
const refused = readCases('refused.sql');
const outOfRange = readCases('out-of-range.sql');

let oracle: Oracle;
let store: TestStore;
let ask: Ask;
const answers = new Map<SqlCase, PostgresAnswer>();

beforeAll(async () => {
  oracle = await startOracle();
  store = await openTestStore();
  for (const fixture of fixtures) {
    await oracle.execute(postgresStatements(fixture));
    await loadEvents(store.store, fixture);
  }
  ask = asker(queryService(store.store, catalogOf(fixtures)));
  const cases = [...topics.flatMap((topic) => topic.cases), ...errors, ...refused, ...outOfRange];
  for (const [index, answer] of (await oracle.answers(cases.map(({ query }) => query))).entries()) {
    const sqlCase = cases[index];
    if (sqlCase !== undefined) answers.set(sqlCase, answer);
  }
});

afterAll(async () => {
  await store?.close();
  await oracle?.stop();
});

function rowsOf(sqlCase: SqlCase) {
  const answer = answers.get(sqlCase);
  if (answer === undefined || 'sqlState' in answer) {
    throw new Error(`${oracle.name} refused this query: ${JSON.stringify(answer)}`);
  }
  return { ...answer, names: uniqueNames(answer.names) };
}

async function refusalOf(query: string): Promise<AppError> {
  const error = await ask(query).then(
    (rows) => new Error(`no error, but ${JSON.stringify(rows)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
}

describe.each(topics)('the same as PostgreSQL: $topic', ({ cases }) => {
  test.each(cases)('$place $query', async (sqlCase) => {
    const expected = rowsOf(sqlCase);
    const actual = await ask(sqlCase.query);
    const ordered = (await parseQuery(sqlCase.query)).orderBy.length > 0;
    expect(difference(actual, expected, ordered)).toBeUndefined();
  });
});

test.each(errors)('$place $query is refused with the same SQLSTATE', async (sqlCase) => {
  const expected = answers.get(sqlCase);
  if (expected === undefined || !('sqlState' in expected))
    throw new Error(`${oracle.name} answered this query`);
  const error = await refusalOf(sqlCase.query);
  const digits = sqlCase.comment === 'class' ? 2 : 5;
  expect(error.definition.sqlState?.slice(0, digits)).toBe(expected.sqlState.slice(0, digits));
  expect(error.definition.status).toBe(400);
});

test.each(refused)('$place $query is refused by name', async (sqlCase) => {
  expect(rowsOf(sqlCase).names.length).toBeGreaterThan(0);
  const error = await refusalOf(sqlCase.query);
  expect(['sql_unsupported', 'sql_unknown_function']).toContain(error.code);
  expect(error.message).not.toBe('');
});

test.each(outOfRange)('$place $query is out of the range that can be used', async (sqlCase) => {
  expect(rowsOf(sqlCase).names.length).toBeGreaterThan(0);
  const error = await refusalOf(sqlCase.query);
  expect(error.code).toBe('sql_out_of_range');
  expect(error.message).toMatch(/out of range: .* can be (?:used|computed with)/);
});

test.each([
  ['with recursive r as (select 1 as n union all select n from r) select count(*) from r', 'sql_too_large'],
  ['select count(*) from app, generate_series(1, (id * 1e12)::int8)', 'sql_out_of_range'],
])('what would not end is bounded: %s', async (query, code) => {
  expect(await refusalOf(query)).toMatchObject({ code });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { uniqueNames } from '../../../src/sql/resolve/output-name.ts';
import { hits } from '../../sql/benchmarks/hits.ts';
import { tpchIndexes, tpchTables } from '../../sql/benchmarks/tpch.ts';
import { readCases, type SqlCase } from '../../sql/cases.ts';
import { difference } from '../../sql/compare.ts';
import { catalogOf, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import type { Oracle, PostgresAnswer } from '../../sql/oracle.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { startOracle } from '../../sql/start-oracle.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/**
 * The queries of two public benchmarks, answered by PostgreSQL and by Millrace on the same generated data.
 */
const benchmarks = [
  { name: 'ClickBench', cases: readCases('benchmarks/clickbench.sql'), queries: 43 },
  { name: 'TPC-H', cases: readCases('benchmarks/tpch.sql'), queries: 22 },
];

let oracle: Oracle;
let store: TestStore;
let ask: Ask;
const answers = new Map<SqlCase, PostgresAnswer>();

beforeAll(async () => {
  oracle = await startOracle();
  store = await openTestStore();
  const tables = [hits, ...tpchTables()];
  for (const fixture of tables) {
    await oracle.execute(postgresStatements(fixture));
    await loadEvents(store.store, fixture);
  }
  await oracle.execute(tpchIndexes);
  ask = asker(queryService(store.store, catalogOf(tables)));
  const cases = benchmarks.flatMap((benchmark) => benchmark.cases);
  for (const [index, answer] of (await oracle.answers(cases.map(decided))).entries()) {
    const sqlCase = cases[index];
    if (sqlCase !== undefined) answers.set(sqlCase, answer);
  }
});

afterAll(async () => {
  await store?.close();
  await oracle?.stop();
});

/**
 * LIMIT may keep any of several equal rows, so here the rows are also ordered by their columns.
 */
function decided({ query }: SqlCase): string {
  const limited = /^(.*?)(\border by (?:(?!\border by\b).)*?)?\s+(limit \d+(?: offset \d+)?)$/is.exec(query);
  if (limited === null) return query;
  const [, rest = '', order, limit = ''] = limited;
  const all = columnNumbers(rest);
  return `${rest} ${order === undefined ? `ORDER BY ${all}` : `${order}, ${all}`} ${limit}`;
}

/** `1, 2, …` for the columns of a query that begins with SELECT; a star has the time first. */
function columnNumbers(query: string): string {
  if (/^select \*/i.test(query)) return Object.keys(hits.fields).join(', ');
  const list = /^select (.*?)\bfrom (?:hits|customer|part|supplier)\b/is.exec(query)?.[1] ?? '';
  let depth = 0;
  let count = 1;
  for (const character of list) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) count += 1;
  }
  return Array.from({ length: count }, (_, index) => index + 1).join(', ');
}

describe.each(benchmarks)('$name', ({ cases, queries }) => {
  test('is complete', () => {
    expect(cases).toHaveLength(queries);
  });

  test.each(cases)('$place $query', async (sqlCase) => {
    const expected = answers.get(sqlCase);
    if (expected === undefined || 'sqlState' in expected) {
      throw new Error(`${oracle.name} refused this query: ${JSON.stringify(expected)}`);
    }
    const actual = await ask(decided(sqlCase)).catch((thrown: unknown) => {
      throw thrown instanceof AppError && thrown.cause instanceof Error ? thrown.cause : thrown;
    });
    const named = { ...expected, names: uniqueNames(expected.names) };
    expect(difference(actual, named, /order by/i.test(decided(sqlCase)))).toBeUndefined();
    // As it is written, it gives as many rows.
    expect((await ask(sqlCase.query)).rows).toHaveLength(expected.rows.length);
    expect(expected.rows.length).toBeGreaterThan(0);
  });
});

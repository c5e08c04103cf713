import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/**
 * A series between literals is counted row by row: what a query of it holds does not grow with its length.
 */

/** An array of ten million numbers alone takes 80 MB. */
const maxMemoryBytes = 64 * 1024 * 1024;
const rows = 10_000_000;

let store: TestStore;
let service: QueryService;
let ask: Ask;
beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  const bounds = {
    timeoutMs: limits.queryTimeoutMs,
    maxThreads: 1,
    maxMemoryBytes,
    maxResultRows: 2 * rows,
    maxResultBytes: 2 ** 31,
  };
  service = queryService(store.store, catalogOf(fixtures), { bounds });
  ask = asker(service);
});
afterAll(() => store?.close());

test.each([
  [`select count(*) as a, sum(n) as b from generate_series(1, ${rows}) n`, [[rows, (rows * (rows + 1)) / 2]]],
  [`select count(*) as a from generate_series(1, ${rows}) n where n % 2 = 0`, [[rows / 2]]],
  [
    `select max(n) as a, min(o) as b from generate_series(${rows}, 1, -1) with ordinality as s(n, o)`,
    [[rows, 1]],
  ],
  [`select count(*) as a from generate_series(1, ${rows}) n join generate_series(1, 10) m on m = n`, [[10]]],
  ['select n as a from generate_series(-3, 3, 3) n order by n desc', [[3], [0], [-3]]],
  ['select n as a from generate_series(3, 1) n', []],
  ['select n as a from generate_series(9223372036854775806, 9223372036854775807) n order by 1', 2],
  ['select count(*) as a from generate_series(1, 100000000) n', [[100_000_000]]],
])('%s', async (sql, expected) => {
  const result = await ask(sql);
  if (typeof expected === 'number') expect(result.rows).toHaveLength(expected);
  else expect(result.rows.map((row) => row.map(Number))).toEqual(expected);
});

test('ten million rows are read to their end', async () => {
  const { chunks } = await service.run({
    principal: administrator,
    tenant: defaultTenant,
    sql: `select n from generate_series(1, ${rows}) n`,
    format: 'rows',
    signal: new AbortController().signal,
  });
  let lines = 0;
  for await (const { parts } of chunks)
    for (const part of parts) for (const byte of part) if (byte === 10) lines += 1;
  expect(lines).toBe(rows);
});

test('in SELECT, where it is an array, the length is bounded', async () => {
  const refused = await ask(`select generate_series(1, ${2 * limits.maxSeriesRows})`).catch((error) => error);
  expect(refused).toMatchObject({ code: 'sql_out_of_range' });
});

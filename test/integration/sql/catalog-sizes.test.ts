import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/clickhouse/store.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { ReadableRows } from '../../../src/model/identity.ts';
import { DatasetSizes } from '../../../src/query/dataset-sizes.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** What the catalog says of rows and bytes is what the store has, and of that what the reader may know. */

let store: TestStore;
let queries = 0;
let fails = false;
let nowMs = 0;
let sizes: DatasetSizes;

const counted: Pick<Store, 'select'> = {
  select: (...args) => {
    queries += 1;
    return fails ? Promise.reject(new Error('no answer')) : store.store.select(...args);
  },
};

beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  // A merge changes how many bytes there are.
  await store.store.command('SYSTEM STOP MERGES');
  sizes = new DatasetSizes({
    store: counted,
    // The time to wait never ends here.
    clock: { monotonicMs: () => nowMs, after: () => () => undefined },
    log: createLogger('silent'),
  });
  administrator = as(() => 'all');
  narrowed = as((dataset) => (dataset === 'app' ? [{ field: 'level', value: 'warn' }] : 'all'));
});
afterAll(() => store?.close());

const as = (readable: (dataset: string) => ReadableRows) =>
  asker(
    queryService(store.store, catalogOf(fixtures), {
      readableRows: (_, dataset) => readable(dataset),
      storedSizes: (tenant) => sizes.of(tenant),
    }),
  );
let administrator: Ask;
let narrowed: Ask;

const stored = async (dataset: string) => {
  const [row] = await store.rows<{ bytes: string; rows: string }>(
    `SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts WHERE active AND table = '${dataset}.events'`,
  );
  return { bytes: Number(row?.bytes), rows: Number(row?.rows) };
};

const numbers = ({ rows }: { readonly rows: readonly (readonly unknown[])[] }) =>
  rows.map((row) => row.map((cell) => (cell === null ? null : Number(cell))));

const functions = `select pg_total_relation_size('app'), pg_table_size('app'), pg_relation_size('app'),
  pg_relation_size('app', 'fsm'), pg_indexes_size('app'), pg_total_relation_size('empty')`;
const classes = "select reltuples, relpages from pg_class where relname = 'app'";
const statistics = "select n_live_tup from pg_stat_user_tables where relname = 'app'";
const database = 'select pg_database_size(current_database())';

describe('a reader of all rows', () => {
  test('sees the rows and bytes that the store has', async () => {
    const { bytes, rows } = await stored('app');
    expect(bytes).toBeGreaterThan(0);
    expect(numbers(await administrator(functions))).toEqual([[bytes, bytes, bytes, 0, 0, 0]]);
    expect(numbers(await administrator(classes))).toEqual([[rows, 0]]);
    expect(numbers(await administrator(statistics))).toEqual([[rows]]);
    const all = await Promise.all(fixtures.map(({ name }) => stored(name)));
    const sum = all.reduce((total, each) => total + each.bytes, 0);
    expect(numbers(await administrator(database))).toEqual([[sum]]);
  });
});

describe('a reader of some rows', () => {
  test('learns nothing of how many there are', async () => {
    expect(numbers(await narrowed(functions))).toEqual([[0, 0, 0, 0, 0, 0]]);
    expect(numbers(await narrowed(classes))).toEqual([[-1, 0]]);
    expect(numbers(await narrowed(statistics))).toEqual([[null]]);
    const others = await Promise.all(
      fixtures.filter(({ name }) => name !== 'app').map(({ name }) => stored(name)),
    );
    const sum = others.reduce((total, each) => total + each.bytes, 0);
    expect(numbers(await narrowed(database))).toEqual([[sum]]);
  });
});

test('the store is asked once for all tables and all who ask, and again some seconds later', async () => {
  nowMs += limits.datasetSizesMaxAgeMs;
  queries = 0;
  const all = 'select sum(pg_total_relation_size(oid)) from pg_class';
  await Promise.all(Array.from({ length: 5 }, () => administrator(all)));
  await narrowed(functions);
  expect(queries).toBe(1);
  nowMs += limits.datasetSizesMaxAgeMs;
  await administrator(all);
  expect(queries).toBe(2);
});

test('while the store does not answer, the last sizes are shown', async () => {
  const before = await administrator(functions);
  nowMs += limits.datasetSizesMaxAgeMs;
  fails = true;
  expect(await administrator(functions)).toEqual(before);
  fails = false;
});

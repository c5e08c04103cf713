/** Queries for the value of an attribute read no more of the table than its indexes leave. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { databaseOf, defaultTenant, physicalTable, type TableName } from '../../../src/model/dataset.ts';
import type { Privilege } from '../../../src/model/identity.ts';
import { catalogOf } from '../../sql/fixtures.ts';
import { administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const kinds = { logs: 'logs', traces: 'spans' } as const satisfies Readonly<Record<string, TableName>>;
const info = (kind: keyof typeof kinds): DatasetInfo => ({
  tenant: defaultTenant,
  name: kind,
  id: kind,
  kind,
  columns: new Map(),
  ready: true,
});
const catalog = catalogOf([], [info('logs'), info('traces')]);
/** Of the rows that are read at least, if any are. */
const granuleRows = 8192;
const granules = 5;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  for (const [kind, table] of Object.entries(kinds) as [keyof typeof kinds, TableName][]) {
    for (const statement of datasetStatements(defaultTenant, kind, kind))
      await store.store.command(statement);
    await store.store.command(`
      INSERT INTO ${databaseOf(defaultTenant)}.\`${physicalTable(kind, table)}\`
        (timestamp, attributes, resource_attributes, scope_attributes)
      SELECT toDateTime64(1763640000 + number / 1000, 9, 'UTC'),
        map('id', 'i' || toString(number), 'method', 'GET', 'size', toString(number)),
        map('pod', 'p' || toString(intDiv(number, 100))),
        map('build', 'b' || toString(intDiv(number, 1000)))
      FROM numbers(${granuleRows * granules})`);
  }
});
afterAll(() => store?.close());

const question = { principal: administrator, tenant: defaultTenant, signal: new AbortController().signal };
const ask = async (sql: string) => (await asker(queryService(store.store, catalog))(sql)).rows;

/** How many granules of the table are left when its indexes have been looked into. */
async function granulesRead(sql: string): Promise<number> {
  const explained = await queryService(store.store, catalog).explain({ ...question, sql });
  const lines = await store.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${explained.sql}`);
  const counts = lines.flatMap(({ explain }) => /^\s*Granules: (\d+)\/\d+$/.exec(explain)?.[1] ?? []);
  return Number(counts.at(-1));
}

test.each([
  ["logs where attributes->>'id' = 'i20000'", 1],
  ["logs where attributes['id'] = 'i20000'", 1],
  [`logs where "id" = 'i20000'`, 1],
  [`logs where 'i20000' = "id" and severity_number = 0`, 1],
  [`logs where "pod" = 'p200'`, 100],
  ["logs where resource_attributes->>'pod' = 'p200'", 100],
  [`logs where "build" = 'b20'`, 1000],
  [`traces where "id" = 'i20000'`, 1],
  [`traces t join logs l on t.attributes->>'id' = l.attributes->>'id' where t."id" = 'i20000'`, 1],
  [`traces where "id" = 'nobody''s'`, 0],
])('of %s, few granules are read', async (from, rows) => {
  const sql = `select count(*) from ${from}`;
  expect(await ask(sql)).toEqual([[rows]]);
  // A Bloom filter has one false positive in a hundred.
  if (!from.includes('join')) expect(await granulesRead(sql)).toBeLessThanOrEqual(2);
});

test.each([
  [`logs where "id" = 'i20000' or "size" = '7'`, 2],
  [`logs where not "id" = 'i20000'`, granuleRows * granules - 1],
  [`logs where "id" <> 'i20000'`, granuleRows * granules - 1],
  [`logs where "method" = 'GET'`, granuleRows * granules],
  [`logs where "size" = 20000`, 1],
  [`logs where attributes->>'id' = attributes->>'size'`, 0],
  [`logs where body = ''`, granuleRows * granules],
  [
    `traces t left join logs l on l."id" = t."id" and l."id" = 'i20000' where l."id" is null`,
    granuleRows * granules - 1,
  ],
])('of %s, all is read', async (from, rows) => {
  expect(await ask(`select count(*) from ${from}`)).toEqual([[rows]]);
});

test('who may not see all rows is not told by the indexes what is in the others', async () => {
  const privileges: Privilege[] = [
    { privilege: 'reader', dataset: 'logs', tag: { field: 'pod', value: 'p0' } },
  ];
  const principal = { ...administrator, kind: 'user' as const, privileges };
  const service = queryService(store.store, catalog, { readableRows });
  const sql = `select count(*) from logs where "id" = 'i20000'`;
  expect((await service.explain({ ...question, sql })).sql).toContain('mapValues');
  expect((await service.explain({ ...question, sql, principal })).sql).not.toContain('mapValues');
  expect((await asker(service)(sql, { principal })).rows).toEqual([[0]]);
});

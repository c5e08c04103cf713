import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { decodeJsonLogs } from '../../../src/decode/otlp/logs/json-logs.ts';
import { decodeProtobufTraces } from '../../../src/decode/otlp/traces/protobuf-traces.ts';
import type { DecodedBody } from '../../../src/decode/task.ts';
import { databaseOf, defaultTenant, physicalTable } from '../../../src/model/dataset.ts';
import type { Privilege } from '../../../src/model/identity.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { exampleLogs, exampleTraceId, exampleTraces } from '../../support/otlp/otlp-examples.ts';
import { encodeJson, encodeProtobuf } from '../../support/otlp/otlp-requests.ts';

const info = (name: string, kind: 'logs' | 'traces'): DatasetInfo => ({
  tenant: defaultTenant,
  name,
  id: name,
  kind,
  columns: new Map(),
  ready: true,
});
const catalog = catalogOf(fixtures, [info('otel-logs', 'logs'), info('traces', 'traces')]);

let store: TestStore;
let ask: Ask;

async function load(dataset: string, kind: 'logs' | 'traces', { blocks }: DecodedBody): Promise<void> {
  for (const statement of datasetStatements(defaultTenant, dataset, kind))
    await store.store.command(statement);
  for (const { table, columns, bytes } of blocks) {
    await store.store.insert(
      {
        database: databaseOf(defaultTenant),
        table: physicalTable(dataset, table),
        columns,
        token: 'once',
        blocks: [bytes],
      },
      new AbortController().signal,
    );
  }
}

beforeAll(async () => {
  store = await openTestStore();
  await load('otel-logs', 'logs', decodeJsonLogs(encodeJson(exampleLogs), 0));
  await load('traces', 'traces', decodeProtobufTraces(encodeProtobuf('traces', exampleTraces), 0));
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  ask = asker(queryService(store.store, catalog));
});
afterAll(() => store?.close());

const rows = async (sql: string, options = {}) => (await ask(sql, options)).rows;

describe('logs as a relation', () => {
  test('a star shows every column', async () => {
    const { names, rows: all } = await ask('select * from "otel-logs" order by timestamp desc limit 1');
    const shown = Object.fromEntries(names.map((name, index) => [name, all[0]?.[index]]));
    expect(shown).toEqual({
      timestamp: '2025-11-20T12:00:02.000000000Z',
      observed_timestamp: null,
      service_name: 'checkout',
      severity_number: 17,
      severity_text: 'ERROR',
      body: '{"why":"no stock"}',
      event_name: '',
      trace_id: '',
      span_id: '',
      trace_flags: 0,
      attributes: { 'http.method': 'POST', 'http.status_code': '503', cached: 'false', ids: '[1,"b"]' },
      dropped_attributes_count: 3,
      resource_attributes: { 'service.name': 'checkout', env: 'prod' },
      resource_dropped_attributes_count: 0,
      resource_schema_url: '',
      resource_entity_refs: '',
      scope_name: 'http',
      scope_version: '1.2',
      scope_attributes: { lib: 'koa' },
      scope_dropped_attributes_count: 0,
      scope_schema_url: '',
    });
  });

  test('nanoseconds are kept', async () => {
    expect(await rows('select timestamp from "otel-logs" where severity_number = 9')).toEqual([
      ['2025-11-20T12:00:00.123456789Z'],
    ]);
  });

  test('attributes by arrow, by subscript and by name; one that a record lacks is NULL', async () => {
    const query = `select attributes->>'http.method', attributes['http.method'], "http.method", "nothing"
      from "otel-logs" order by timestamp`;
    expect(await rows(query)).toEqual([
      [null, null, null, null],
      ['GET', 'GET', 'GET', null],
      ['POST', 'POST', 'POST', null],
    ]);
  });

  test('a name is looked up in the record, then in its resource, then in its scope', async () => {
    expect(await rows('select "env", lib, "service.name" from "otel-logs" order by timestamp')).toEqual([
      ['test', null, 'payment'],
      ['prod', 'koa', 'checkout'],
      ['prod', 'koa', 'checkout'],
    ]);
  });

  test.each([
    ['"http.status_code" >= 500', 1],
    ['"http.status_code" between 200 and 299', 1],
    ['"http.status_code" in (200, 503)', 2],
    ['"http.status_code" = \'200\'', 1],
    ['"http.status_code" like \'5%\'', 1],
    ['"http.method" > 5', 0],
    ['cached', 1],
    ['cached is not null', 2],
    ['not cached', 1],
    ['ids is null', 2],
    ["env = 'prod' and severity_number > 10", 1],
    ["(attributes->>'http.status_code')::int = 503", 1],
    ["timestamp >= '2025-11-20 12:00:02'", 1],
    [`trace_id = '${exampleTraceId}'`, 1],
    ["event_name = 'started'", 1],
    ['nothing is null', 3],
  ])('WHERE %s', async (condition, count) => {
    expect(await rows(`select count(*) from "otel-logs" where ${condition}`)).toEqual([[count]]);
  });

  test('aggregates take attributes for numbers, and groups for text', async () => {
    const query = `select "http.method", sum("http.status_code"), avg("http.status_code") from "otel-logs"
      where "http.method" is not null group by 1 order by 1`;
    expect(await rows(query)).toEqual([
      ['GET', 200, 200],
      ['POST', 503, 503],
    ]);
  });

  test('the time range is that of the timestamp, and may be any', async () => {
    const count = (startTime: string, endTime: string) =>
      rows('select count(*) from "otel-logs"', { startTime, endTime });
    expect(await count('2025-11-20 12:00:00', '2025-11-20 12:00:02')).toEqual([[2]]);
    expect(await count('1700-01-01 00:00:00', '2250-01-01 00:00:00')).toEqual([[3]]);
    expect(await count('2240-01-01 00:00:00', '2250-01-01 00:00:00')).toEqual([[0]]);
  });

  test('a record without a time has that of its observation', async () => {
    expect(
      await rows(
        'select timestamp, observed_timestamp, resource_schema_url from "otel-logs" where event_name = \'started\'',
      ),
    ).toEqual([
      ['2025-11-20T12:00:00.000000005Z', '2025-11-20T12:00:00.000000005Z', 'https://example.com/schema'],
    ]);
  });
});

describe('traces as a relation', () => {
  test('spans, with kinds and statuses by name', async () => {
    const query = `select service_name, name, kind, status_code, status_message, duration_ns, end_timestamp
      from traces order by name`;
    expect(await rows(query)).toEqual([
      ['checkout', 'GET /cart', 'server', 'error', 'no stock', 1_500_000, '2025-11-20T12:00:00.001500000Z'],
      ['checkout', 'SELECT', 'client', 'unset', '', null, null],
      ['payment', 'charge', 'consumer', 'unset', '', null, null],
    ]);
  });

  test('events and links are JSON text', async () => {
    const [[events, links]] = (await rows('select max(events), max(links) from traces')) as [
      [string, string],
    ];
    expect(JSON.parse(events)).toEqual([
      {
        timestamp: '2025-11-20T12:00:00.001000000Z',
        name: 'exception',
        attributes: { 'exception.type': 'OutOfStock' },
        dropped_attributes_count: 0,
      },
    ]);
    expect(JSON.parse(links)).toEqual([
      {
        trace_id: '00000000000000000000000000000001',
        span_id: '0000000000000002',
        trace_state: '',
        flags: 1,
        attributes: {},
        dropped_attributes_count: 0,
      },
    ]);
  });

  test('a trace by its id, joined with its logs', async () => {
    const query = `select t.name, l.body from traces t join "otel-logs" l on t.trace_id = l.trace_id and t.span_id = l.span_id
      where t.trace_id = '${exampleTraceId}'`;
    expect(await rows(query)).toEqual([['GET /cart', 'GET /cart']]);
  });

  test('a child and its parent', async () => {
    const query = `select c.name, p.name from traces c join traces p on c.parent_span_id = p.span_id and p.span_id <> ''`;
    expect(await rows(query)).toEqual([['SELECT', 'GET /cart']]);
  });
});

describe('a reader narrowed by a tag', () => {
  const as = (field: string, value: string) => {
    const privileges: Privilege[] = ['otel-logs', 'traces'].map((dataset) => ({
      privilege: 'reader',
      dataset,
      tag: { field, value },
    }));
    const principal = { ...administrator, kind: 'user' as const, privileges };
    const narrowed = asker(queryService(store.store, catalog, { readableRows }));
    return async (sql: string) => (await narrowed(sql, { principal })).rows;
  };

  test.each([
    ['env', 'prod', 2, 2],
    ['service_name', 'payment', 1, 1],
    ['service.name', 'payment', 1, 1],
    ['http.status_code', '503', 1, 1],
    ['lib', 'koa', 2, 0],
    ['severity_number', '9', 1, 0],
    ['kind', 'server', 0, 1],
    ['nothing', 'x', 0, 0],
    ["x') or (1", '1', 0, 0],
  ])('%s = %s sees those rows and no others', async (field, value, logs, spans) => {
    const ask = as(field, value);
    expect(await ask('select count(*) from "otel-logs"')).toEqual([[logs]]);
    expect(await ask('select count(*) from traces')).toEqual([[spans]]);
    expect(
      await ask('select count(*) from (select 1 from traces union all select 2 from "otel-logs") x'),
    ).toEqual([[logs + spans]]);
  });

  test.each([
    ['otel-logs', 2],
    ['traces', 2],
  ])('counts those of %s', async (stream, expected) => {
    const service = queryService(store.store, catalog, { readableRows });
    const total = async (privilege: Privilege) => {
      const bins = await service.counts({
        principal: { ...administrator, kind: 'user', privileges: [privilege] },
        tenant: defaultTenant,
        stream,
        startTime: '2025-11-20 00:00:00',
        endTime: '2025-11-21 00:00:00',
        numBins: 24,
        signal: new AbortController().signal,
      });
      return bins.reduce((sum, { count }) => sum + count, 0);
    };
    const [[all] = []] = await rows(
      `select count(*) from "${stream}" where timestamp >= '2025-11-20' and timestamp < '2025-11-21'`,
    );
    expect(await total({ privilege: 'reader' })).toBe(all);
    expect(await total({ privilege: 'reader', tag: { field: 'env', value: 'prod' } })).toBe(expected);
    await expect(total({ privilege: 'reader', dataset: 'other' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('no error tells of rows that are not seen', async () => {
    const ask = as('env', 'test');
    // Of the rows that are seen, none has this attribute; others have one that is no number.
    expect(await ask(`select sum((attributes->>'http.method')::int) from "otel-logs"`)).toEqual([[null]]);
    await expect(
      as('env', 'prod')(`select sum((attributes->>'http.method')::int) from "otel-logs"`),
    ).rejects.toThrow();
  });
});

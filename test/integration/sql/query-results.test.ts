import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Table, tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { quoteString } from '../../../src/lib/quote.ts';
import { limits } from '../../../src/limits/limits.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import { ArrowLists } from '../../../src/query/lists/arrow-lists.ts';
import { ParquetLists } from '../../../src/query/lists/parquet-lists.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import type { QueryRequest } from '../../../src/query/request.ts';
import { type ResultFormat, resultFormats } from '../../../src/query/result-format.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { administrator, queryService, wholeOf } from '../../sql/querier.ts';
import { openServerStore } from '../../support/clickhouse/clickhouse-server.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const stores: ReadonlyArray<readonly [string, () => Promise<TestStore>]> = [
  ['the embedded engine', openTestStore],
  ['a ClickHouse server', openServerStore],
];

/** Values of every type, and those that formats find difficult; the last row is NULL but for its id. */
const everything = `select id, case when id < 5 then p_timestamp end as at, case when id < 5 then id > 2 end as ok,
  case when id < 5 then 9007199254740993 + id::bigint end as big,
  case id when 1 then 1.5 when 2 then 'nan'::float8 when 3 then 'infinity'::float8 when 4 then '-infinity'::float8 end as num,
  case id when 1 then 'inf' when 2 then 'a,"b' when 3 then 'ü\n''' when 4 then '' end as txt,
  case when id < 5 then date '2024-02-29' end as day
  from app where id between 1 and 5 order by id`;

/** 216,000 rows in about 14 MB of JSON. */
const large = 'select a.id, b.id as other, c.message from app a, app b, app c';

describe.each(stores)('results of %s', (storeName, open) => {
  let store: TestStore;
  let service: QueryService;
  const bounds = {
    // Longer than any wait of a test: what ends before has been ended.
    timeoutMs: 200_000,
    maxMemoryBytes: 1e9,
    maxThreads: 2,
    maxResultRows: 1_000_000,
    maxResultBytes: 256e6,
  };
  const serviceWith = (changed: Partial<typeof bounds>) =>
    queryService(store.store, catalogOf(fixtures), { bounds: { ...bounds, ...changed } });
  beforeAll(async () => {
    store = await open();
    for (const fixture of fixtures) await loadEvents(store.store, fixture);
    service = serviceWith({});
  });
  afterAll(() => store?.close());

  const run = (sql: string, format: ResultFormat, options: Partial<QueryRequest> = {}, from = service) =>
    from.run({
      principal: administrator,
      tenant: defaultTenant,
      sql,
      format,
      signal: new AbortController().signal,
      ...options,
    });
  const whole = async (sql: string, format: ResultFormat) => await wholeOf((await run(sql, format)).chunks);
  const text = async (sql: string, format: ResultFormat) => (await whole(sql, format)).toString('utf8');
  const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
    const thrown = await promise.then(
      () => new Error('not refused'),
      (error: unknown) => error,
    );
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  };
  const running = async () =>
    (
      await store.rows(
        "SELECT 1 FROM system.processes WHERE query LIKE '%app.events%' AND query NOT LIKE '%processes%'",
      )
    ).length;

  describe('forms', () => {
    test('JSON and lines of JSON', async () => {
      const array = await text(everything, 'json');
      const lines = (await text(everything, 'ndjson')).trimEnd().split('\n');
      expect(JSON.parse(array)).toEqual(lines.map((line) => JSON.parse(line)));
      expect(array).toContain('"big":9007199254740994,');
      const rows = JSON.parse(array) as Record<string, unknown>[];
      expect(rows.map((row) => row['num'])).toEqual([1.5, null, 'Infinity', '-Infinity', null]);
      expect(rows.map((row) => row['txt'])).toEqual(['inf', 'a,"b', "ü\n'", '', null]);
      expect(rows.map((row) => row['ok'])).toEqual([false, false, true, true, null]);
      expect(rows.map((row) => row['day'])).toEqual([...Array<string>(4).fill('2024-02-29'), null]);
      expect(rows[0]?.['at']).toMatch(/^2024-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });

    test('CSV', async () => {
      const rows = parseCsv(await text(everything, 'csv'));
      expect(rows[0]).toEqual(['id', 'at', 'ok', 'big', 'num', 'txt', 'day']);
      expect(rows.map((row) => row[5])).toEqual(['txt', 'inf', 'a,"b', "ü\n'", '', undefined]);
      expect(rows.map((row) => row[4])).toEqual(['num', '1.5', 'nan', 'inf', '-inf', undefined]);
      expect(rows.map((row) => row[3]).slice(1, 3)).toEqual(['9007199254740994', '9007199254740995']);
      expect(rows[1]?.[1]).toMatch(/^2024-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });

    test('CSV of no rows has the header', async () => {
      expect(await text('select id, level from app where false', 'csv')).toBe('"id","level"\n');
    });

    test('an Arrow stream', async () => {
      const table = tableFromIPC(await whole(everything, 'arrow'));
      checkArrow(table);
      const many = tableFromIPC(await whole(large, 'arrow'));
      expect(many.numRows).toBe(216_000);
      expect(new Set(many.getChild('id')?.toArray() as Float64Array).size).toBe(60);
    });

    test('an Arrow stream of no rows has the schema', async () => {
      const table = tableFromIPC(await whole('select id, level from app where false', 'arrow'));
      expect([table.numRows, table.schema.fields.map(({ name }) => name)]).toEqual([0, ['id', 'level']]);
    });

    // Read by the engine of this process, of which the other store has none.
    test.runIf(storeName === 'the embedded engine')('Parquet', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-parquet-'));
      const path = join(folder, 'result.parquet');
      await writeFile(path, await whole(everything, 'parquet'));
      const rows = await store.rows(
        `SELECT id, toUnixTimestamp64Micro(at) AS at, ok, big, num, isNaN(num) AS isNan, txt, toString(day) AS day FROM file(${quoteString(path)}, 'Parquet') ORDER BY id`,
        { settings: { output_format_json_quote_64bit_integers: 1, output_format_json_quote_denormals: 1 } },
      );
      expect(rows.map((row) => row['num'])).toEqual([1.5, 'nan', 'inf', '-inf', null]);
      expect(rows.map((row) => row['txt'])).toEqual(['inf', 'a,"b', "ü\n'", '', null]);
      expect(rows.map((row) => row['big'])).toEqual(
        [1, 2, 3, 4].map((id) => String(9007199254740993n + BigInt(id))).concat([null as never]),
      );
      await writeFile(path, await whole(large, 'parquet'));
      expect(
        await store.rows(
          `SELECT count() AS n, uniqExact(id) AS ids FROM file(${quoteString(path)}, 'Parquet')`,
        ),
      ).toEqual([{ n: 216_000, ids: 60 }]);
      // None of them waits for all of the rows.
      const [groups] = await store.rows<{ n: number }>(
        `SELECT num_row_groups AS n FROM file(${quoteString(path)}, 'ParquetMetadata')`,
      );
      expect(Number(groups?.n)).toBeGreaterThanOrEqual(Math.floor(216_000 / limits.parquetGroupRows));
      await rm(folder, { recursive: true });
    });

    test.each([
      ['ArrowStream', () => new ArrowLists()],
      ['Parquet', () => new ParquetLists()],
    ] as const)('lists that can be NULL are the same however %s is cut', async (format, filter) => {
      const pieces: Uint8Array[] = [];
      const stream = store.store.stream(
        `SELECT number AS n, if(number % 3 = 0, NULL, CAST(tuple([toNullable(number)]), 'Nullable(Tuple(list Array(Nullable(UInt64))))')) AS x
           FROM numbers(20000)`,
        {
          id: randomUUID(),
          party: defaultTenant,
          format,
          settings: {
            allow_experimental_nullable_tuple_type: 1,
            max_block_size: 5000,
            output_format_arrow_compression_method: 'none',
          },
          signal: new AbortController().signal,
        },
      );
      for await (const { parts } of stream) pieces.push(...parts);
      const output = Buffer.concat(pieces);
      const inPieces = (bytes: number) => {
        const changed = filter();
        const parts: Uint8Array[] = [];
        for (let at = 0; at < output.byteLength; at += bytes) {
          // The filter may write into what it is given.
          parts.push(...changed.push(Buffer.from(output.subarray(at, at + bytes))));
        }
        return Buffer.concat([...parts, ...changed.end()]);
      };
      const whole = inPieces(output.byteLength);
      for (const bytes of [1, 7, 8, 9, 4096]) expect(inPieces(bytes).equals(whole)).toBe(true);
      if (format === 'Parquet') return;
      const column = [...(tableFromIPC(whole).getChild('x') ?? [])] as (Iterable<bigint | null> | null)[];
      expect(column.map((list) => list && [...list])).toEqual(
        Array.from({ length: 20_000 }, (_, n) => (n % 3 === 0 ? null : [BigInt(n)])),
      );
    });

    test('large results come whole in every form', async () => {
      expect(JSON.parse(await text(large, 'json'))).toHaveLength(216_000);
      expect((await text(large, 'ndjson')).trimEnd().split('\n')).toHaveLength(216_000);
      expect(parseCsv(await text(large, 'csv'))).toHaveLength(216_001);
      const oneRow = "select array_to_string(array_agg(g), ',') as x from generate_series(1, 900000) g";
      const [{ x }] = JSON.parse(await text(oneRow, 'json')) as [{ x: string }];
      expect(x.length).toBeGreaterThan(limits.heldResultBytes);
      expect(x.split(',')).toHaveLength(900_000);
      const parquet = await whole(large, 'parquet');
      expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    });
  });

  describe('reading a result', () => {
    test('tells what was read where the store does', async () => {
      const result = await run('select count(*) from app', 'json');
      await wholeOf(result.chunks);
      const { read } = result.statistics();
      // The engine in this process counts the rows of the result alone.
      if (storeName === 'the embedded engine') expect(read).toBeUndefined();
      else expect(read).toEqual({ rows: expect.any(Number), bytes: expect.any(Number) });
    });

    test('tells how long it took', async () => {
      const result = await run('select count(*) from app', 'json');
      await wholeOf(result.chunks);
      expect(result.id).toMatch(/^millrace-/);
      expect(result.statistics().elapsedMs).toBeGreaterThanOrEqual(0);
    });

    // The server of the tests makes a result before it sends it.
    test.runIf(storeName === 'the embedded engine')(
      'holds the engine back: a result that is not taken is not made',
      async () => {
        const huge =
          'select a.id, b.id as other, c.message, d.message as more from app a, app b, app c, app d limit 900000';
        const before = process.memoryUsage.rss();
        const { chunks } = await run(huge, 'ndjson');
        let bytes = 0;
        for await (const { parts } of chunks) {
          for (const { byteLength } of parts) bytes += byteLength;
          if (bytes < 1e6) continue;
          await new Promise((resolve) => setTimeout(resolve, 1500));
          expect(await running()).toBe(1);
          break;
        }
        expect(process.memoryUsage.rss() - before).toBeLessThan(150e6);
        // Whoever stops taking it ends it.
        await expect.poll(running).toBe(0);
      },
    );

    test('ends when the client leaves, in the middle and before there is anything', async () => {
      const endless =
        'select count(*) from app a, app b, app c, app d, app e where a.ms + b.ms + c.ms + d.ms + e.ms = 0.123';
      for (const sql of [endless, large]) {
        const client = new AbortController();
        const { chunks } = await run(sql, 'ndjson', { signal: client.signal });
        const read = refusal(
          (async () => {
            for await (const { parts } of chunks) {
              if (parts.length > 0) client.abort();
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          })(),
        );
        if (sql === endless) {
          await expect.poll(running).toBe(1);
          client.abort();
        }
        expect((await read).code).toBe('query_cancelled');
        await expect.poll(running).toBe(0);
      }
    });

    test('never shows rows of a query that failed, was left or timed out to the next ones', async () => {
      const failing =
        'select a.id as leaked, 1 / (a.id + b.id * 60 + c.id * 3600 - 150000)::int as x from app a, app b, app c';
      const left = async () => {
        for await (const { parts } of (await run(large, 'ndjson')).chunks) if (parts.length > 0) return;
      };
      for (const format of resultFormats) {
        for (const leave of [false, true]) {
          const before = leave ? left() : refusal(whole(failing, format));
          await before;
          const after = await Promise.all(
            Array.from(
              { length: 5 },
              async () => JSON.parse(await text("select 'fresh' as x", 'json')) as unknown,
            ),
          );
          expect(after).toEqual(Array(5).fill([{ x: 'fresh' }]));
        }
      }
    });
  });

  describe('bounds', () => {
    const failure = async (changed: Partial<typeof bounds>, sql: string) =>
      (await refusal(run(sql, 'ndjson', {}, serviceWith(changed)).then(({ chunks }) => wholeOf(chunks))))
        .code;

    test('the error says which was passed, how much there was, and what to do', async () => {
      const error = async (changed: Partial<typeof bounds>) =>
        await refusal(run(large, 'ndjson', {}, serviceWith(changed)).then(({ chunks }) => wholeOf(chunks)));
      const rows = await error({ maxResultRows: 1000 });
      expect(rows.message).toMatch(
        /^the result has more than 1,000 rows; it had [\d.]+( thousand)? rows when it was stopped, and [\d,]+ bytes of it were made\. /,
      );
      expect(rows.message).toContain('?export=true');
      expect(rows.details).toEqual({
        limit: 'rows',
        maxRows: 1000,
        maxBytes: bounds.maxResultBytes,
        sentBytes: expect.any(Number),
      });
      const bytes = await error({ maxResultBytes: 2e6 });
      expect(bytes.message).toMatch(/^the result has more than 2,000,000 bytes; it had [\d.]+ MiB when/);
      expect(bytes.details).toMatchObject({ limit: 'bytes' });
    });

    test('an export has none', async () => {
      const { chunks } = await run(
        large,
        'ndjson',
        { isExport: true },
        serviceWith({ maxResultRows: 1000, maxResultBytes: 1000 }),
      );
      expect((await wholeOf(chunks)).toString('utf8').trimEnd().split('\n')).toHaveLength(216_000);
    });

    test('rows and bytes of the result, memory and time', async () => {
      expect(await failure({ maxResultRows: 200_000 }, large)).toBe('query_result_too_large');
      expect(await failure({ maxResultBytes: 1e6 }, large)).toBe('query_result_too_large');
      expect(await failure({ timeoutMs: 300 }, `select count(*) from (${large}) x, app d, app e`)).toBe(
        'query_timeout',
      );
      expect(
        await failure(
          { maxMemoryBytes: 3e6 },
          `select count(*) from (select distinct a.id, b.id as b, c.id as c from app a, app b, app c) x`,
        ),
      ).toBe('query_memory');
    });
  });
});

function checkArrow(table: Table): void {
  expect(table.schema.fields.map(({ name }) => name)).toEqual(['id', 'at', 'ok', 'big', 'num', 'txt', 'day']);
  const column = (name: string) => [...(table.getChild(name) ?? [])] as unknown[];
  expect(column('num')).toEqual([1.5, Number.NaN, Infinity, -Infinity, null]);
  expect(column('txt')).toEqual(['inf', 'a,"b', "ü\n'", '', null]);
  expect(column('big')).toEqual([1n, 2n, 3n, 4n].map((id) => 9007199254740993n + id).concat([null as never]));
  expect(column('ok').map((value) => (value === null ? null : Boolean(value)))).toEqual([
    false,
    false,
    true,
    true,
    null,
  ]);
  expect(
    column('at')
      .slice(0, 4)
      .every((value) => Number(value) > 1_700_000_000_000),
  ).toBe(true);
}

/** RFC 4180; a field that is nothing at all is undefined, which is NULL. */
function parseCsv(text: string): (string | undefined)[][] {
  const rows: (string | undefined)[][] = [];
  let row: (string | undefined)[] = [];
  let at = 0;
  while (at < text.length) {
    let field: string | undefined;
    if (text[at] === '"') {
      const match = /"((?:[^"]|"")*)"/y;
      match.lastIndex = at;
      const found = match.exec(text);
      if (found === null) throw new Error(`an open quote at ${at}`);
      field = found[1]?.replaceAll('""', '"');
      at += found[0].length;
    } else {
      const end = /[,\n]/g;
      end.lastIndex = at;
      const stop = end.exec(text)?.index ?? text.length;
      field = stop === at ? undefined : text.slice(at, stop);
      at = stop;
    }
    row.push(field);
    if (text[at] === '\n') {
      rows.push(row);
      row = [];
    } else if (text[at] !== ',') throw new Error(`${JSON.stringify(text[at])} behind a field`);
    at += 1;
    if (text[at - 1] === ',' && at === text.length) throw new Error('no end of line');
  }
  return rows;
}

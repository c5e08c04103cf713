import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import { holdBeginning } from '../../../src/query/hold-beginning.ts';
import type { QueryResult } from '../../../src/query/request.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { text as textType } from '../../../src/sql/types.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { auth, type Harness, problemOf, RawClient, startServer, waitFor } from './http-harness.ts';

let store: TestStore;
let harness: Harness;
beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  const service = queryService(store.store, catalogOf(fixtures), {
    clock: systemClock,
    bounds: {
      // Longer than any wait of a test: what ends before has been ended.
      timeoutMs: 200_000,
      maxMemoryBytes: 1e9,
      maxThreads: 2,
      maxResultRows: 1_000_000,
      maxResultBytes: 256e6,
    },
  });
  harness = await startServer();
  harness.query.respond = (request) => service.run(request);
});
beforeEach(() => {
  harness.logLines.length = 0;
});
afterAll(async () => {
  await harness?.close();
  await store?.close();
});

const ask = (query: string, parameters = '', headers: Record<string, string> = {}) =>
  harness.post(`/api/v1/query${parameters}`, JSON.stringify({ query }), headers);
const running = async () =>
  (
    await store.rows(
      "SELECT 1 FROM system.processes WHERE query LIKE '%app.events%' AND query NOT LIKE '%processes%'",
    )
  ).length;

/** 216,000 rows. */
const large = 'select a.id, b.id as other, c.message from app a, app b, app c';
/** Fails after 800,000 rows or so, when its first ones have long been sent. */
const failing = `select a.id, b.id as other, c.message,
    1 / (a.id * 216000 + b.id * 3600 + c.id * 60 + d.id - 1000000)::int as x
  from app a, app b, app c, app d`;
/** 900,000 rows of 180 bytes. */
const huge =
  'select a.id, b.id as other, c.message, d.message as more from app a, app b, app c, app d limit 900000';

describe('a small result', () => {
  test('comes with its length and with what it took', async () => {
    const response = await ask('select id from app where id in (1, 2) order by id');
    expect(response.headers.get('content-length')).not.toBeNull();
    expect(response.headers.get('millrace-query-id')).toMatch(/^millrace-[0-9a-f-]{36}$/);
    expect(Number(response.headers.get('millrace-elapsed-ms'))).toBeGreaterThan(0);
    expect(await response.json()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test('has the form that is asked for', async () => {
    const forms = [
      ['', 'application/json', '[{"id":1}]'],
      ['ndjson', 'application/x-ndjson', '{"id":1}\n'],
      ['csv', 'text/csv; charset=utf-8; header=present', '"id"\n1\n'],
    ] as const;
    for (const [format, type, body] of forms) {
      const query = 'select id from app where id = 1';
      const byParameter = await ask(query, format === '' ? '' : `?format=${format}`);
      expect([byParameter.headers.get('content-type'), await byParameter.text()]).toEqual([type, body]);
      const byHeader = await ask(query, '', { ...auth, accept: type });
      expect([byHeader.headers.get('content-type'), await byHeader.text()]).toEqual([type, body]);
    }
    const refused = await ask('select 1', '', { ...auth, accept: 'text/html' });
    expect([refused.status, (await problemOf(refused)).code]).toEqual([406, 'not_acceptable']);
    expect((await ask('select 1', '?format=xml')).status).toBe(400);
    expect((await ask('select 1', '?format=csv&fields=true')).status).toBe(400);
  });

  test('comes with its length where its rows are few and long, and in pieces beyond', async () => {
    for (const [characters, inPieces] of [
      [1000, false],
      [10_000, true],
    ] as const) {
      const response = await ask(`select lpad('x', ${characters}, 'x') as x from app a, app b limit 900`);
      expect([response.status, response.headers.has('content-length')]).toEqual([200, !inPieces]);
      expect(await response.json()).toEqual(Array(900).fill({ x: 'x'.repeat(characters) }));
    }
  });

  test('fails as a problem, with its SQLSTATE in the registry of errors', async () => {
    const response = await ask('select 1 / (id - id)::int from app');
    expect([response.status, (await problemOf(response)).code]).toEqual([400, 'sql_division_by_zero']);
  });
});

describe('parameters', () => {
  const askWith = (query: string, params: string) =>
    harness.post('/api/v1/query', `{"query": ${JSON.stringify(query)}, "params": ${params}}`);

  test('are the values of $1, $2, …', async () => {
    const query =
      'select id, $3::bigint as big from app where status = $1 and id = any($2) order by id limit $4';
    const response = await askWith(query, '[404, [5, 6, 2], 9007199254740993, 1]');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('[{"id":2,"big":9007199254740993}]');
  });

  test('that do not fit are a problem that says which, and where it stands', async () => {
    const response = await askWith('select id from app\nwhere status = $1', '["many"]');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'sql_bad_value', parameter: 1, line: 2, column: 16 });
    expect((await problemOf(await askWith('select $1', '[]'))).code).toBe('sql_parameter_count');
  });
});

describe('the time zone of a query', () => {
  const askIn = (timeZone: unknown, query: string) =>
    harness.post('/api/v1/query', JSON.stringify({ query, timeZone }));

  test('is the one in which it computes; moments are shown in UTC', async () => {
    const query = `select timestamptz '2024-03-31 02:30' as at, (timestamptz '2024-03-30 23:30Z')::date as day,
      (timestamptz '2024-07-01 00:00Z')::text as text`;
    const answers = await Promise.all(
      ['Europe/Berlin', 'UTC', '-3.5'].map(
        async (zone) => (await (await askIn(zone, query)).json()) as unknown,
      ),
    );
    expect(answers).toEqual([
      [{ at: '2024-03-31T01:30:00.000000Z', day: '2024-03-31', text: '2024-07-01 02:00:00+02' }],
      [{ at: '2024-03-31T02:30:00.000000Z', day: '2024-03-30', text: '2024-07-01 00:00:00+00' }],
      [{ at: '2024-03-31T06:00:00.000000Z', day: '2024-03-30', text: '2024-06-30 20:30:00-03:30' }],
    ]);
    expect(await (await ask(query)).json()).toEqual(answers[1]);
  });

  test('is refused if there is none of that name', async () => {
    for (const zone of ['Europe/Atlantis', 'CET-1CEST', '', 7]) {
      const response = await askIn(zone, 'select 1');
      expect([response.status, (await problemOf(response)).code]).toEqual([400, 'bad_request']);
    }
  });
});

describe('a large result', () => {
  test('comes in pieces, whole', async () => {
    const response = await ask(large, '?fields=true');
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    const { fields, records, statistics } = (await response.json()) as Record<string, unknown>;
    expect(fields).toEqual(['id', 'other', 'message']);
    expect(records).toHaveLength(216_000);
    expect(statistics).toMatchObject({ elapsedMs: expect.any(Number) });
  });

  test('that fails in the middle has no last chunk, and is not taken for whole', async () => {
    for (const format of ['json', 'ndjson', 'csv', 'arrow']) {
      const response = await ask(failing, `?format=${format}`);
      expect(response.status).toBe(200);
      await expect(response.arrayBuffer()).rejects.toThrow();
      expect(await (await ask("select 'fresh' as x")).json()).toEqual([{ x: 'fresh' }]);
    }
    expect(await harness.metrics.registry.metrics()).toContain('code="sql_division_by_zero"');
    const raw = await RawClient.open(harness.port);
    const body = JSON.stringify({ query: failing });
    raw.request('POST /api/v1/query', { ...auth, 'Content-Length': String(body.length) }, body);
    await raw.until(({ closed }) => closed);
    expect(raw.received.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect(raw.received.endsWith('0\r\n\r\n')).toBe(false);
    expect(raw.received).not.toMatch(/Code: \d+|DB::Exception|t_default/);
  });

  test('is made as fast as its client reads it', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.pause();
    const body = JSON.stringify({ query: huge });
    const rssBefore = process.memoryUsage.rss();
    client.request(
      'POST /api/v1/query?format=ndjson',
      { ...auth, 'Content-Length': String(body.length) },
      body,
    );
    await waitFor(async () => (await running()) === 1);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await running()).toBe(1);
    expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(120e6);
    // It goes on where it stopped.
    let bytes = 0;
    client.socket.removeAllListeners('data');
    client.socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    client.socket.resume();
    // More than the sockets and the pipe held.
    await waitFor(() => bytes > 15e6);
    client.socket.destroy();
    await waitFor(async () => (await running()) === 0);
  });

  test('ends in the engine when its client leaves', async () => {
    const endless =
      'select count(*) from app a, app b, app c, app d, app e where a.ms + b.ms + c.ms + d.ms + e.ms = 0.123';
    for (const query of [endless, huge]) {
      const client = new AbortController();
      const response = fetch(`${harness.url}/api/v1/query?format=ndjson`, {
        method: 'POST',
        body: Buffer.from(JSON.stringify({ query })),
        headers: auth,
        signal: client.signal,
      });
      if (query === huge) await (await response).body?.getReader().read();
      await waitFor(async () => (await running()) === 1);
      client.abort();
      if (query === endless) await expect(response).rejects.toThrow();
      await waitFor(async () => (await running()) === 0);
    }
  });
});

describe('time', () => {
  /**
   * In the store's own SQL, since clients have no function that waits: 8 MB at once, then nothing for 15 s.
   */
  const pausing = `SELECT number, repeat('x', 1000) AS x, if(number < 8000, 0, sleepEachRow(3)) AS waited
    FROM numbers(8005)`;
  const pausingResult = (): QueryResult => ({
    id: 'pausing',
    columns: ['number', 'x', 'waited'].map((name) => ({ name, label: name, type: postgresType(textType) })),
    datasets: [],
    chunks: holdBeginning(
      store.store.stream(pausing, {
        id: 'pausing',
        party: 'default',
        format: 'JSONEachRow',
        settings: { max_threads: 1, max_block_size: 1, short_circuit_function_evaluation: 'force_enable' },
        signal: new AbortController().signal,
      }),
      limits.queryReplyBufferBytes,
    ),
    statistics: () => ({ elapsedMs: 0, read: undefined }),
  });

  test('a result that pauses for longer than connections may be idle is not cut', async () => {
    // A server that has never seen the credentials: while it checks them, it holds the connection.
    const fresh = await startServer();
    onTestFinished(() => fresh.close());
    fresh.query.respond = async () => pausingResult();
    const response = await fresh.post('/api/v1/query?format=ndjson', JSON.stringify({ query: 'select 1' }));
    let lines = 0;
    let longestMs = 0;
    let last = performance.now();
    for await (const chunk of response.body ?? []) {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
      lines += Buffer.from(chunk).toString('latin1').split('\n').length - 1;
    }
    expect(lines).toBe(8005);
    expect(longestMs).toBeGreaterThan(12_000);
  });

  test('a client that takes nothing is cut, and its query ended in the engine', async () => {
    const client = await RawClient.open(harness.port);
    client.socket.pause();
    const body = JSON.stringify({ query: huge });
    client.request(
      'POST /api/v1/query?format=ndjson',
      { ...auth, 'Content-Length': String(body.length) },
      body,
    );
    await waitFor(async () => (await running()) === 1);
    await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 40_000, interval: 500 });
    client.socket.resume();
    await client.until(({ closed }) => closed);
    expect(client.received.endsWith('0\r\n\r\n')).toBe(false);
  });
});

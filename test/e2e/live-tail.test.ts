import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { authorization, Service } from '../support/service/service.ts';
import { administer, TailClient, type TailOptions } from '../support/service/tail-client.ts';

/** Live tails of the built service: through its log, its store and each of its HTTP servers. */
describe.each(['auto', 'node'])('a live tail over the HTTP server %s', (server) => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({
      env: { MILLRACE_FLUSH_INTERVAL_MS: '100', MILLRACE_HTTP_SERVER: server },
    });
  }, 60_000);
  afterAll(() => service?.dispose());

  const send = <T>(method: string, path: string, body?: unknown) =>
    administer<T>(service.url, method, path, body);
  /** A key with this privilege. */
  const makeKey = async (name: string, privilege: object) => {
    await send('PUT', `/api/v1/role/${name}`, [privilege]);
    const made = await send<{ apiKey: string; keyId: string }>('POST', '/api/console/v1/apikeys', {
      keyName: name,
      roles: [name],
    });
    return { id: made.keyId, headers: { 'x-api-key': made.apiKey } };
  };
  const tail = async (dataset: string, options: TailOptions = {}) => {
    const client = await TailClient.open(service.url, dataset, options);
    onTestFinished(() => client.leave());
    return client;
  };
  const numbers = (client: TailClient) => client.read.rows.map(({ n }) => n);

  it('sends acknowledged rows in the order of arrival, and resumes over a restart', async () => {
    await service.ingest('app', [{ n: 0, level: 'info' }]);
    await service.drained();
    const [all, errors] = [
      await tail('app'),
      await tail('app', { body: { where: "level = 'error'", limit: 100 } }),
    ];
    expect(all.response.status).toBe(200);
    expect(all.response.headers.get('content-type')).toBe('text/event-stream');
    expect(all.response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(all.response.headers.get('x-accel-buffering')).toBe('no');
    for (let n = 1; n <= 5; n += 1)
      await service.ingest('app', [{ n, level: n % 2 === 0 ? 'error' : 'info', at: 'a,"b":1}\n' }]);
    await expect.poll(() => numbers(all)).toEqual([1, 2, 3, 4, 5]);
    await expect.poll(() => numbers(errors)).toEqual([2, 4]);
    expect(all.read.rows[0]).toMatchObject({ level: 'info', at: 'a,"b":1}\n' });
    // A new field is there at once, in rows that come with it.
    await service.ingest('app', [{ n: 6, level: 'info', more: true }]);
    await expect.poll(() => all.read.rows.at(-1)).toMatchObject({ n: 6, more: true });
    const { lastId } = all.read;
    await service.stop();
    expect(all.read.end?.code).toBe('shutting_down');
    await service.restart();
    await service.ingest('app', [{ n: 7, level: 'info' }]);
    const resumed = await tail('app', { lastEventId: lastId });
    await service.ingest('app', [{ n: 8, level: 'info' }]);
    await expect.poll(() => numbers(resumed)).toEqual([7, 8]);
    expect(resumed.read.skipped).toEqual([]);
  });

  it('has late records of logs, and spans', async () => {
    const record = (seconds: number, body: string) => ({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                { timeUnixNano: `${seconds}000000000`, severityText: 'INFO', body: { stringValue: body } },
              ],
            },
          ],
        },
      ],
    });
    const now = 1_763_640_000;
    await send('POST', '/v1/logs', record(now, 'first'));
    await service.drained();
    const client = await tail('otel-logs', { body: { where: "severity_text = 'INFO' AND body <> 'no'" } });
    await send('POST', '/v1/logs', record(now + 10, 'second'));
    await expect.poll(() => client.read.rows.map(({ body }) => body)).toEqual(['second']);
    await send('POST', '/v1/logs', record(now - 86_400 * 3, 'late'));
    await expect.poll(() => client.read.rows.map(({ body }) => body)).toEqual(['second', 'late']);
    const span = (name: string) => ({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: 'eee19b7ec3c1b174',
                  name,
                  startTimeUnixNano: `${now}000000000`,
                  endTimeUnixNano: `${now + 1}000000000`,
                },
              ],
            },
          ],
        },
      ],
    });
    await send('POST', '/v1/traces', span('one'));
    await service.drained();
    const spans = await tail('otel-traces');
    await send('POST', '/v1/traces', span('two'));
    await expect.poll(() => spans.read.rows.map(({ name }) => name)).toEqual(['two']);
  });

  it('keeps to the rows of a narrowed key, and ends with the key', async () => {
    await service.ingest('shop', [{ n: 0, team: 'a' }]);
    await service.drained();
    const resource = { dataset: 'shop', tag: 'team=a' };
    const key = await makeKey('narrowed', { privilege: 'reader', resource });
    const client = await tail('shop', { headers: key.headers, body: { where: "team = 'b' OR true" } });
    expect(client.response.status).toBe(200);
    await service.ingest('shop', [
      { n: 1, team: 'a' },
      { n: 2, team: 'b' },
    ]);
    await service.ingest('shop', [{ n: 3, team: 'a' }]);
    await expect.poll(() => numbers(client)).toEqual([1, 3]);
    expect(client.text).not.toContain('"b"');
    await send('DELETE', `/api/console/v1/apikeys/${key.id}`);
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.read.end?.code).toBe('unauthenticated');
    await service.ingest('shop', [{ n: 4, team: 'a' }]);
    const foreign = await tail('shop', { headers: key.headers });
    expect(foreign.response.status).toBe(401);
  });

  it('goes on with the privileges that its role has now, and ends with its dataset', async () => {
    await service.ingest('orders', [{ n: 0, team: 'a' }]);
    await service.drained();
    const key = await makeKey('changed', {
      privilege: 'reader',
      resource: { dataset: 'orders', tag: 'team=a' },
    });
    const client = await tail('orders', { headers: key.headers });
    await send('PUT', '/api/v1/role/changed', [
      { privilege: 'reader', resource: { dataset: 'orders', tag: 'team=b' } },
    ]);
    // The tail learns of it within an interval; until then rows are those of before.
    let n = 0;
    await expect
      .poll(async () => {
        n += 1;
        await service.ingest('orders', [{ n, team: 'b' }]);
        return client.read.rows.length;
      })
      .toBeGreaterThan(0);
    expect(client.read.rows.every(({ team }) => team === 'b')).toBe(true);
    await send('DELETE', '/api/v1/logstream/orders');
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.read.end?.code).toBe('dataset_not_found');
  });

  it('refuses what is no condition, what may not be read, metrics, and too many', async () => {
    await service.ingest('plain', [{ n: 0 }]);
    await service.drained();
    const refusal = async (dataset: string, options: TailOptions = {}) => {
      const client = await tail(dataset, options);
      await expect.poll(() => client.isEnded).toBe(true);
      return [client.response.status, (JSON.parse(client.text) as { code: string }).code];
    };
    const where = (text: string) => refusal('plain', { body: { where: text } });
    expect(await where('n = 1) UNION (SELECT 1')).toEqual([400, 'sql_syntax']);
    expect(await where('n = 1) ORDER BY (n')).toEqual([400, 'sql_syntax']);
    expect(await where('n = 1), (n = 2')).toEqual([400, 'sql_syntax']);
    expect(await where('n in (select n from app)')).toEqual([400, 'sql_unsupported']);
    expect(await where('count(*) > 1')).toEqual([400, 'sql_grouping']);
    expect(await where('other = 1')).toEqual([400, 'sql_unknown_column']);
    expect(await where('n')).toEqual([400, 'sql_type']);
    expect(await where('')).toEqual([400, 'bad_request']);
    expect(await refusal('plain', { body: { limit: 501 } })).toEqual([400, 'bad_request']);
    expect(await refusal('nothing')).toEqual([404, 'dataset_not_found']);
    const key = await makeKey('elsewhere', { privilege: 'reader', resource: { dataset: 'other' } });
    expect(await refusal('plain', { headers: key.headers })).toEqual([403, 'forbidden']);
    const open: TailClient[] = [];
    await expect.poll(() => service.metric('millrace_tail_streams')).toBe(0);
    for (let count = 0; count < 16; count += 1) open.push(await tail('plain'));
    expect(await refusal('plain')).toEqual([503, 'overloaded']);
    const head = await fetch(`${service.url}/api/v1/logstream/plain/tail`, {
      method: 'HEAD',
      headers: { authorization },
    });
    expect(head.status).toBe(503);
    for (const client of open) client.leave();
    await expect.poll(() => service.metric('millrace_tail_streams')).toBe(0);
    const begun = await fetch(`${service.url}/api/v1/logstream/plain/tail`, {
      method: 'HEAD',
      headers: { authorization },
    });
    expect([begun.status, begun.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await service.metric('millrace_tail_streams')).toBe(0);
  });

  it('skips a client that does not read, which holds up nobody', async () => {
    const text = 'x'.repeat(30_000);
    await service.ingest('wide', [{ n: 0, text }]);
    await service.drained();
    // A socket that reads nothing: what the kernel takes is a few MB.
    const socket = connect(service.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.on('error', () => {});
    socket.write(
      `GET /api/v1/logstream/wide/tail HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    await expect.poll(() => service.metric('millrace_tail_streams')).toBe(1);
    const quick = await tail('wide');
    const before = await service.metric('millrace_tail_skipped_rows_total');
    let n = 0;
    const sendMore = async () => {
      await service.ingest(
        'wide',
        Array.from({ length: 100 }, (_, index) => ({ n: n + index + 1, text })),
      );
      n += 100;
      return (await service.metric('millrace_tail_skipped_rows_total')) - before;
    };
    await expect.poll(sendMore, { interval: 1000 }).toBeGreaterThan(0);
    await service.ingest('wide', [{ n: -1 }]);
    await expect.poll(() => numbers(quick).at(-1)).toBe(-1);
    // Each row was sent or counted.
    const counted = quick.read.skipped.reduce((sum, { rows }) => sum + (rows ?? Number.NaN), 0);
    expect(numbers(quick).length + counted).toBe(n + 1);
  });
});

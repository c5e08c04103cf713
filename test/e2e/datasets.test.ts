import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tablesOf } from '../support/clickhouse/engine-files.ts';
import { authorization, Service } from '../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service?.dispose());

const send = (method: string, path: string) =>
  fetch(`${service.url}/api/v1/logstream${path}`, { method, headers: { authorization } });
const text = async (method: string, path: string): Promise<readonly [number, string]> => {
  const reply = await send(method, path);
  return [reply.status, await reply.text()];
};
const json = async (path: string): Promise<unknown> => {
  const reply = await send('GET', path);
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.json();
};
const codeOf = async (method: string, path: string): Promise<readonly [number, string]> => {
  const reply = await send(method, path);
  return [reply.status, ((await reply.json()) as { code: string }).code];
};

describe('a dataset over HTTP', () => {
  it('is made, listed, described and deleted', async () => {
    expect(await text('PUT', '/shop')).toEqual([200, 'Log stream created']);
    expect(await codeOf('PUT', '/shop')).toEqual([400, 'dataset_exists']);
    expect(await codeOf('PUT', '/-shop')).toEqual([400, 'bad_dataset_name']);
    expect(await json('')).toContainEqual({ name: 'shop' });
    expect(await json('/shop/info')).toMatchObject({
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      firstEventAt: null,
      streamType: 'UserDefined',
      telemetryType: 'events',
    });

    const sent = [
      { item: 'tea', price: 3, mixed: 1 },
      { item: 'tin', mixed: 'a', ok: true },
    ];
    await service.ingest('shop', sent);
    await service.drained();
    const rest = { dict_id: 0, dict_is_ordered: false, metadata: {} };
    const time = {
      name: 'p_timestamp',
      data_type: { Timestamp: ['Microsecond', '+00:00'] },
      nullable: false,
      ...rest,
    };
    const schema = (await json('/shop/schema')) as { fields: object[]; metadata: object };
    expect(schema.metadata).toEqual({});
    expect(schema.fields).toEqual([
      { name: 'item', data_type: 'Utf8', nullable: true, ...rest },
      { name: 'mixed', data_type: 'Utf8', nullable: true, ...rest },
      { name: 'ok', data_type: 'Boolean', nullable: true, ...rest },
      { name: 'p_src_ip', data_type: 'Utf8', nullable: true, ...rest },
      time,
      { name: 'p_user_agent', data_type: 'Utf8', nullable: true, ...rest },
      { name: 'price', data_type: 'Float64', nullable: true, ...rest },
    ]);

    const [row] = await service.query('SELECT min(p_timestamp) AS first, max(p_timestamp) AS last FROM shop');
    const { firstEventAt, latestEventAt } = (await json('/shop/info')) as Record<string, string>;
    const micros = (value: unknown): number => Date.parse(String(value));
    expect([micros(firstEventAt), micros(latestEventAt)]).toEqual([
      micros(row?.['first']),
      micros(row?.['last']),
    ]);

    const day = firstEventAt?.slice(0, 10);
    const size = expect.stringMatching(/^[1-9]\d* Bytes$/);
    const sentBytes = JSON.stringify(sent).length;
    const storage = { count: 2, size, uncompressed_size: size, compression_ratio: expect.any(Number) };
    const ingestion = {
      count: 2,
      size: `${sentBytes} Bytes`,
      format: 'json',
      waiting_count: 0,
      waiting_size: '0 Bytes',
    };
    const whole = {
      stream: 'shop',
      ingestion: { ...ingestion, lifetime_count: 2, lifetime_size: `${sentBytes} Bytes`, deleted_count: 0 },
      storage,
    };
    expect(await json('/shop/stats')).toMatchObject(whole);
    expect(await json(`/shop/stats?date=${day}`)).toMatchObject({ ingestion, storage });
    expect(await json('/shop/stats?date=2001-01-01')).toMatchObject({
      ingestion: { count: 0, size: '0 Bytes' },
      storage: { count: 0, compression_ratio: null },
    });
    await service.kill();
    await service.restart();
    expect(await json('/shop/stats')).toMatchObject(whole);
    expect(await codeOf('GET', '/shop/stats?date=yesterday')).toEqual([400, 'bad_request']);

    const task = { description: 'a month', action: 'delete', duration: '30d' };
    expect(await json('/shop/retention')).toEqual([]);
    const put = await fetch(`${service.url}/api/v1/logstream/shop/retention`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify([task]),
    });
    expect(put.status).toBe(200);
    expect(await json('/shop/retention')).toEqual([task]);

    expect(await text('DELETE', '/shop')).toEqual([200, 'log stream shop deleted']);
    expect(tablesOf(service, 'shop')).toEqual([]);
    expect(await json('')).not.toContainEqual({ name: 'shop' });
    for (const what of ['', '/schema', '/info', '/stats']) {
      const method = what === '' ? 'DELETE' : 'GET';
      expect([what, await codeOf(method, `/shop${what}`)]).toEqual([what, [404, 'dataset_not_found']]);
    }
  }, 60_000);
});

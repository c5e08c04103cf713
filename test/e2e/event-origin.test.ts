import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorization, Service } from '../support/service/service.ts';

/** What is stored of the request that events came with. */
let service: Service;
beforeAll(async () => {
  service = await Service.start({
    env: { MILLRACE_FLUSH_INTERVAL_MS: '100', MILLRACE_TRUSTED_PROXIES: '127.0.0.1' },
  });
}, 60_000);
afterAll(() => service?.dispose());

async function ingest(dataset: string, events: unknown, headers: Record<string, string>): Promise<number> {
  const reply = await fetch(`${service.url}/api/v1/ingest`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'x-p-stream': dataset, ...headers },
    body: JSON.stringify(events),
  });
  return reply.status;
}

it('is the address that trusted proxies tell, and the name of the client, for each event', async () => {
  const proxied = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'user-agent': 'shipper/2.1' };
  expect(await ingest('app', [{ id: 1 }, { id: 2 }], proxied)).toBe(200);
  expect(await ingest('app', { id: 3 }, { 'user-agent': '' })).toBe(200);
  const forged = { id: 4, p_src_ip: '192.0.2.1', p_user_agent: 'other' };
  expect(await ingest('app', forged, { 'user-agent': 'x'.repeat(300) })).toBe(200);
  await service.drained();
  expect(await service.query('SELECT id, p_src_ip, p_user_agent FROM app ORDER BY id')).toEqual([
    { id: 1, p_src_ip: '198.51.100.7', p_user_agent: 'shipper/2.1' },
    { id: 2, p_src_ip: '198.51.100.7', p_user_agent: 'shipper/2.1' },
    { id: 3, p_src_ip: '127.0.0.1', p_user_agent: null },
    { id: 4, p_src_ip: '127.0.0.1', p_user_agent: 'x'.repeat(256) },
  ]);
  // What events call so themselves stays, under another name.
  expect(await service.query('SELECT _p_src_ip AS a, _p_user_agent AS b FROM app WHERE id = 4')).toEqual([
    { a: '192.0.2.1', b: 'other' },
  ]);
  const grouped =
    'SELECT p_user_agent AS agent, count(*) AS n FROM app WHERE p_user_agent LIKE $1 GROUP BY 1';
  expect(await service.query(grouped.replace('$1', "'ship%'"))).toEqual([{ agent: 'shipper/2.1', n: 2 }]);
});

it('comes to a table that had no such columns, and takes no room of its fields', async () => {
  const put = async (path: string, body?: unknown) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const url = `${service.url}/api/v1/logstream/narrow${path}`;
    return (
      await fetch(url, { method: 'PUT', headers, body: body === undefined ? null : JSON.stringify(body) })
    ).status;
  };
  // The time and nine fields.
  expect([await put(''), await put('/limits', { maxColumns: 10 })]).toEqual([200, 200]);
  const fields = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, 'x']));
  expect(await ingest('narrow', [{ ...fields, id: 1 }], {})).toBe(200);
  expect(await ingest('narrow', { ...fields, id: 2, more: 'y' }, { 'user-agent': 'agent' })).toBe(200);
  await service.drained();
  expect(
    await service.query('SELECT f8, more, p_user_agent AS agent, p_overflow AS map FROM narrow WHERE id = 2'),
  ).toEqual([{ f8: 'x', more: 'y', agent: 'agent', map: { 'id:num': '2', 'more:str': 'y' } }]);
});

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorization, Service } from '../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  // At the most detailed log level, so that a secret in any line is found.
  service = await Service.start({ env: { MILLRACE_LOG_LEVEL: 'trace' } });
});
afterAll(() => service?.dispose());

const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { 'content-type': 'application/json', 'x-p-stream': 'app', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('what an administrator made outlives a kill, and what was deleted stays deleted', async () => {
  const admin = { authorization };
  const ingest = async (key: string) =>
    (await send('POST', '/api/v1/ingest', { 'x-api-key': key }, [{ level: 'warn' }, { level: 'info' }]))
      .status;
  const make = async (keyName: string, role: string) => {
    const reply = await send('POST', '/api/console/v1/apikeys', admin, { keyName, roles: [role] });
    return (await reply.json()) as { keyId: string; apiKey: string };
  };
  const shipping = [{ privilege: 'ingestor', resource: { dataset: 'app' } }];
  const reading = [{ privilege: 'reader', resource: { dataset: 'app', tag: 'level=warn' } }];
  await send('PUT', '/api/v1/role/shipping', admin, shipping);
  await send('PUT', '/api/v1/role/reading', admin, reading);
  const [kept, deleted, reader] = [
    await make('kept', 'shipping'),
    await make('deleted', 'shipping'),
    await make('reader', 'reading'),
  ];
  expect([await ingest(kept.apiKey), await ingest(deleted.apiKey)]).toEqual([200, 200]);
  expect((await send('DELETE', `/api/console/v1/apikeys/${deleted.keyId}`, admin)).status).toBe(200);
  expect(await ingest(deleted.apiKey)).toBe(401);

  await service.kill();
  await service.restart();
  expect([await ingest(kept.apiKey), await ingest(deleted.apiKey)]).toEqual([200, 401]);
  expect(statSync(join(service.dataDir, 'secret')).mode & 0o777).toBe(0o600);
  const output = service.child.stdout + service.child.stderr;
  const { password } = Service.credentials;
  for (const secret of [kept.apiKey, reader.apiKey, authorization.slice(6), password]) {
    expect(output).not.toContain(secret);
  }

  await service.drained();
  const query = (sql: string, key: string) =>
    send('POST', '/api/v1/query', { 'x-api-key': key }, { query: sql });
  const rows = await (
    await query('select level, count(*) as n from app group by level', reader.apiKey)
  ).json();
  expect(rows).toEqual([{ level: 'warn', n: 3 }]);
  expect((await query('select 1 from app', kept.apiKey)).status).toBe(403);
}, 60_000);

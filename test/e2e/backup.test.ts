import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { authorization, Service } from '../support/service/service.ts';

/** What docs/operations/backup.md promises about a copy of the data directory of a stopped service. */
let folder = '';
let restored: Service;
let apiKey = '';

async function administer(service: Service, method: string, path: string, body: unknown): Promise<unknown> {
  const reply = await fetch(service.url + path, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(reply.ok, path).toBe(true);
  const text = await reply.text();
  return text.startsWith('{') ? JSON.parse(text) : text;
}

beforeAll(async () => {
  folder = temporaryFolder('backup');
  const dataDir = join(folder, 'data');
  const service = await Service.start({ dataDir });
  try {
    await administer(service, 'PUT', '/api/v1/role/reads', [{ privilege: 'reader' }]);
    const made = await administer(service, 'POST', '/api/console/v1/apikeys', {
      keyName: 'k',
      roles: ['reads'],
    });
    ({ apiKey } = made as { apiKey: string });
    await service.ingest('app', [{ n: 1 }]);
    await service.drained();
    // Still in the log when the service stops, or not: both are in the copy.
    await service.ingest('app', [{ n: 2 }]);
    await service.stop();
  } finally {
    await service.dispose();
  }
  // As the page does it.
  const archive = join(folder, 'backup.tar.gz');
  execFileSync('tar', ['-C', folder, '-czf', archive, 'data']);
  removeFolder(dataDir);
  execFileSync('tar', ['-C', folder, '-xzf', archive]);
  restored = await Service.start({ dataDir });
});
afterAll(async () => {
  await restored?.dispose();
  removeFolder(folder);
});

test('every row is there once', async () => {
  await restored.drained();
  expect(await restored.query('SELECT n FROM app ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
});

test('keys and roles are there', async () => {
  const headers = { 'x-api-key': apiKey };
  expect((await fetch(`${restored.url}/api/v1/about`, { headers })).status).toBe(200);
});

test('new rows go on where the old ones end', async () => {
  await restored.ingest('app', [{ n: 3 }]);
  await restored.drained();
  expect(await restored.query('SELECT count(*) AS n FROM app')).toEqual([{ n: 3 }]);
});

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ClickHouseServer, openStoreOn } from '../support/clickhouse/clickhouse-server.ts';
import { testStore } from '../support/clickhouse/test-store.ts';
import { removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { testSeed } from '../support/lib/seed.ts';
import { authorization, Service } from '../support/service/service.ts';
import { runStoreKillRounds } from '../support/service/store-kill-rounds.ts';

/** The built service on a ClickHouse server. */
async function startService(server: ClickHouseServer): Promise<Service> {
  const service = await Service.start({ env: { MILLRACE_CLICKHOUSE_URL: server.url } });
  onTestFinished(() => service.dispose());
  return service;
}

/** The rows of a SELECT on the server itself. */
async function ask<T>(server: ClickHouseServer, query: string): Promise<T[]> {
  const store = testStore(openStoreOn(server), async () => {});
  try {
    return await store.rows<T>(query);
  } finally {
    await store.close();
  }
}

/** Creates a dataset with a time field. */
async function makeTimed({ url }: Service): Promise<void> {
  const headers = { authorization, 'x-p-time-partition': 'at' };
  const reply = await fetch(`${url}/api/v1/logstream/timed`, { method: 'PUT', headers });
  expect([reply.status, await reply.text()]).toEqual([200, 'Log stream created']);
}

const readiness = async (service: Service): Promise<unknown> =>
  await (await fetch(`${service.url}/api/v1/readiness`)).json();

test('an older copy of a data directory is refused beside the server that has gone on', async () => {
  const server = await ClickHouseServer.start();
  onTestFinished(() => server.dispose());
  const folder = temporaryFolder('older');
  onTestFinished(() => removeFolder(folder));
  const dataDir = join(folder, 'data');
  const env = { MILLRACE_CLICKHOUSE_URL: server.url };
  const service = await Service.start({ dataDir, env });
  onTestFinished(() => service.dispose());
  await service.ingest('app', [{ n: 1 }]);
  await service.drained();
  await service.stop();
  const older = join(folder, 'older');
  cpSync(dataDir, older, { recursive: true });
  // The same state as the server's: a move.
  const moved = await Service.start({ dataDir: older, env });
  await moved.stop();
  await service.restart();
  for (const n of [2, 3, 4]) {
    await service.ingest('app', [{ n }]);
    await service.drained();
  }
  await service.stop();
  await expect(Service.start({ dataDir: older, env })).rejects.toThrow(
    /the data directory .*older is older than what the ClickHouse server has of it/,
  );
  await service.restart();
  expect(await service.query('SELECT count(*) AS n FROM app')).toEqual([{ n: 4 }]);
});

describe('one service and its server', () => {
  let server: ClickHouseServer;
  let service: Service;
  beforeAll(async () => {
    server = await ClickHouseServer.start();
    service = await Service.start({ env: { MILLRACE_CLICKHOUSE_URL: server.url } });
  });
  afterAll(async () => {
    await service?.dispose();
    await server?.dispose();
  });

  test('a server that stores and then cuts the connection has it once', async () => {
    await server.expect({ kind: 'cut', when: 'after' }, /^INSERT INTO `t_default`/, 1);
    // The rows are then looked for: they are sent once more, into a table next to the target.
    await server.expect({ kind: 'cut', when: 'after' }, /^INSERT INTO `millrace`.*compar/, 2);
    await service.ingest('cut', [{ n: 1 }, { n: 2 }]);
    await service.drained();
    expect(await server.faultsLeft()).toBe(0);
    const rows = await ask<{ n: number }>(
      server,
      'SELECT `n:num` AS n FROM t_default.`cut.events` ORDER BY n',
    );
    expect(rows.map(({ n }) => n)).toEqual([1, 2]);
  });

  test('a service stops in time while its server hangs, and loses nothing', async () => {
    await service.ingest('hung', [{ n: 1 }]);
    await service.drained();
    server.pause();
    await service.ingest('hung', [{ n: 2 }]);
    await sleep(1500); // The segment is sealed and its insert is on its way.
    expect(await service.stop(), service.child.report()).toEqual({ code: 0, signal: null });
    server.resume();
    await service.restart();
    await service.drained();
    const rows = await ask<{ n: number }>(
      server,
      'SELECT `n:num` AS n FROM t_default.`hung.events` ORDER BY n',
    );
    expect(rows.map(({ n }) => n)).toEqual([1, 2]);
  }, 60_000);

  test('what is ingested is on the server, and its password is told to nobody', async () => {
    expect(await readiness(service)).toEqual({ status: 'ready', store: 'available' });
    expect(await service.ingest('app', [{ level: 'info', n: 1 }, { level: 'error' }])).toBe(2);
    await service.drained();
    expect(await ask(server, 'SELECT count() AS rows FROM t_default.`app.events`')).toEqual([{ rows: 2 }]);
    expect(await service.query('SELECT level FROM app ORDER BY level')).toEqual([
      { level: 'error' },
      { level: 'info' },
    ]);
    expect(service.child.stdout).toContain(`ClickHouse at http://127.0.0.1:${server.port}\n`);
    await service.stop();
    const { password } = ClickHouseServer;
    for (const secret of [password, encodeURIComponent(password)]) {
      expect(service.child.stdout + service.child.stderr).not.toContain(secret);
    }
  });
});

test('without its server the service starts and takes writes, which arrive when the server comes', async () => {
  const server = await ClickHouseServer.prepare();
  onTestFinished(() => server.dispose());
  const service = await startService(server);
  expect(await readiness(service)).toEqual({ status: 'ready', store: 'unavailable' });
  expect(await service.ingest('early', [{ n: 1 }, { n: 2 }])).toBe(2);
  await service.kill();
  await service.restart();
  expect(await service.ingest('early', [{ n: 3 }])).toBe(1);
  for (const dataset of ['early', 'unheard_of']) {
    const query = service.query(`SELECT count(*) FROM ${dataset}`);
    await expect(query).rejects.toThrow(/: 503 .*"store_unavailable"/);
  }

  await server.start();
  await service.drained();
  const rows = await ask<{ n: number }>(
    server,
    'SELECT `n:num` AS n FROM t_default.`early.events` ORDER BY n',
  );
  expect(rows.map(({ n }) => n)).toEqual([1, 2, 3]);
  await expect
    .poll(() => readiness(service))
    .toEqual({
      status: 'ready',
      store: 'available',
    });

  // A start without the server knows the options of datasets.
  await makeTimed(service);
  await server.kill();
  await service.kill();
  await service.restart();
  await expect(service.ingest('timed', [{ n: 1 }])).rejects.toThrow(/: 400 .*lacks the field/);
  expect(await service.ingest('timed', [{ at: 1_700_000_000 }])).toBe(1);
  const again = await fetch(`${service.url}/api/v1/logstream/other`, {
    method: 'PUT',
    headers: { authorization },
  });
  expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([503, 'store_unavailable']);
  await server.start();
  await service.drained();
  expect(
    await ask(server, 'SELECT toUnixTimestamp(p_timestamp) AS at FROM t_default.`timed.events`'),
  ).toEqual([{ at: 1_700_000_000 }]);
}, 120_000);

test('a server that is killed and started again and again under load has every acknowledged row once', async () => {
  const seed = testSeed;
  const report = await runStoreKillRounds({ rounds: 4, seed });
  const { acknowledgedRows, failedInserts } = report;
  expect(report, `seed ${seed}`).toEqual({
    acknowledgedRows,
    failedInserts,
    storedRows: acknowledgedRows,
    lostRows: 0,
    duplicatedRows: 0,
    problems: [],
  });
  // Otherwise the test could pass with few rows, or with kills that nothing noticed.
  expect(acknowledgedRows, `seed ${seed}`).toBeGreaterThan(2500);
  expect(failedInserts, `seed ${seed}`).toBeGreaterThan(0);
}, 120_000);

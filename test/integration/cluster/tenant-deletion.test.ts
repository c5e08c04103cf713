import { afterAll, beforeAll, expect, it } from 'vitest';
import { TenantDatabases } from '../../../src/catalog/tenant-databases.ts';
import { Tenants } from '../../../src/catalog/tenants.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, withFault } from '../../support/wal/write-path.ts';

const at = '2026-01-01T00:00:00.000Z';
let test: TestStore;
let tenants: Tenants;
beforeAll(async () => {
  test = await openTestStore();
  const log = new MetadataLog(test.store, 'node-1');
  await log.prepare();
  tenants = new Tenants(log);
  await tenants.refresh();
});
afterAll(() => test?.close());

const make = async (name: string): Promise<string> => (await tenants.create(name, at)).tenant.id;

const ids = async (tenant: string, dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM \`t_${tenant}\`.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

const hasDatabase = async (tenant: string): Promise<boolean> =>
  (await test.rows(`SELECT 1 FROM system.databases WHERE name = 't_${tenant}'`)).length > 0;

const sweep = () => new TenantDatabases(test.store).forgetEnded((tenant) => tenants.hasEnded(tenant));

it('the end of a tenant leaves out what the log still has of it, and stores the rest of the segment', async () => {
  const first = await make('acme');
  const { wal, write, finish, metrics } = await startWritePath({
    files: new MemoryFiles(),
    store: test.store,
    tenants,
  });
  await write('app', [{ id: 1 }], first);
  await write('app', [{ id: 2 }]);
  await tenants.end('acme');
  const second = await make('acme');
  await write('app', [{ id: 3 }], second);
  await finish();
  expect(wal.pendingSegments).toBe(0);
  expect(await hasDatabase(first)).toBe(false);
  expect(await ids('default', 'app')).toEqual([2]);
  expect(await ids(second, 'app')).toEqual([3]);
  expect((await metrics.insertFailures.get()).values[0]?.value).toBe(0);
});

it('the end of a tenant holds after a crash', async () => {
  const files = new MemoryFiles();
  const tenant = await make('crashed');
  const { write } = await startWritePath({ files, store: test.store, tenants });
  await write('app', [{ id: 1 }], tenant);
  await write('crashed', [{ id: 2 }]);
  await tenants.end('crashed');

  const fresh = new Tenants(new MetadataLog(test.store, 'node-1'));
  const next = await startWritePath({ files: files.afterPowerCut(), store: test.store, tenants: fresh });
  await next.finish();
  expect(next.wal.pendingSegments).toBe(0);
  expect(await hasDatabase(tenant)).toBe(false);
  expect(await ids('default', 'crashed')).toEqual([2]);
});

it('the end of a tenant under an insert fails nothing but that insert, and leaves no database behind', async () => {
  const tenant = await make('busy');
  const store = withFault(test.store, async (batch, insert) => {
    if (batch.database === `t_${tenant}`) {
      await tenants.end('busy');
      await sweep();
    }
    await insert();
  });
  const { wal, write, finish, deadLetters, metrics } = await startWritePath({
    files: new MemoryFiles(),
    store,
    tenants,
  });
  await write('app', [{ id: 1 }], tenant);
  await write('beside', [{ id: 2 }]);
  await finish();
  expect(wal.pendingSegments).toBe(0);
  expect(await hasDatabase(tenant)).toBe(false);
  expect(deadLetters.names()).toEqual([]);
  expect((await metrics.insertFailures.get()).values[0]?.value).toBe(0);
  expect(await ids('default', 'beside')).toEqual([2]);
});

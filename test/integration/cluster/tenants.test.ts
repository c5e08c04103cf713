import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { TenantCleaner, type TenantHolder } from '../../../src/catalog/tenant-cleaner.ts';
import { TenantDatabases } from '../../../src/catalog/tenant-databases.ts';
import { Tenants } from '../../../src/catalog/tenants.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { MetadataReplica } from '../../../src/metadata/metadata-replica.ts';
import { databaseOf } from '../../../src/model/dataset.ts';
import { defaultLimits } from '../../../src/model/tenant-limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { waitFor } from '../http/http-harness.ts';

const at = '2026-01-01T00:00:00.000Z';
const time = { name: 'p_timestamp', type: "DateTime64(6, 'UTC')" };
let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
  await new MetadataLog(test.store, 'node').prepare();
});
afterAll(() => test?.close());

async function openTenants(node: string): Promise<Tenants> {
  const tenants = new Tenants(new MetadataLog(test.store, node));
  await tenants.refresh();
  return tenants;
}

async function databases(): Promise<string[]> {
  const bytes = await test.store.select('SELECT name FROM system.databases', 'JSONCompactEachRow');
  return [
    ...Buffer.from(bytes)
      .toString('utf8')
      .matchAll(/\["(.*)"\]/g),
  ].map(([, name = '']) => name);
}

describe('the tenants', () => {
  it('have limits of their own, on every node and after a restart, until they end', async () => {
    const [one, two] = [await openTenants('one'), await openTenants('two')];
    await one.create('bounded', at);
    const own = { maxDatasets: 3, tenantIngestBytesPerSecond: Number.POSITIVE_INFINITY };
    expect(await one.setLimits('bounded', own)).toEqual({
      ...one.get('bounded'),
      id: 'bounded',
      createdAt: at,
      limits: own,
    });
    await one.setLimits('default', { maxColumns: 20 });
    await two.refresh();
    for (const node of [one, two, await openTenants('later')]) {
      expect(node.limitsOf('bounded')).toEqual({
        ...defaultLimits,
        ...own,
        setBy: { ...defaultLimits.setBy, maxDatasets: 'tenant', tenantIngestBytesPerSecond: 'tenant' },
      });
      expect(node.get('bounded')).toMatchObject({ id: 'bounded', createdAt: at });
      expect(node.limitsOf('default').maxColumns).toBe(20);
      expect(node.idOf('default')).toBe('default');
    }
    await two.setLimits('default', {});
    await two.end('bounded');
    expect((await two.create('bounded', at)).tenant).toMatchObject({ id: 'bounded.2', limits: {} });
    await one.refresh();
    for (const id of ['bounded', 'bounded.2', 'default']) expect(one.limitsOf(id)).toBe(defaultLimits);
    await expect(one.setLimits('nobody', {})).rejects.toMatchObject({ code: 'tenant_not_found' });
    await one.end('bounded');
  });

  it('are not known before the log has been read, but for the default one', () => {
    const tenants = new Tenants(new MetadataLog(test.store, 'early'));
    expect(tenants.idOf('default')).toBe('default');
    expect(tenants.hasEnded('acme')).toBe(false);
    for (const ask of [() => tenants.idOf('acme'), () => tenants.list(), () => tenants.get('acme')]) {
      expect(ask).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    }
  });

  it('get another id each time they are made, the same on every node', async () => {
    const [one, two] = [await openTenants('one'), await openTenants('two')];
    expect((await one.create('acme', at)).tenant).toMatchObject({ id: 'acme', name: 'acme', createdAt: at });
    expect(await one.create('acme', at)).toMatchObject({ made: false, tenant: { id: 'acme' } });
    await one.end('acme');
    expect(one.idOf('acme')).toBeUndefined();
    expect(one.hasEnded('acme')).toBe(true);
    expect((await two.create('acme', at)).tenant.id).toBe('acme.2');
    await one.refresh();
    expect(one.idOf('acme')).toBe('acme.2');
    expect([one.hasEnded('acme'), one.hasEnded('acme.2')]).toEqual([true, false]);
    expect(one.list()).toEqual(two.list());
    const later = await openTenants('later');
    expect(later.list()).toEqual(two.list());
    expect(later.hasEnded('acme')).toBe(true);
  });

  it('have names that differ by more than the case of letters', async () => {
    const tenants = await openTenants('one');
    await tenants.create('Globex', at);
    await expect(tenants.create('globex', at)).rejects.toMatchObject({ code: 'tenant_exists' });
    await expect(tenants.create('DEFAULT', at)).rejects.toMatchObject({ code: 'tenant_exists' });
    expect(tenants.idOf('globex')).toBeUndefined();
    await tenants.end('Globex');
    // Another database, even on a file system that does not distinguish the two names.
    expect((await tenants.create('globex', at)).tenant.id).toBe('globex.2');
    expect(tenants.hasEnded('Globex')).toBe(true);
  });

  it('are made and ended once, whoever tries at the same time', async () => {
    const nodes = await Promise.all(['a', 'b', 'c', 'd'].map(openTenants));
    const made = await Promise.allSettled(nodes.map((tenants) => tenants.create('raced', at)));
    const outcomes = made.map((each) =>
      each.status === 'fulfilled' ? each.value.made : (each.reason as { code: string }).code,
    );
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(1);
    for (const other of outcomes.filter((outcome) => outcome !== true)) {
      expect([false, 'identity_changed']).toContain(other);
    }
    const ended = await Promise.allSettled(nodes.map((tenants) => tenants.end('raced')));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all(nodes.map((tenants) => tenants.refresh()));
    for (const tenants of nodes) expect(tenants.hasEnded('raced')).toBe(true);
    const again = await nodes[3]?.create('raced', at);
    expect(again?.tenant.id).toBe('raced.2');
  });
});

describe('what an ended tenant had', () => {
  it('leaves the catalog and the store, and no write brings it back', async () => {
    const tenants = await openTenants('one');
    const { id } = (await tenants.create('gone', at)).tenant;
    await tenants.create('stays', at);
    const catalog = new Catalog(test.store, new MetadataLog(test.store, 'one'), tenants);
    await catalog.load();
    for (const tenant of [id, 'stays']) {
      catalog.claim(tenant, 'app', 'events', [time]).confirm();
      await catalog.ensure(tenant, 'app', 'events', [time]);
    }
    expect(await databases()).toEqual(expect.arrayContaining([databaseOf(id), databaseOf('stays')]));

    const claim = catalog.claim(id, 'late', 'events', [time]);
    await tenants.end('gone');
    claim.confirm();
    const hasEnded = (tenant: string) => tenants.hasEnded(tenant);
    await catalog.forgetEnded(hasEnded);
    await new TenantDatabases(test.store).forgetEnded(hasEnded);
    expect(await databases()).not.toContain(databaseOf(id));
    expect(await databases()).toContain(databaseOf('stays'));
    expect(catalog.list(id)).toEqual([]);
    expect(catalog.list('stays').map(({ name }) => name)).toEqual(['app']);
    expect(() => catalog.claim(id, 'app', 'events', [time])).toThrow(
      expect.objectContaining({ code: 'tenant_not_found' }),
    );
    catalog.recover(id, 'app', 'events');
    expect(catalog.get(id, 'app')).toBeUndefined();

    const after = new Catalog(test.store, new MetadataLog(test.store, 'one'), await openTenants('one'));
    await after.load();
    expect(after.list(id)).toEqual([]);
    expect(after.get('stays', 'app')).toMatchObject({ ready: true });
  });

  it('leaves the metadata log, which goes on as before', async () => {
    const log = new MetadataLog(test.store, 'one');
    const tenants = await openTenants('one');
    const { id } = (await tenants.create('remembered', at)).tenant;
    const write = (tenant: string, key: string) =>
      log.append({ tenant, kind: 'role', key, id: `${tenant} ${key}`, base: '', value: '[]' });
    for (const key of ['a', 'b']) {
      await write(id, key);
      await write('default', key);
    }
    const read = new MetadataReplica(log, ['role'], () => {});
    await read.refresh();
    const before = (await log.read(['role'])).filter(({ tenant }) => tenant === 'default');
    expect(before.map(({ key }) => key)).toEqual(['a', 'b']);

    await tenants.end('remembered');
    const position = read.position;
    await log.removeEnded((tenant) => tenants.hasEnded(tenant));
    expect(await test.rows(`SELECT 1 FROM millrace.metadata WHERE tenant = '${id}'`)).toEqual([]);
    expect(await log.read(['role'])).toEqual(before);
    expect((await openTenants('later')).hasEnded(id)).toBe(true);
    await write('default', 'c');
    await read.refresh();
    expect(read.position).toBeGreaterThan(position);
    expect(read.get('default', 'role', 'c')).toBeDefined();
    // Merged and changed again, the parts still number their entries.
    await test.store.command('OPTIMIZE TABLE millrace.metadata FINAL');
    await write('default', 'd');
    expect((await log.read(['role'], position)).map(({ key }) => key)).toEqual(['c', 'd']);
  });

  it('goes after the schema changes that were under way', async () => {
    const tenants = await openTenants('one');
    const { id } = (await tenants.create('busy', at)).tenant;
    const catalog = new Catalog(test.store, new MetadataLog(test.store, 'one'), tenants);
    await catalog.load();
    catalog.claim(id, 'app', 'events', [time]).confirm();
    const making = catalog.ensure(id, 'app', 'events', [time]);
    const ended = tenants.end('busy');
    await ended;
    await catalog.forgetEnded((tenant) => tenants.hasEnded(tenant));
    await new TenantDatabases(test.store).forgetEnded((tenant) => tenants.hasEnded(tenant));
    await making.catch((error: unknown) => expect(error).toMatchObject({ code: 'tenant_not_found' }));
    expect(await databases()).not.toContain(databaseOf(id));
  });
});

describe('the cleaner', () => {
  const cleanerOf = (...holders: TenantHolder[]) => {
    const timers = { ...systemClock, after: (_: number, action: () => void) => systemClock.after(1, action) };
    const cleaner = new TenantCleaner({ hasEnded: () => true, timers, log: createLogger('silent') });
    cleaner.add(...holders);
    return cleaner;
  };

  it('asks all holders again until none fails, and says after the first time that it has tried', async () => {
    const asked: string[] = [];
    let failures = 3;
    const cleaner = cleanerOf(
      { forgetEnded: () => void asked.push('first') },
      {
        forgetEnded: async () => {
          asked.push('second');
          failures -= 1;
          if (failures >= 0) throw new Error('not yet');
        },
      },
      { forgetEnded: () => void asked.push('third') },
    );
    await cleaner.clean();
    expect(asked).toEqual(['first', 'second']);
    await waitFor(() => asked.length === 9);
    expect(asked.slice(-3)).toEqual(['first', 'second', 'third']);
    await cleaner.clean();
    expect(asked).toHaveLength(12);
    await cleaner.stop();
  });

  it('begins again for an end that comes while it is at work', async () => {
    let asked = 0;
    let goOn = () => {};
    const cleaner = cleanerOf({
      forgetEnded: () => {
        asked += 1;
        return new Promise<void>((done) => {
          goOn = done;
        });
      },
    });
    const first = cleaner.clean();
    const second = cleaner.clean();
    goOn();
    await first;
    await waitFor(() => asked === 2);
    goOn();
    await second;
    await cleaner.stop();
    await cleaner.clean();
    expect(asked).toBe(2);
  });
});

// The last one, since it leaves no room for others.
it('tenants are bounded in number', async () => {
  const tenants = await openTenants('many');
  const missing = limits.maxTenants - tenants.list().length;
  const value = (name: string) => JSON.stringify({ name, createdAt: at });
  const entry = (name: string) => `('many', '', 'tenant', '${name}', '${value(name)}', '${name}', '')`;
  const names = Array.from({ length: missing }, (_, index) => `many${index}`);
  await test.store.command(
    `INSERT INTO millrace.metadata (node, tenant, kind, key, value, id, base) VALUES ${names.map(entry).join(', ')}`,
  );
  await expect(tenants.create('onemore', at)).rejects.toMatchObject({ code: 'too_many_tenants' });
  await tenants.end('many0');
  expect((await tenants.create('onemore', at)).made).toBe(true);
});

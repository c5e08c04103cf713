import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Tenants } from '../../../src/catalog/tenants.ts';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { Lease } from '../../../src/cluster/lease.ts';
import { MetadataFollower } from '../../../src/cluster/metadata-follower.ts';
import { NodeRegistry } from '../../../src/cluster/nodes.ts';
import { DocumentStore } from '../../../src/documents/document-store.ts';
import { IdentityStore } from '../../../src/identity/identity-store.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { waitFor } from '../http/http-harness.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store?.close());

describe('following the metadata log', () => {
  it('begins when the store can be read, goes on where others write, and ends when told', async () => {
    const log = new MetadataLog(store.store, 'one');
    const identityStore = new IdentityStore(log, new Tenants(log), () => {});
    let ready = false;
    // A second passes in a moment.
    const timers = {
      ...systemClock,
      after: (_: number, action: () => void) => systemClock.after(10, action),
    };
    const lease = new Lease({
      registry: new NodeRegistry(store.store, 'one'),
      leaseMs: 60_000,
      position: () => ({ identities: identityStore.position, tenants: 0, datasets: 0 }),
      timers,
    });
    const follower = new MetadataFollower({
      identityStore,
      catalog: { refresh: () => Promise.resolve() },
      storeReady: () => ready,
      lease,
      timers,
      log: createLogger('silent'),
    });
    await follower.start();
    expect(identityStore.loaded).toBe(false);
    expect(() => identityStore.roles('default')).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );

    // A store that answers and has no tables yet is a failure like any other: it is tried again.
    ready = true;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(identityStore.loaded).toBe(false);
    await log.prepare();
    await waitFor(() => identityStore.loaded);

    const write = (key: string) =>
      log.append({ tenant: 'default', kind: 'role', key, id: key, base: '', value: '[]' });
    await write('seen');
    await waitFor(() => identityStore.role('default', 'seen') !== undefined);
    await follower.stop();
    await write('unseen');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(identityStore.role('default', 'unseen')).toBeUndefined();
  });

  it('has a document that one node makes on the other one after a poll', async () => {
    const node = (name: string) => {
      const log = new MetadataLog(store.store, name);
      const documents = new DocumentStore({
        log,
        hasEnded: () => false,
        clock: systemClock,
        metrics: createMetrics(),
      });
      const identityStore = new IdentityStore(log, new Tenants(log), () => {});
      return { log, documents, identityStore };
    };
    const [one, two] = [node('one'), node('two')];
    // The next poll is when the test says.
    let poll = () => {};
    const timers = {
      ...systemClock,
      after: (ms: number, action: () => void) => {
        if (ms !== limits.metadataPollIntervalMs) return systemClock.after(ms, action);
        poll = action;
        return () => {};
      },
    };
    const registry = new NodeRegistry(store.store, 'two');
    const position = () => ({ identities: two.identityStore.position, tenants: 0, datasets: 0 });
    let reads = 0;
    const failing = {
      loaded: false,
      refresh: () => {
        reads += 1;
        return Promise.reject(new StoreError('no answer, for this test', undefined, undefined));
      },
    };
    const lease = new Lease({ registry, leaseMs: 60_000, position, timers });
    const follower = new MetadataFollower({
      identityStore: two.identityStore,
      catalog: { refresh: () => Promise.resolve() },
      followed: [failing, two.documents],
      storeReady: () => true,
      lease,
      timers,
      log: createLogger('silent'),
    });
    await one.log.prepare();
    await one.documents.refresh();
    await follower.start();
    const principal = { kind: 'user', name: 'a', tenant: 'default', privileges: [] } as const;
    const { id } = await one.documents.create({ principal, tenant: 'default' }, 'alert', { title: 'a' });
    expect(two.documents.list('default', 'alert')).toEqual([]);
    poll();
    await waitFor(() => two.documents.get('default', 'alert', id) !== undefined);
    // What fails is tried again with the next poll, and takes nothing from the others.
    expect(reads).toBe(2);
    lease.requireCurrent();
    await follower.stop();
  });

  it('reads once where nobody else writes', async () => {
    const log = new MetadataLog(store.store, 'one');
    let reads = 0;
    const identityStore = new IdentityStore(log, new Tenants(log), () => {});
    const counting = Object.assign(identityStore, {
      refresh: () => {
        reads += 1;
        return IdentityStore.prototype.refresh.call(identityStore);
      },
    });
    const timers = { ...systemClock, after: (_: number, action: () => void) => systemClock.after(5, action) };
    const options = { storeReady: () => true, lease: undefined, timers, log: createLogger('silent') };
    const follower = new MetadataFollower({
      identityStore: counting,
      catalog: { refresh: () => Promise.resolve() },
      ...options,
    });
    await follower.start();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(reads).toBe(1);
    await follower.stop();
  });
});

import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { StoreMonitor } from '../../../src/catalog/store-monitor.ts';
import { isTooOld } from '../../../src/clickhouse/engine-version.ts';
import type { Store } from '../../../src/clickhouse/store.ts';
import { type Clock, systemClock, type Timers } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { ClickHouseServer, openStoreOn } from '../../support/clickhouse/clickhouse-server.ts';

let server: ClickHouseServer;
afterEach(() => server.dispose());

function watch(store: Store, clock: Clock & Timers = systemClock) {
  const log = createLogger('silent');
  const said = { error: vi.spyOn(log, 'error'), info: vi.spyOn(log, 'info') };
  const metrics = createMetrics();
  const catalog = new Catalog(store, new MetadataLog(store, 'node-1'));
  const monitor = new StoreMonitor({ store, catalog, clock, log, metrics });
  onTestFinished(async () => {
    monitor.stop();
    await store.close();
  });
  const up = async () => (await metrics.storeUp.get()).values[0]?.value;
  return { monitor, catalog, said, up };
}

const eventually = { timeout: 60_000, interval: 50 };

describe('the monitor of the store', () => {
  it('loads the catalog before the start goes on, when the store answers', async () => {
    server = await ClickHouseServer.start();
    const { monitor, catalog, up } = watch(openStoreOn(server));
    await monitor.start();
    expect(monitor.available).toBe(true);
    expect(catalog.list('default')).toEqual([]);
    expect(await up()).toBe(1);
  });

  it('lets the start go on without a store, and sees it come, go and come again', async () => {
    server = await ClickHouseServer.prepare();
    const { monitor, catalog, said, up } = watch(openStoreOn(server));
    await monitor.start();
    expect(monitor.available).toBe(false);
    expect(await up()).toBe(0);

    await server.start();
    await vi.waitUntil(() => monitor.available, eventually);
    expect(catalog.loaded).toBe(true);

    await server.kill();
    await vi.waitUntil(() => !monitor.available, eventually);
    await server.start();
    await vi.waitUntil(() => monitor.available, eventually);
    expect(await up()).toBe(1);
    const lines = [said.error.mock.calls, said.info.mock.calls].map((calls) => calls.map(([, text]) => text));
    expect(lines).toEqual([
      Array.from({ length: 2 }, () => 'the store does not answer; writes go to the log, queries wait'),
      Array.from({ length: 2 }, () => 'the store answers'),
    ]);
  });

  it('does not wait long for a store that hangs', async () => {
    server = await ClickHouseServer.start();
    server.pause();
    // Its longest wait is over in a moment here, and no answer ever comes.
    const waits: number[] = [];
    const clock: Clock & Timers = {
      ...systemClock,
      after: (ms, action) => {
        waits.push(ms);
        return systemClock.after(ms === limits.storeStartWaitMs ? 10 : ms, action);
      },
    };
    const { monitor } = watch(openStoreOn(server), clock);
    await monitor.start();
    expect(waits).toEqual([limits.storeStartWaitMs]);
    expect(monitor.available).toBe(false);
    server.resume();
    await vi.waitUntil(() => monitor.available, eventually);
  });

  it('stops the start when the store answers that it will never do', async () => {
    server = await ClickHouseServer.start();
    const store = openStoreOn(server);
    const old: Store = {
      command: (statement) => store.command(statement),
      select: async (query, format) =>
        query === 'SELECT version()' ? Buffer.from('["25.8.1.2"]\n') : await store.select(query, format),
      insert: (batch) => store.insert(batch),
      close: () => store.close(),
    };
    const { monitor, catalog } = watch(old);
    await expect(monitor.start()).rejects.toThrow('the store is ClickHouse 25.8.1.2; Millrace needs 26.3');
    expect(catalog.loaded).toBe(false);
  });

  it.each([
    ['25.11.4.1', true],
    ['26.2.9.9', true],
    ['26.3.1.1', false],
    ['26.10.1.1', false],
    ['27.1.1.1', false],
  ])('takes version %s for too old: %s', (version, tooOld) => {
    expect(isTooOld(version)).toBe(tooOld);
  });
});

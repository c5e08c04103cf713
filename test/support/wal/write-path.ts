import { Catalog } from '../../../src/catalog/catalog.ts';
import type { Tenants } from '../../../src/catalog/tenants.ts';
import type { InsertBatch, Store } from '../../../src/clickhouse/store.ts';
import { DeadLetters } from '../../../src/drain/dead-letters/letters.ts';
import { Drain } from '../../../src/drain/drain.ts';
import type { LowVolumeOptions } from '../../../src/drain/low-volume-tables.ts';
import { resume } from '../../../src/drain/resume.ts';
import { type Clock, systemClock, type Timers } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { SharedLock } from '../../../src/lib/shared-lock.ts';
import { Signal } from '../../../src/lib/signal.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import type { TableBlock } from '../../../src/model/block.ts';
import { type DatasetKind, defaultTenant } from '../../../src/model/dataset.ts';
import { Backlog } from '../../../src/wal/backlog.ts';
import { recoverWal } from '../../../src/wal/recovery.ts';
import { Wal } from '../../../src/wal/wal.ts';
import type { WalFiles } from '../../../src/wal/wal-files.ts';
import { eventBlocks } from '../clickhouse/event-blocks.ts';
import { MemoryFiles } from './memory-files.ts';

const log = createLogger('silent');
export const testNode = 'node-1';

export interface WritePathOptions {
  readonly files: WalFiles;
  readonly store: Store;
  readonly dead?: WalFiles;
  readonly clock?: Clock & Timers;
  readonly tenants?: Tenants;
  /** Called when a dataset was deleted. */
  readonly onEnd?: () => void;
  readonly storeReturned?: Signal;
  readonly onNoAnswer?: () => void;
  readonly lowVolume?: LowVolumeOptions;
  readonly storeWrites?: SharedLock;
  readonly beforeRemove?: () => Promise<void>;
}

/** One run of the log, the drain and the catalog, on a directory that earlier runs may have used. */
export async function startWritePath(options: WritePathOptions) {
  const { files, store, dead = new MemoryFiles(), clock = systemClock, tenants, onEnd } = options;
  const { storeReturned = new Signal(), onNoAnswer = () => {} } = options;
  const { lowVolume = { maxWaitMs: limits.lowVolumeFlushIntervalMs, maxBytes: limits.walMaxRetainedBytes } } =
    options;
  const { storeWrites, beforeRemove } = options;
  const metrics = createMetrics();
  const catalog = new Catalog(store, new MetadataLog(store, testNode), tenants, onEnd);
  await catalog.load();
  const recovery = await recoverWal(files, log, metrics);
  const backlog = new Backlog(files);
  const deadLetters = await DeadLetters.open({ files: dead, metrics, log });
  const drain = new Drain({
    node: testNode,
    backlog,
    store,
    catalog,
    deadLetters,
    clock,
    log,
    metrics,
    storeReturned,
    onNoAnswer,
    lowVolume,
    ...(storeWrites === undefined ? {} : { storeWrites }),
    ...(beforeRemove === undefined ? {} : { beforeRemove }),
  });
  resume(recovery, { catalog, backlog, drain });
  const wal = await Wal.open({
    files,
    clock,
    log,
    metrics,
    recovery,
    backlog,
    maxBytes: limits.walMaxBytes,
    segmentMaxAgeMs: 60_000,
    onSealed: (segment) => drain.add(segment),
  });
  /** Stores a decoded request. */
  const append = async (
    dataset: string,
    kind: DatasetKind,
    blocks: readonly TableBlock[],
    tenant = defaultTenant,
  ) => {
    const columns = blocks.flatMap((block) => block.columns);
    const id = catalog.idOf(tenant, dataset);
    const claim = catalog.claim(tenant, id, kind, columns);
    await wal.append({ tenant, dataset: id, kind, blocks });
    claim.confirm();
  };
  const write = (dataset: string, events: object[], tenant?: string) =>
    append(dataset, 'events', eventBlocks(events), tenant);
  /** Stops in order, when the store has everything in the log. */
  const finish = async () => {
    await wal.close();
    drain.start();
    await drain.stop(60_000);
  };
  return { wal, drain, catalog, backlog, deadLetters, metrics, append, write, finish };
}

/** The real store, with a fault before or after the insert reached it. */
export function withFault(
  store: Store,
  fault: (batch: InsertBatch, insert: () => Promise<void>) => Promise<void>,
): Store {
  return {
    command: (statement) => store.command(statement),
    select: (query, format) => store.select(query, format),
    insert: (batch) => fault(batch, () => store.insert(batch)),
    close: async () => {},
  };
}

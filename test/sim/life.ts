import { Catalog } from '../../src/catalog/catalog.ts';
import { StoreMonitor } from '../../src/catalog/store-monitor.ts';
import { DeadLetters } from '../../src/drain/dead-letters/letters.ts';
import { Drain } from '../../src/drain/drain.ts';
import { resume } from '../../src/drain/resume.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { MetadataLog } from '../../src/metadata/metadata-log.ts';
import { Backlog } from '../../src/wal/backlog.ts';
import { recoverWal } from '../../src/wal/recovery.ts';
import { Wal } from '../../src/wal/wal.ts';
import { checkInserted, checkRecovered } from './invariants.ts';
import type { SimProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** One life of the service's durable path: from its start to its stop, or to the moment it is killed. */
export interface Life {
  readonly process: SimProcess;
  readonly catalog: Catalog;
  readonly backlog: Backlog;
  readonly drain: Drain;
  readonly monitor: StoreMonitor;
  readonly wal: Wal;
  /** The longest pause of a sender between two requests. */
  readonly pauseMs: number;
}

const node = 'node-1';
/** Shared by all lives: each registry watches the garbage collector until the process ends. */
const metrics = createMetrics();

/** Puts the parts together as `startApp` does. */
export async function startLife(world: World, process: SimProcess): Promise<Life> {
  const { log } = world;
  const { random } = world.scheduler;
  const store = world.store.connect(process, (batch) => checkInserted(world, node, batch));
  const catalog = new Catalog(store, new MetadataLog(store, node));
  const monitor = new StoreMonitor({ store, catalog, clock: process, log, metrics });
  await monitor.start();

  const files = world.disk.mount(process);
  const recovery = await recoverWal(files, log, metrics);
  checkRecovered(world, recovery.segments);
  const backlog = new Backlog(files, random.integer(0, 20_000));
  const deadLetters = await DeadLetters.open({ files: world.deadLetters.mount(process), log, metrics });
  const drain = new Drain({
    node,
    backlog,
    store,
    catalog,
    deadLetters,
    log,
    metrics,
    clock: process,
    storeReturned: monitor.returned,
    onNoAnswer: () => monitor.suspect(),
    lowVolume: world.lowVolume,
  });
  resume(recovery, { catalog, backlog, drain });
  const wal = await Wal.open({
    files,
    clock: process,
    log,
    metrics,
    recovery,
    backlog,
    maxBytes: random.integer(10_000, 300_000),
    segmentMaxBytes: random.integer(1_000, 20_000),
    segmentMaxAgeMs: random.integer(10, 2_000),
    onSealed: (segment) => drain.add(segment),
  });
  drain.start();
  const pauseMs = [0, 20, 400][random.integer(0, 2)] ?? 0;
  return { process, catalog, backlog, drain, monitor, wal, pauseMs };
}

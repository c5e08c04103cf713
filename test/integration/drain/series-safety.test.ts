import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { AppError } from '../../../src/errors.ts';
import { Admission } from '../../../src/ingest/admission.ts';
import { DecodePool } from '../../../src/ingest/decode-pool.ts';
import { IngestRateLimiter } from '../../../src/ingest/ingest-rate-limiter.ts';
import { IngestService } from '../../../src/ingest/ingest-service.ts';
import { ReplayWindow } from '../../../src/ingest/replay-window.ts';
import { RequestIdentifier } from '../../../src/ingest/request-identity.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { defaultLimits } from '../../../src/model/tenant-limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { decodeCosts } from '../../support/decode/decode-costs.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';
import { buildWriteRequest, type TestSeries } from '../../support/remote-write/remote-write-requests.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath } from '../../support/wal/write-path.ts';

/**
 * No sample without its series, whatever happens to the record or the worker that carried the series' row:
 * real worker threads, the real log over a disk that fails on demand, the real engine.
 */
const worker = new URL('../../support/decode/crashing-worker.mjs', import.meta.url);
const dayMs = 86_400_000;
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
let engine: TestStore;

beforeAll(async () => {
  if (!existsSync(new URL('../../../dist/workers/decode.js', import.meta.url))) {
    throw new Error('dist/ is missing: npm run build');
  }
  engine = await openTestStore();
});
afterAll(() => engine.close());

async function setUp(dataset: string, threads = 1) {
  const log = createLogger('silent');
  const clock = systemClock;
  const { store } = engine;
  const files = new MemoryFiles();
  const { wal, drain, catalog, metrics } = await startWritePath({ files, store });
  drain.start();
  const decoders = new DecodePool({ worker, threads, costs: decodeCosts(), metrics, log });
  onTestFinished(() => decoders.close());
  const ingest = new IngestService({
    admission: new Admission({ metrics, shared: false }),
    rates: new IngestRateLimiter({ clock, limitsOf: () => defaultLimits }),
    catalog,
    decoders,
    wal,
    disk: { check: () => {} },
    identifier: new RequestIdentifier(await xxhash(), 'node-1'),
    replays: new ReplayWindow({ clock, metrics, windowMs: limits.replayWindowMs }),
    clock,
    metrics,
    log,
    maxBodyBytes: limits.maxBodyBytes,
  });
  const sendBody = (body: Uint8Array) =>
    ingest.write({
      tenant: 'default',
      dataset,
      format: 'remote-write-1',
      encoding: 'snappy',
      // The memory of a body moves to the worker; those of small Buffers share theirs.
      body: new Uint8Array(body),
      mustExist: false,
    });
  return {
    files,
    sendBody,
    /** Sends a sample for each of these series, at this time. */
    send: (names: readonly number[], timestampMs: number) =>
      sendBody(buildWriteRequest(names.map((name) => sampleOf(name, timestampMs)))),
    /** Samples and rows of series in the store, once all is there. */
    stored: async () => {
      wal.seal();
      await drain.drained(wal.newestPending ?? 0);
      return countRows(dataset);
    },
  };
}

const sampleOf = (name: number, timestampMs: number): TestSeries => ({
  labels: { __name__: 'm', name: String(name) },
  samples: [{ value: name, timestampMs }],
});

async function countRows(dataset: string) {
  const [row] = await engine.rows<{ samples: number; orphans: number; seriesRows: number }>(
    `SELECT toUInt32(count()) AS samples,
            toUInt32(countIf((series_id, toDate(timestamp)) NOT IN (SELECT series_id, date FROM t_default.\`${dataset}.series\`))) AS orphans,
            (SELECT toUInt32(count()) FROM t_default.\`${dataset}.series\`) AS seriesRows
       FROM t_default.\`${dataset}.samples\``,
  );
  return row;
}

/** The next write of the log fails, once. */
function failNextWrite(files: MemoryFiles): void {
  files.beforeSync = () => {
    files.beforeSync = () => {};
    throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
}

test('a series row is left out only after a record with it is durable', async () => {
  const { send, stored, files } = await setUp('committed');
  await send([1], todayMs);
  await send([1], todayMs + 1);
  expect(await stored()).toEqual({ samples: 2, orphans: 0, seriesRows: 1 });
  failNextWrite(files);
  await expect(send([2], todayMs)).rejects.toMatchObject({ code: 'log_failed' });
  await send([2], todayMs + 1);
  await send([2], todayMs + 2);
  expect(await stored()).toEqual({ samples: 4, orphans: 0, seriesRows: 2 });
});

test('a request that was decoded while the row was on its way brings the row itself', async () => {
  const { send, stored, files } = await setUp('both');
  await send([0], todayMs);
  failNextWrite(files);
  const replies = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => send([1], todayMs + index)),
  );
  const stay = replies.filter(({ status }) => status === 'fulfilled').length;
  // Without a failure this would show nothing.
  expect(stay).toBeLessThan(8);
  await send([1], todayMs + 8);
  expect(await stored()).toMatchObject({ samples: 2 + stay, orphans: 0 });
});

test('a request that was refused for another series of it leaves none behind', async () => {
  const { sendBody, send, stored } = await setUp('refused');
  const bad: TestSeries = { labels: { no_name: 'x' }, samples: [{ value: 1, timestampMs: todayMs }] };
  await expect(sendBody(buildWriteRequest([sampleOf(1, todayMs), bad]))).rejects.toBeInstanceOf(AppError);
  await send([1], todayMs + 1);
  expect(await stored()).toEqual({ samples: 1, orphans: 0, seriesRows: 1 });
});

test('a worker that died is replaced by one that knows no series', async () => {
  const { send, sendBody, stored } = await setUp('died');
  await send([1], todayMs);
  await stored();
  // From here on, a row can only be there if it was sent again.
  for (const table of ['samples', 'series']) {
    await engine.store.command(`TRUNCATE TABLE t_default.\`died.${table}\``);
  }
  await expect(sendBody(Buffer.from('die'))).rejects.toThrow();
  await send([1], todayMs + 1);
  expect(await stored()).toEqual({ samples: 1, orphans: 0, seriesRows: 1 });
});

test('a series that comes again after its day has left the store brings a row for its new day', async () => {
  const { send, stored } = await setUp('retention');
  await send([1], todayMs - dayMs);
  await stored();
  const day = new Date(todayMs - dayMs).toISOString().slice(0, 10);
  for (const table of ['samples', 'series']) {
    await engine.store.command(`ALTER TABLE t_default.\`retention.${table}\` DROP PARTITION '${day}'`);
  }
  await send([1], todayMs);
  expect(await stored()).toEqual({ samples: 1, orphans: 0, seriesRows: 1 });
});

test('no sample is without its series when writes fail and workers die at random', async () => {
  const seed = testSeed;
  const random = seededRandom(seed);
  const { send, sendBody, stored, files } = await setUp('random', 2);
  await send([0], todayMs);
  let acknowledged = 1;
  let refused = 0;
  for (let round = 0; round < 40; round += 1) {
    if (random.chance(0.4)) failNextWrite(files);
    const requests = Array.from({ length: random.integer(1, 12) }, async (_, index) => {
      if (random.chance(0.03)) return sendBody(Buffer.from('die'));
      const names = new Set(Array.from({ length: random.integer(1, 5) }, () => random.integer(0, 60)));
      const at = todayMs + round * 100 + index - random.integer(0, 2) * dayMs;
      return send([...names], at);
    });
    for (const reply of await Promise.allSettled(requests)) {
      if (reply.status === 'fulfilled') acknowledged += reply.value.counts.samples;
      else refused += 1;
    }
  }
  const rows = await stored();
  expect(rows, `seed ${seed}`).toMatchObject({ samples: acknowledged, orphans: 0 });
  expect(refused, `seed ${seed}`).toBeGreaterThan(0);
});

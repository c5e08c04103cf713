import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import xxhash from 'xxhash-wasm';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import { Decoder } from '../../../src/decode/decoder.ts';
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
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath } from '../../support/wal/write-path.ts';

/** Requests that change what each other may do: real worker threads, the real log and engine. */
const worker = new URL('../../../dist/workers/decode.js', import.meta.url);
const tenant = 'default';
let engine: TestStore;

beforeAll(async () => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
  engine = await openTestStore();
});
afterAll(() => engine?.close());

/** @param whenDecoded awaited between the decoding of a request and its record */
async function setUp(whenDecoded: () => Promise<void> = async () => {}) {
  const log = createLogger('silent');
  const clock = systemClock;
  const hashes = await xxhash();
  const { wal, catalog, metrics, finish } = await startWritePath({
    files: new MemoryFiles(),
    store: engine.store,
  });
  const inline = (outcomes: DecodePool['outcomes']) => new Decoder(outcomes, hashes);
  const pool = new DecodePool({ worker, threads: 2, inline, costs: decodeCosts(), metrics, log });
  onTestFinished(() => pool.close());
  const ingest = new IngestService({
    admission: new Admission({ metrics, shared: false }),
    rates: new IngestRateLimiter({ clock, limitsOf: () => defaultLimits }),
    catalog,
    decoders: {
      outcomes: pool.outcomes,
      overflow: (...block) => pool.overflow(...block),
      decode: async (task) => {
        const decoded = await pool.decode(task);
        await whenDecoded();
        return decoded;
      },
    },
    wal,
    disk: { check: () => {} },
    identifier: new RequestIdentifier(hashes, 'node-1'),
    replays: new ReplayWindow({ clock, metrics, windowMs: limits.replayWindowMs }),
    clock,
    metrics,
    log,
    maxBodyBytes: limits.maxBodyBytes,
  });
  const write = (dataset: string, events: unknown) =>
    ingest.write({
      tenant,
      dataset,
      format: 'json',
      encoding: 'identity',
      body: new Uint8Array(Buffer.from(JSON.stringify(events))),
      mustExist: false,
    });
  return { catalog, write, finish };
}

it('a write that was decoded before its dataset was made with options is refused, and may come again', async () => {
  let make = async () => {};
  const { catalog, write, finish } = await setUp(() => make());
  make = async () => {
    make = async () => {};
    await createDataset(catalog, tenant, 'raced', 'events', { timeField: 'at' });
  };
  const event = { at: 1_700_000_000 };
  await expect(write('raced', event)).rejects.toMatchObject({ code: 'dataset_changed' });
  await write('raced', event);
  await expect(write('raced', {})).rejects.toMatchObject({ code: 'bad_event' });
  await finish();
  expect(
    await engine.rows('SELECT toUnixTimestamp64Micro(p_timestamp) AS t FROM t_default.`raced.events`'),
  ).toEqual([{ t: 1_700_000_000_000_000 }]);
});

it('of writes that take the last columns at the same time, each field has a column or is in the map', async () => {
  const { catalog, write, finish } = await setUp();
  const fields = (name: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, index]));
  await write('crowded', fields('first', limits.maxColumnsPerDataset - 51));
  const writers = Array.from({ length: 24 }, (_, index) => index);
  // Small ones and large ones: their columns move in this thread, and in workers.
  const eventsOf = (writer: number) =>
    Array.from({ length: writer % 2 === 0 ? 1 : 60 }, () => ({
      ...fields('all', 20),
      ...fields(`own${writer}_`, 20),
    }));
  await Promise.all(writers.map((writer) => write('crowded', eventsOf(writer))));
  await finish();
  const columns = [...(catalog.get(tenant, 'crowded')?.columns.keys() ?? [])];
  expect(columns).toHaveLength(limits.maxColumnsPerDataset + 1);
  expect(columns).toContain('p_overflow');
  const mapped = await engine.rows<{ key: string }>(
    'SELECT DISTINCT arrayJoin(mapKeys(p_overflow)) AS key FROM t_default.`crowded.events`',
  );
  const inMap = mapped.map(({ key }) => key);
  expect(inMap.filter((key) => columns.includes(key))).toEqual([]);
  const named = new Set([...columns, ...inMap]);
  for (const name of [
    ...Object.keys(fields('all', 20)),
    ...writers.flatMap((w) => Object.keys(fields(`own${w}_`, 20))),
  ]) {
    expect(named).toContain(`${name}:num`);
  }
});

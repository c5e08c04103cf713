import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InsertBatch } from '../../../src/clickhouse/store.ts';
import { memoryLimitExceeded, StoreError } from '../../../src/clickhouse/store-error.ts';
import { NativeReader } from '../../../src/columnar/native-reader.ts';
import type { BodyFormat } from '../../../src/decode/task.ts';
import { type Clock, systemClock, type Timers } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { DatasetKind } from '../../../src/model/dataset.ts';
import { ClickHouseServer, openStoreOn } from '../../support/clickhouse/clickhouse-server.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore, testStore } from '../../support/clickhouse/test-store.ts';
import { exampleLogs, exampleNanos, exampleTraces } from '../../support/otlp/otlp-examples.ts';
import { MetricsDecoding, metricsProtobuf, oneScope } from '../../support/otlp/otlp-metrics.ts';
import { encodeProtobuf } from '../../support/otlp/otlp-requests.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, withFault } from '../../support/wal/write-path.ts';

let server: ClickHouseServer;
let embedded: TestStore;
let remote: TestStore;
beforeAll(async () => {
  embedded = await openTestStore();
  server = await ClickHouseServer.start();
  remote = testStore(openStoreOn(server), () => server.dispose());
}, 60_000);
afterAll(async () => {
  await embedded.close();
  await remote.close();
});

const noAnswer = () => new StoreError('connection reset', undefined, undefined);
const dayMicros = 86_400_000_000;
const firstMicros = 1_700_000_000_000_000;

/** Ids in their order, each as often as it is stored. */
const ids = async (test: TestStore, dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM t_default.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

/** One event, received that many days after the first. */
const event = (id: number, day = 0, more: object = {}) =>
  eventBlocks([{ id, ...more }], firstMicros + day * dayMicros);

const rowsOf = ({ blocks }: InsertBatch): number =>
  blocks.reduce((sum, bytes) => {
    const reader = new NativeReader(bytes);
    reader.varint();
    return sum + reader.varint();
  }, 0);

/** Waits that are over at once, but for the bound on stopping. */
const hastyClock: Clock & Timers = {
  ...systemClock,
  after: (ms, action) => systemClock.after(ms > limits.insertBackoffMaxMs ? ms : 0, action),
};

describe('a token without rows', () => {
  it('is not believed when the server was killed: the rows of the insert are stored', async () => {
    let kills = 0;
    const store = withFault(remote.store, async (batch, insert) => {
      await insert();
      if (batch.table !== 'killed.events' || kills > 0) return;
      kills += 1;
      const [{ folder, part } = { folder: '', part: '' }] = await remote.rows<{
        folder: string;
        part: string;
      }>(
        `SELECT data_paths[1] AS folder, p.name AS part FROM system.tables AS t JOIN system.parts AS p ON p.table = t.name
         WHERE t.name = 'killed.events' AND p.active`,
      );
      await server.kill();
      // What a SIGKILL leaves between the two: the part still has the name under which it was written.
      renameSync(join(folder, part), join(folder, `tmp_insert_${part}`));
      await server.start();
      throw noAnswer();
    });
    const { append, finish, wal } = await startWritePath({ files: new MemoryFiles(), store });
    await append('killed', 'events', event(1));
    await append('killed', 'events', event(2, 0, { text: null, flag: true }));
    await finish();
    expect(kills).toBe(1);
    expect(await ids(remote, 'killed')).toEqual([1, 2]);
    expect(wal.pendingSegments).toBe(0);
  });

  it.each([
    ['the embedded engine', () => embedded],
    ['a server', () => remote],
  ])('of one day among others is not believed, and the others are not doubled (%s)', async (_, of) => {
    const test = of();
    let failures = 0;
    const store = withFault(test.store, async (batch, insert) => {
      await insert();
      if (batch.table !== 'days.events' || failures > 0) return;
      failures += 1;
      // Two of three rows of a day that are equal, and all of another one.
      await test.store.command(
        'DELETE FROM t_default.`days.events` WHERE `id:num` = 2 OR (`id:num` = 3 AND _part_offset > 0)',
      );
      throw noAnswer();
    });
    const { write, append, finish } = await startWritePath({ files: new MemoryFiles(), store });
    await append('days', 'events', event(1, 1));
    await append('days', 'events', event(2, 2, { text: 'two' }));
    for (let count = 0; count < 3; count += 1) await append('days', 'events', event(3, 3));
    await write('other', [{ id: 1 }]);
    await finish();
    expect(failures).toBe(1);
    expect(await ids(test, 'days')).toEqual([1, 2, 3, 3, 3]);
    expect(await test.rows(`SHOW TABLES FROM millrace LIKE 'comparison%'`)).toEqual([]);
  });
});

describe('rows without a token', () => {
  it('are not doubled by what an earlier run has left in the log', async () => {
    const files = new MemoryFiles();
    const dying = withFault(embedded.store, async (_, insert) => {
      await insert();
      throw noAnswer();
    });
    const first = await startWritePath({ files, store: dying });
    first.drain.start();
    await first.append('forgotten', 'events', event(1));
    await first.append('forgotten', 'events', event(2, 1));
    first.wal.seal();
    await first.append('forgotten', 'events', event(3));
    await first.wal.close();
    await expect.poll(() => ids(embedded, 'forgotten').catch(() => [])).toEqual([1, 2]);
    await first.drain.stop(0);
    // What a power cut does: the memory of tokens was not synced.
    const table = 't_default.`forgotten.events`';
    for (const window of [0, 10_000]) {
      await embedded.store.command(
        `ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = ${window}`,
      );
    }

    const second = await startWritePath({ files: files.afterPowerCut(), store: embedded.store });
    await second.finish();
    expect(await ids(embedded, 'forgotten')).toEqual([1, 2, 3]);
    expect(second.wal.pendingSegments).toBe(0);
  });
});

const decoding = new MetricsDecoding();
const decoded = (format: BodyFormat, body: Uint8Array) => {
  const result = decoding.body(body, format);
  if (!result.ok) throw new Error(result.message);
  return result.blocks;
};
const exemplars = [{ timeUnixNano: exampleNanos, asDouble: 0.5, spanId: Buffer.alloc(8, 1) }];
const metrics = oneScope([
  { name: 'g', gauge: { dataPoints: [{ timeUnixNano: exampleNanos, asDouble: Number.NaN, exemplars }] } },
  {
    name: 'e',
    exponentialHistogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          timeUnixNano: exampleNanos,
          count: 3n,
          sum: 4.5,
          scale: 1,
          zeroCount: 1n,
          positive: { offset: -2, bucketCounts: [1n, 1n] },
          min: 0,
          max: 3,
        },
      ],
    },
  },
]);

describe('rows of every kind of table', () => {
  it.each<[DatasetKind, BodyFormat, Uint8Array]>([
    ['logs', 'otlp-logs-protobuf', encodeProtobuf('logs', exampleLogs)],
    ['traces', 'otlp-traces-protobuf', encodeProtobuf('traces', exampleTraces)],
    ['metrics', 'otlp-metrics-protobuf', metricsProtobuf(metrics)],
  ])('are known again by their columns: %s', async (kind, format, body) => {
    const doubted = new Set<string>();
    const store = withFault(embedded.store, async ({ database, table }, insert) => {
      await insert();
      if (database === 'millrace' || doubted.has(table)) return;
      doubted.add(table);
      for (const window of [0, 10_000]) {
        const setting = `non_replicated_deduplication_window = ${window}`;
        await embedded.store.command(`ALTER TABLE t_default.\`${table}\` MODIFY SETTING ${setting}`);
      }
      throw noAnswer();
    });
    const blocks = decoded(format, body);
    const { append, drain, finish } = await startWritePath({
      files: new MemoryFiles(),
      store,
      clock: hastyClock,
    });
    drain.start();
    await append(`kind-${kind}`, kind, blocks);
    await finish();
    expect(doubted.size).toBe(blocks.length);
    for (const { table, rows } of blocks) {
      const stored = await embedded.rows(`SELECT count() AS n FROM t_default.\`kind-${kind}.${table}\``);
      expect(Number(stored[0]?.['n']), table).toBe(rows);
    }
  });
});

describe('a batch for which the store has too little memory', () => {
  it('is stored in parts, once, and what follows it, too', async () => {
    let refusals = 0;
    const store = withFault(embedded.store, async (batch, insert) => {
      if (rowsOf(batch) > 3) {
        refusals += 1;
        throw new StoreError('memory limit exceeded', memoryLimitExceeded, undefined);
      }
      await insert();
    });
    const { append, drain, finish, wal } = await startWritePath({
      files: new MemoryFiles(),
      store,
      clock: hastyClock,
    });
    drain.start();
    const numbers = Array.from({ length: 20 }, (_, id) => id);
    for (const id of numbers) {
      if (id === 15) wal.seal();
      await append('large', 'events', event(id, id % 3));
    }
    await finish();
    expect(await ids(embedded, 'large')).toEqual(numbers);
    // Three each before it goes in 2, 4 and 8 parts.
    expect(refusals).toBeGreaterThanOrEqual(3 * limits.maxMemoryRefusals);
    expect(refusals).toBeLessThan(5 * limits.maxMemoryRefusals);
    expect(wal.pendingSegments).toBe(0);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InsertBatch } from '../../../src/clickhouse/store.ts';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { Column64, StringColumn, UIntColumn } from '../../../src/columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../src/columnar/dictionary-columns.ts';
import { type BlockColumn, encodeTableBlock } from '../../../src/columnar/native-block.ts';
import { type Clock, systemClock, type Timers } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { TableBlock } from '../../../src/model/block.ts';
import { openServerStore } from '../../support/clickhouse/clickhouse-server.ts';
import { eventBlocks, numberedBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { deadNotes, deadValues } from '../../support/wal/dead-rows.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath, testNode, withFault } from '../../support/wal/write-path.ts';

let embedded: TestStore;
/** The store of the tests that run. */
let test: TestStore;
beforeAll(async () => {
  embedded = await openTestStore();
  test = embedded;
});
afterAll(() => embedded.close());

const ids = async (dataset: string) =>
  (
    await test.rows<{ id: number }>(
      `SELECT \`id:num\` AS id FROM t_default.\`${dataset}.events\` ORDER BY id`,
    )
  ).map(({ id }) => id);

/** A table that refuses ids of a thousand and more. */
async function makeStrictDataset(dataset: string): Promise<void> {
  for (const statement of datasetStatements('default', dataset, 'events'))
    await test.store.command(statement);
  await test.store.command(
    `ALTER TABLE t_default.\`${dataset}.events\` ADD COLUMN \`id:num\` Nullable(Float64), ADD CONSTRAINT small CHECK \`id:num\` < 1000`,
  );
}

const isTrial = (batch: InsertBatch) => batch.database === 'millrace';

/** Waits that are over at once, and what they would have been. */
function hastyClock() {
  const waits: number[] = [];
  const clock: Clock & Timers = {
    ...systemClock,
    random: () => 0,
    after: (ms, action) => {
      // The bound on stopping is a real one.
      if (ms > limits.insertBackoffMaxMs) return systemClock.after(ms, action);
      waits.push(ms);
      return systemClock.after(0, action);
    },
  };
  return { clock, waits };
}

/** A block with columns that no decoder makes like this. */
const handMade = (rows: number, ...columns: BlockColumn[]): TableBlock =>
  encodeTableBlock('events', columns, rows);

function textColumn(name: string, ...values: string[]): StringColumn {
  const column = new StringColumn(name, values.length);
  for (const value of values) column.append(Buffer.from(value));
  return column;
}

/** 2.5 million events, made once. */
let largeBlocks: readonly TableBlock[] | undefined;

const stores: ReadonlyArray<readonly [string, () => Promise<TestStore>]> = [
  ['the embedded engine', async () => embedded],
  ['a ClickHouse server', openServerStore],
];

describe.each(stores)('%s', (_, open) => {
  beforeAll(async () => {
    test = await open();
  });
  afterAll(async () => {
    if (test !== embedded) await test.close();
    test = embedded;
  });

  describe('rows that the store refuses', () => {
    it('go to the dead letters one by one, and everything around them is stored once', async () => {
      await makeStrictDataset('strict');
      const { write, finish, deadLetters, metrics, wal } = await startWritePath({
        files: new MemoryFiles(),
        store: test.store,
      });
      await write('strict', [{ id: 1 }, { id: 2, extra: 'a' }]);
      await write('strict', [{ id: 3 }, { id: 1001 }, { id: 4 }, { id: 5 }]);
      await write('bystander', [{ id: 7 }]);
      await write('strict', [{ id: 1002 }, { id: 1003 }, { id: 6 }]);
      await finish();

      expect(await ids('strict')).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await ids('bystander')).toEqual([7]);
      expect(wal.pendingSegments).toBe(0);
      expect(await deadValues(deadLetters, test, 'id:num')).toEqual([1001, 1002, 1003]);
      const batch = `${testNode}-1-t_default.strict.events`;
      expect(await deadNotes(deadLetters)).toMatchObject([
        { name: `${batch}-3`, rows: 1, ranges: [{ from: 3, to: 4 }], token: `${batch}/3-4`, batch },
        { name: `${batch}-6`, rows: 2, ranges: [{ from: 6, to: 8 }], token: `${batch}/6-8`, batch },
      ]);
      const [note] = await deadNotes(deadLetters);
      expect(note).toMatchObject({ tenant: 'default', dataset: 'strict', kind: 'events', segment: 1 });
      expect(note?.columns.map(({ name }) => name)).toEqual(['p_timestamp', 'id:num', 'extra:str']);
      expect(note?.error).toMatchObject({ code: 469, message: expect.stringContaining('1001') });
      expect(Math.abs(Date.now() - Date.parse(note?.time ?? ''))).toBeLessThan(60_000);
      const exposition = await metrics.registry.metrics();
      expect(exposition).toContain('millrace_dead_rows_total 3');
      expect(exposition).toContain('millrace_dead_files 2');
    });

    it('do not hold up the segments after theirs', async () => {
      await makeStrictDataset('queue');
      const { write, finish, wal, deadLetters } = await startWritePath({
        files: new MemoryFiles(),
        store: test.store,
      });
      for (const id of [1, 1001, 2, 1002, 3]) {
        await write('queue', [{ id }]);
        wal.seal();
      }
      await finish();
      expect(await ids('queue')).toEqual([1, 2, 3]);
      expect(await deadValues(deadLetters, test, 'id:num')).toEqual([1001, 1002]);
    });

    it('share a letter when all of a batch is bad, in fewer trials each time until the table takes a batch', async () => {
      const trials: number[] = [];
      let flood = true;
      const store = withFault(test.store, async (batch, insert) => {
        if (isTrial(batch)) trials[trials.length - 1] = (trials.at(-1) ?? 0) + 1;
        else trials.push(0);
        if (flood && batch.blocks.length > 0)
          throw new StoreError('a constraint is violated', 469, undefined);
        await insert();
      });
      const { write, wal, drain, finish, deadLetters } = await startWritePath({
        files: new MemoryFiles(),
        store,
      });
      drain.start();
      const count = 4 * limits.maxRowTrials;
      const batch = (from: number) => Array.from({ length: count }, (_, index) => ({ id: from + index }));
      for (const segment of [1, 2, 3, 4]) {
        flood = segment !== 3;
        await write('flood', batch(segment * count));
        wal.seal();
        await drain.drained(segment);
      }
      await finish();
      expect(await ids('flood')).toEqual(batch(3 * count).map(({ id }) => id));
      expect((await deadNotes(deadLetters)).map(({ rows, segment }) => [segment, rows])).toEqual([
        [1, count],
        [2, count],
        [4, count],
      ]);
      // The control without rows, and at most two for each that is allowed.
      const [first = 0, second = 0, third, fourth] = trials;
      expect(first).toBeGreaterThan(limits.maxRowTrials);
      expect(first).toBeLessThanOrEqual(2 * limits.maxRowTrials + 2);
      expect(second).toBeGreaterThan(limits.maxRowTrials / 2);
      expect(second).toBeLessThanOrEqual(limits.maxRowTrials + 2);
      expect(third).toBe(0);
      expect(fourth).toBe(first);
    });
  });

  describe('blocks that are no good', () => {
    const good = (id: number) => eventBlocks([{ id }]);

    async function drainWith(dataset: string, bad: TableBlock) {
      const { append, finish, deadLetters } = await startWritePath({
        files: new MemoryFiles(),
        store: test.store,
      });
      await append(dataset, 'events', good(1));
      await append(dataset, 'events', [bad]);
      await append(dataset, 'events', good(2));
      await finish();
      expect((await ids(dataset)).filter((id) => id !== null)).toEqual([1, 2]);
      return deadNotes(deadLetters);
    }

    it('a value that cannot be converted stands alone', async () => {
      const times = textColumn('p_timestamp', '2024-01-01 00:00:00', 'soon', '2024-01-01 00:00:02');
      const notes = await drainWith('convert', handMade(3, times));
      expect(notes).toMatchObject([{ rows: 1, ranges: [{ from: 2, to: 3 }] }]);
      expect(notes[0]?.error.code).not.toBeNull();
      expect(await test.rows('SELECT count() AS rows FROM t_default.`convert.events`')).toEqual([
        { rows: 4 },
      ]);
    });

    it('a block that ends too early is dead as a whole', async () => {
      const [whole] = eventBlocks([{ id: 50 }, { id: 51 }]);
      if (whole === undefined) throw new Error('no block');
      for (const [index, length] of [1, 9, 40, whole.bytes.length - 1].entries()) {
        const notes = await drainWith(`short-${index}`, { ...whole, bytes: whole.bytes.subarray(0, length) });
        expect(notes).toMatchObject([{ rows: 2, ranges: [{ from: 1, to: 3 }] }]);
      }
    });

    it('a block of a type that ClickHouse does not know is dead as a whole', async () => {
      const strange: BlockColumn = {
        name: 'p_timestamp',
        type: 'DateTime65(6)',
        byteLength: (rows) => 8 * rows,
        writeTo: (out, rows) => out.fill(0, 8 * rows),
      };
      expect(await drainWith('unknown-type', handMade(2, strange))).toMatchObject([{ rows: 2 }]);
    });

    it('a dictionary index that points nowhere stands alone with its row', async () => {
      const rows = 5;
      const date = new UIntColumn('date', 'Date', 16, rows);
      const series = new Column64('series_id', 'UInt64', rows);
      const metric = new UIntColumn('metric_id', 'UInt32', 32, rows);
      const labels = new MapColumn('labels');
      const name = new LowCardinalityColumn('metric_name');
      for (let row = 0; row < rows; row += 1) {
        date.append(19_700);
        series.append(row, 0);
        metric.append(row);
        labels.appendPair(Buffer.from('joba'), 0, 3, 3, 4);
        labels.endRow();
        name.append(Buffer.from(`metric_${row}`));
      }
      // The last column's indexes are the last bytes.
      const block = encodeTableBlock('series', [date, series, metric, labels, name], rows);
      block.bytes[block.bytes.length - 2] = 200;

      const { append, finish, deadLetters } = await startWritePath({
        files: new MemoryFiles(),
        store: test.store,
      });
      await append('dictionary', 'metrics', [block]);
      await finish();
      expect(
        await test.rows('SELECT metric_name FROM t_default.`dictionary.series` ORDER BY metric_name'),
      ).toEqual([0, 1, 2, 4].map((row) => ({ metric_name: `metric_${row}` })));
      expect(await deadNotes(deadLetters)).toMatchObject([
        { rows: 1, ranges: [{ from: 3, to: 4 }], error: { code: 117 } },
      ]);
    });

    it('a large batch of which the store had already taken a part is completed, not doubled', async () => {
      await makeStrictDataset('large');
      await test.store.command('ALTER TABLE t_default.`large.events` DROP CONSTRAINT small');
      const counts: number[] = [];
      const count = 'SELECT count() AS rows, uniqExact(`id:num`) AS distinct FROM t_default.`large.events`';
      let first = true;
      const store = withFault(test.store, async (batch, insert) => {
        // As many rows as the store puts into one part, under the token of the whole batch: an insert that
        // ends midway leaves this.
        if (first) await test.store.insert({ ...batch, blocks: batch.blocks.slice(0, 11) });
        first = false;
        try {
          await insert();
        } finally {
          if (!isTrial(batch)) counts.push(Number((await test.rows(count))[0]?.['rows']));
        }
      });
      const { append, finish, deadLetters } = await startWritePath({ files: new MemoryFiles(), store });
      largeBlocks ??= numberedBlocks('id', 25);
      for (const [index, block] of largeBlocks.entries()) {
        const bytes = index === 22 ? block.bytes.subarray(0, block.bytes.length - 1) : block.bytes;
        await append('large', 'events', [{ ...block, bytes }]);
      }
      await finish();
      // The first insert was refused; of a server's, more of its parts may have stayed.
      expect(counts).toEqual([test === embedded ? 1_100_000 : expect.any(Number), 2_400_000]);
      expect(await test.rows(count)).toEqual([{ rows: 2_400_000, distinct: 2_400_000 }]);
      expect(await deadNotes(deadLetters)).toMatchObject([{ rows: 100_000, ranges: [{ from: 2_200_000 }] }]);
    });
  });
});

describe('a refusal that the rows do not explain', () => {
  it('is tried again, then the batch is dead as a whole under its own token, and others go on', async () => {
    const { clock, waits } = hastyClock();
    let broken = true;
    const refused = new Map<string, number>();
    const store = withFault(test.store, async (batch, insert) => {
      if (broken && !isTrial(batch) && batch.table === 'broken.events') {
        refused.set(batch.token, (refused.get(batch.token) ?? 0) + 1);
        throw new StoreError('a view of the table is broken', 349, undefined);
      }
      await insert();
    });
    const first = await startWritePath({ files: new MemoryFiles(), store, clock });
    await first.write('broken', [{ id: 1 }, { id: 2 }]);
    await first.write('works', [{ id: 3 }]);
    first.wal.seal();
    await first.write('broken', [{ id: 4 }]);
    await first.write('works', [{ id: 5 }]);
    await first.wal.close();
    first.drain.start();
    await first.drain.drained(2);
    const [one, two] = [1, 2].map((segment) => `${testNode}-${segment}-t_default.broken.events`);
    // The table has been given its chances with the first batch.
    expect([...refused]).toEqual([
      [one, limits.maxUnexplainedRefusals],
      [two, 1],
    ]);
    expect(waits.slice(0, limits.maxUnexplainedRefusals - 1)).toEqual([100, 200, 400, 800, 1600, 3200, 6400]);
    expect(await ids('broken')).toEqual([]);
    expect(await ids('works')).toEqual([3, 5]);
    expect(await deadNotes(first.deadLetters)).toMatchObject([
      { rows: 2, token: one, batch: one, error: { code: 349 } },
      { rows: 1, token: two, batch: two },
    ]);
    await first.drain.stop(10);

    broken = false;
    const second = await startWritePath({ files: new MemoryFiles(), store, clock });
    await second.write('broken', [{ id: 6 }]);
    await second.finish();
    expect(await ids('broken')).toEqual([6]);
  });

  it.each([
    ['a table', 'DROP TABLE t_default.`mended-0.events`'],
    ['a column', 'ALTER TABLE t_default.`mended-1.events` DROP COLUMN `id:num`'],
    ['the database', 'DROP DATABASE t_default'],
  ])('%s that somebody dropped by hand is made again', async (_, statement) => {
    const dataset = `mended-${/mended-(\d)/.exec(statement)?.[1] ?? 2}`;
    const { clock } = hastyClock();
    const life = await startWritePath({ files: new MemoryFiles(), store: test.store, clock });
    await life.write(dataset, [{ id: 1 }]);
    life.wal.seal();
    life.drain.start();
    await life.drain.drained(1);
    await test.store.command(statement);
    await life.write(dataset, [{ id: 2 }]);
    await life.finish();
    expect((await ids(dataset)).filter((id) => id !== null)).toEqual([2]);
    expect(await deadNotes(life.deadLetters)).toEqual([]);
  });
});

describe('what is worth another try', () => {
  it.each([
    ['too many parts', () => new StoreError('too many parts', 252, undefined)],
    ['access denied', () => new StoreError('not enough privileges', 497, undefined)],
    ['a broken connection', () => new StoreError('socket hang up', undefined, undefined)],
    ['a mistake of this program', () => new TypeError('x is not a function')],
  ])('%s: with growing pauses, until it succeeds, and nothing is given up', async (what, failure) => {
    const dataset = what.replaceAll(' ', '-');
    const { clock, waits } = hastyClock();
    let failures = 12;
    const store = withFault(test.store, async (batch, insert) => {
      if (batch.table === `${dataset}.events` && failures > 0) {
        failures -= 1;
        throw failure();
      }
      await insert();
    });
    const { write, finish, deadLetters } = await startWritePath({ files: new MemoryFiles(), store, clock });
    await write(dataset, [{ id: 1 }]);
    await finish();
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000, 10_000]);
    expect(await ids(dataset)).toEqual([1]);
    expect(await deadNotes(deadLetters)).toEqual([]);
  });

  it('a store that goes away among the trials leaves nothing half decided', async () => {
    await makeStrictDataset('away');
    const { clock } = hastyClock();
    let inserts = 0;
    const store = withFault(test.store, async (_, insert) => {
      inserts += 1;
      // Every third statement does not get through.
      if (inserts % 3 === 0 && inserts < 60) throw new StoreError('socket hang up', undefined, undefined);
      await insert();
    });
    const { write, finish, deadLetters } = await startWritePath({ files: new MemoryFiles(), store, clock });
    await write('away', [{ id: 1 }, { id: 1001 }, { id: 2 }, { id: 3 }]);
    await finish();
    expect(inserts).toBeGreaterThanOrEqual(60);
    expect(await ids('away')).toEqual([1, 2, 3]);
    expect(await deadValues(deadLetters, test, 'id:num')).toEqual([1001]);
  });
});

describe('inserts of one segment', () => {
  it('run in parallel up to the bound, one table of a dataset after the other', async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const store = withFault(test.store, async (batch, insert) => {
      running += 1;
      most = Math.max(most, running);
      await insert();
      // Waits until the tables of the others exist, however long that takes; then long enough to see one
      // insert too many.
      const endMs = performance.now() + 20_000;
      do await new Promise((done) => setTimeout(done, 200));
      while (most < limits.maxParallelInserts && performance.now() < endMs);
      order.push(batch.table);
      running -= 1;
    });
    const { append, write, finish } = await startWritePath({ files: new MemoryFiles(), store });
    const samples = encodeTableBlock(
      'samples',
      [
        new UIntColumn('metric_id', 'UInt32', 32, 1),
        new Column64('series_id', 'UInt64', 1),
        new Column64('timestamp', "DateTime64(3, 'UTC')", 1),
        new Column64('value', 'Float64', 1),
      ],
      1,
    );
    const series = encodeTableBlock(
      'series',
      [new UIntColumn('date', 'Date', 16, 1), new Column64('series_id', 'UInt64', 1)],
      1,
    );
    await append('pair', 'metrics', [samples, series]);
    for (let index = 0; index < 2 * limits.maxParallelInserts; index += 1)
      await write(`many-${index}`, [{ id: index }]);
    await finish();
    expect(most).toBe(limits.maxParallelInserts);
    expect(order.filter((table) => table.startsWith('pair'))).toEqual(['pair.series', 'pair.samples']);
    expect(order).toHaveLength(2 * limits.maxParallelInserts + 2);
  });
});

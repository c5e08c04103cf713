import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InsertBatch } from '../../../src/clickhouse/store.ts';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { type BlockColumn, encodeNativeBlock } from '../../../src/columnar/native-block.ts';
import { quoteIdentifier } from '../../../src/lib/quote.ts';
import { limits } from '../../../src/limits/limits.ts';
import { openServerStore } from '../../support/clickhouse/clickhouse-server.ts';
import { eventBlocks, numberedBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

function batch(dataset: string, token: string, ...requests: object[][]): InsertBatch {
  const blocks = requests.flatMap((events) => eventBlocks(events));
  const columns = new Map(blocks.flatMap((block) => block.columns).map((column) => [column.name, column]));
  return {
    database: 't_default',
    table: `${dataset}.events`,
    columns: [...columns.values()],
    token,
    blocks: blocks.map((block) => block.bytes),
  };
}

/** 2.5 million events, made once. */
let largeBlocks: readonly Uint8Array[] | undefined;

const stores: ReadonlyArray<readonly [string, () => Promise<TestStore>]> = [
  ['the embedded engine', openTestStore],
  ['a ClickHouse server', openServerStore],
];

describe.each(stores)('%s', (_, open) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await open();
  });
  afterAll(() => test.close());

  async function makeDataset(name: string, ...columns: string[]): Promise<void> {
    for (const statement of datasetStatements('default', name, 'events')) await test.store.command(statement);
    for (const column of columns)
      await test.store.command(`ALTER TABLE t_default.\`${name}.events\` ADD COLUMN ${column}`);
  }

  describe('inserts', () => {
    it('stores a batch once, however often it is sent', async () => {
      await makeDataset('once', '`n:num` Nullable(Float64)');
      const events = Array.from({ length: 1000 }, (_, n) => ({ n }));
      for (let attempt = 0; attempt < 3; attempt += 1)
        await test.store.insert(batch('once', 'token-1', events));
      await test.store.insert(batch('once', 'token-2', events));
      const [row] = await test.rows(
        'SELECT count() AS rows, uniqExact(`n:num`) AS distinct FROM t_default.`once.events`',
      );
      expect(row).toEqual({ rows: 2000, distinct: 1000 });
    });

    it('completes a large batch of which only the first part was stored', async () => {
      await makeDataset('large', '`n:num` Nullable(Float64)');
      largeBlocks ??= numberedBlocks('n', 25).map((block) => block.bytes);
      const whole = { ...batch('large', 'large-1', [{ n: 0 }]), blocks: largeBlocks };
      // The engine makes parts of about a million rows: after 11 blocks the first of three is complete.
      await test.store.insert({ ...whole, blocks: whole.blocks.slice(0, 11) });
      const count = 'SELECT count() AS rows, uniqExact(`n:num`) AS distinct FROM t_default.`large.events`';
      expect(await test.rows(count)).toEqual([{ rows: 1_100_000, distinct: 1_100_000 }]);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await test.store.insert(whole);
        expect(await test.rows(count)).toEqual([{ rows: 2_500_000, distinct: 2_500_000 }]);
      }
    });

    it('takes blocks with different columns as one batch', async () => {
      await makeDataset('mixed', '`a:num` Nullable(Float64)', '`b:str` Nullable(String)');
      await test.store.insert(batch('mixed', 'mixed-1', [{ a: 1 }], [{ b: 'two' }], [{ a: 3, b: 'three' }]));
      const rows = await test.rows(
        'SELECT `a:num` AS a, `b:str` AS b FROM t_default.`mixed.events` ORDER BY a NULLS LAST',
      );
      expect(rows).toEqual([
        { a: 1, b: null },
        { a: 3, b: 'three' },
        { a: null, b: 'two' },
      ]);
    });

    it('takes events of more days than the engine allows partitions by default', async () => {
      await makeDataset('days', '`day:num` Nullable(Float64)');
      const dayMicros = 86_400_000_000;
      const blocks = Array.from(
        { length: 250 },
        (_, day) => eventBlocks([{ day }], day * dayMicros)[0]?.bytes,
      );
      const [first] = eventBlocks([{ day: 0 }]);
      await test.store.insert({
        database: 't_default',
        table: 'days.events',
        columns: first?.columns ?? [],
        token: 'days-1',
        blocks: blocks.filter((block) => block !== undefined),
      });
      expect(await test.rows('SELECT count() AS rows FROM t_default.`days.events`')).toEqual([{ rows: 250 }]);
    });

    it('takes as many columns as a dataset may have, with the longest names', async () => {
      const count = limits.maxColumnsPerDataset - 1;
      const fields = Array.from({ length: count }, (_, index) =>
        `\`${index}`.padEnd(limits.maxFieldNameBytes, '\\'),
      );
      const [block] = eventBlocks([Object.fromEntries(fields.map((field) => [field, 1]))]);
      const columns = block?.columns ?? [];
      expect(columns).toHaveLength(limits.maxColumnsPerDataset);
      const added = columns.slice(1).map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
      await makeDataset('widest', added.join(', ADD COLUMN '));
      await test.store.insert({
        database: 't_default',
        table: 'widest.events',
        columns,
        token: 'widest-1',
        blocks: block === undefined ? [] : [block.bytes],
      });
      const sum = columns
        .slice(1, 3)
        .map(({ name }) => quoteIdentifier(name))
        .join(' + ');
      expect(await test.rows(`SELECT ${sum} AS sum FROM t_default.\`widest.events\``)).toEqual([{ sum: 2 }]);
    });

    it('fails with the code of ClickHouse', async () => {
      const failure = test.store.insert({ ...batch('once', 'x', [{ n: 1 }]), table: 'nothing.events' });
      await expect(failure).rejects.toMatchObject({
        name: 'StoreError',
        clickHouseCode: 60,
        retryable: false,
      });
    });
  });

  describe('an error of the engine', () => {
    it('has its code, though binary data in the message may cut it short', async () => {
      await makeDataset('binary');
      const strange: BlockColumn = {
        name: 'p_timestamp',
        type: '$\0$',
        byteLength: () => 1,
        writeTo: (out) => out.byte(0),
      };
      const poisoned = { ...batch('binary', 'binary-1', [{}]), blocks: [encodeNativeBlock([strange], 1)] };
      await expect(test.store.insert(poisoned)).rejects.toMatchObject({
        name: 'StoreError',
        clickHouseCode: 62,
      });
    });
  });

  describe('queries', () => {
    it('never shows rows of a query that failed to the next ones', async () => {
      const failing = 'SELECT number AS leaked, throwIf(number = 1500000) FROM numbers(2000000)';
      const settings = { max_block_size: 65_536 };
      for (let round = 0; round < limits.storeQueryConnections * 2; round += 1) {
        await expect(test.rows(failing, { settings })).rejects.toThrow(StoreError);
        expect(await test.rows("SELECT 'fresh' AS x")).toEqual([{ x: 'fresh' }]);
      }
    });

    it('cancels the query in the engine when the client goes away', async () => {
      const client = new AbortController();
      const query = test.rows('SELECT count() FROM numbers(1000000000000) WHERE number % 7 = 3', {
        signal: client.signal,
        settings: { max_execution_time: 600 },
      });
      const ended = expect(query).rejects.toMatchObject({ code: 'query_cancelled' });
      const running =
        "SELECT count() AS running FROM system.processes WHERE query LIKE '%1000000000000%' AND query NOT LIKE '%processes%'";
      for (;;) if ((await test.rows<{ running: number }>(running))[0]?.running === 1) break;
      client.abort();
      await ended;
      await expect.poll(() => test.rows(running)).toEqual([{ running: 0 }]);
    });

    it('keeps settings inside their statement', async () => {
      const setting = "SELECT getSetting('max_block_size') AS size";
      for (let index = 0; index < limits.storeQueryConnections; index += 1) {
        expect(await test.rows(setting, { settings: { max_block_size: 77 } })).toEqual([{ size: 77 }]);
      }
      for (let index = 0; index < limits.storeQueryConnections; index += 1) {
        expect(await test.rows(setting)).not.toEqual([{ size: 77 }]);
      }
    });

    it('lets a bounded number wait and refuses the others', async () => {
      const client = new AbortController();
      // A block of one row: the engine ends what sleeps longer than three seconds in one.
      const settings = { max_execution_time: 100, max_block_size: 1 };
      const count = limits.storeQueryConnections + limits.maxQueuedQueries;
      setMaxListeners(0, client.signal);
      const blocking = Array.from({ length: count }, () =>
        test.rows('SELECT sleepEachRow(1) FROM numbers(100)', { signal: client.signal, settings }),
      );
      const ended = Promise.allSettled(blocking);
      await expect(test.rows('SELECT 1')).rejects.toMatchObject({ code: 'overloaded' });
      client.abort();
      await ended;
      expect(await test.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });
});

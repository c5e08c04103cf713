import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultStore, Store } from '../../../src/clickhouse/store.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { openServerStore } from '../../support/clickhouse/clickhouse-server.ts';
import { insertEvent } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const MiB = 2 ** 20;
/** As the stores of the tests have it. */
const totalBytes = 768 * MiB;
const runningBytes =
  "SELECT sum(memory_usage) AS bytes FROM system.processes WHERE query LIKE '%groupArray%'";

/** Some 250 MB: more than a small share, less than the large one, and four of them more than all. */
const memoryHungry =
  'SELECT length(groupArray(toString(number))) AS n, sleep(0.3) AS s FROM numbers(5000000)';
/** More than there is. */
const greedy = 'SELECT length(groupArray(toString(number))) AS n FROM numbers(100000000)';

const stores: ReadonlyArray<readonly [string, () => Promise<TestStore>]> = [
  ['the embedded engine', openTestStore],
  ['a ClickHouse server', openServerStore],
];

describe.each(stores)('the memory of all queries of %s', (_, open) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await open();
    for (const statement of datasetStatements('default', 'app', 'events'))
      await test.store.command(statement);
  });
  afterAll(() => test.close());

  const n = async (query: string) => (await test.rows<{ n: string }>(query)).map((row) => Number(row.n));

  it('is bounded: one that needs more than a small share has its turn with the large one', async () => {
    let most = 0;
    let over = false;
    const watching = (async () => {
      while (!over) most = Math.max(most, await memoryOf(test.store));
    })();
    const results = await Promise.all(Array.from({ length: 6 }, () => n(memoryHungry)));
    over = true;
    await watching;
    expect(results).toEqual(Array.from({ length: 6 }, () => [5_000_000]));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(totalBytes);
  });

  it('does not concern inserts, whatever queries ask for', async () => {
    let over = false;
    const failures: unknown[] = [];
    const asking = Array.from({ length: 4 }, async () => {
      while (!over) await n(greedy).catch((error) => failures.push(error));
    });
    for (let id = 0; id < 20; id += 1) await insertEvent(test.store, 'app', {}, `t-${id}`);
    over = true;
    await Promise.all(asking);
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toMatchObject({ clickHouseCode: 241 });
    expect(await n('SELECT count() AS n FROM t_default.`app.events`')).toEqual([20]);
  });
});

async function memoryOf(store: Store & ResultStore): Promise<number> {
  const row = JSON.parse(Buffer.from(await store.select(runningBytes, 'JSONEachRow')).toString()) as {
    bytes: string;
  };
  return Number(row.bytes);
}

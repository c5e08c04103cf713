import { afterAll, beforeAll, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal } from '../../../src/model/identity.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { InsertNumbers } from '../../../src/tail/insert-numbers.ts';
import { readArrivals } from '../../../src/tail/read-arrivals.ts';
import type { TailPosition } from '../../../src/tail/tail-position.ts';
import { catalogOf } from '../../sql/fixtures.ts';
import { administrator, queryService } from '../../sql/querier.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';

const columns = [
  { name: 'n:num', type: 'Nullable(Float64)' },
  { name: 'level:str', type: 'Nullable(String)' },
];
const table = { database: 't_default', table: 'app.events' };
const quoted = '`t_default`.`app.events`';
const dataset = {
  tenant: defaultTenant,
  name: 'app',
  id: 'app',
  kind: 'events',
  columns: new Map(columns.map((column) => [column.name, column])),
  ready: true,
} as const;

let store: TestStore;
let query: QueryService;
let numbers: InsertNumbers;
beforeAll(async () => {
  store = await openTestStore();
  query = queryService(store.store, catalogOf([], [dataset]), { readableRows });
  numbers = new InsertNumbers(store.store);
});
afterAll(async () => {
  await store?.close();
});

/** The table, without rows. */
async function emptyTable(): Promise<void> {
  await store.store.command(`DROP TABLE IF EXISTS ${quoted} SYNC`);
  for (const statement of datasetStatements(defaultTenant, 'app', 'events', undefined, columns))
    await store.store.command(statement);
}

const dayMicros = 86_400_000_000;
const someDay = 20_000 * dayMicros;

/** One insert, of events that all have this time. */
async function insert(events: readonly object[], micros: number, token: string): Promise<void> {
  for (const [index, block] of eventBlocks(events, micros).entries()) {
    const { columns: inserted, bytes } = block;
    const batch = { ...table, columns: inserted, token: `${token}-${index}`, blocks: [bytes] };
    await store.store.insert(batch);
  }
}

const newest = async () => (await numbers.newest([table]))[0] ?? 0;

interface Reading {
  readonly condition?: string;
  readonly principal?: Principal;
  readonly maxRows?: number;
}

/** What lies between a position and the newest insert. */
async function read(
  from: TailPosition,
  { condition = '', principal = administrator, maxRows = 500 }: Reading = {},
) {
  const to = (await newest()) + 1;
  const { rows, skipped, end } = await readArrivals(query, {
    principal,
    tenant: defaultTenant,
    dataset: 'app',
    condition,
    from,
    to: Math.max(to, from.insert),
    maxRows,
    signal: new AbortController().signal,
  });
  const parsed = rows.map(({ json, position }) => ({
    row: JSON.parse(Buffer.from(json).toString()) as { n: number; level: string },
    position,
  }));
  return { rows: parsed, skipped, end };
}

const beginning: TailPosition = { insert: 0, rows: 0 };

test(`each row comes once, in the order of arrival, however late its time and whatever is merged, seed ${testSeed}`, async () => {
  const random = seededRandom(testSeed);
  for (let run = 0; run < 2; run += 1) {
    await emptyTable();
    let next = 0;
    let isInserting = true;
    /** The numbers of the events of each writer, which inserts one after another. */
    const written: number[][] = [[], [], []];
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; count < 12; count += 1) {
        const events = Array.from({ length: random.integer(1, 40) }, () => ({ n: next++, level: 'info' }));
        // Most are of now, and some of days ago, in another partition.
        const micros = someDay - (random.chance(0.3) ? random.integer(0, 2) * dayMicros : 0) + next;
        await insert(events, micros, `${run}-${writer}-${count}`);
        written[writer]?.push(...events.map(({ n }) => n));
      }
    };
    const merge = async (): Promise<void> => {
      while (isInserting)
        await store.store.command(`OPTIMIZE TABLE ${quoted}${random.chance(0.5) ? ' FINAL' : ''}`);
    };
    const seen: number[] = [];
    let at = beginning;
    const follow = async (): Promise<void> => {
      const { rows, skipped, end } = await read(at);
      expect(skipped).toBe(0);
      // A client may have read a part of it, and resumes.
      const kept = random.chance(0.4) ? random.integer(0, rows.length) : rows.length;
      seen.push(...rows.slice(0, kept).map(({ row }) => row.n));
      at = kept === rows.length ? end : (rows[kept - 1]?.position ?? at);
    };
    const merging = merge();
    const writing = Promise.all(written.map((_, writer) => write(writer))).finally(() => {
      isInserting = false;
    });
    while (isInserting) await follow();
    await Promise.all([writing, merging]);
    await store.store.command(`OPTIMIZE TABLE ${quoted} FINAL`);
    while (at.insert <= (await newest())) await follow();
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: next }, (_, n) => n));
    for (const ofWriter of written) {
      const mine = new Set(ofWriter);
      expect(seen.filter((n) => mine.has(n))).toEqual(ofWriter);
    }
  }
});

test('rows beyond those that are wanted are counted', async () => {
  await emptyTable();
  for (let count = 0; count < 4; count += 1)
    await insert(
      Array.from({ length: 10 }, (_, n) => ({ n: 10 * count + n, level: n % 2 === 0 ? 'error' : 'info' })),
      someDay,
      `counted-${count}`,
    );
  const all = await read(beginning, { maxRows: 15 });
  expect([all.rows.map(({ row }) => row.n), all.skipped]).toEqual([
    Array.from({ length: 15 }, (_, n) => n),
    25,
  ]);
  const some = await read(beginning, { maxRows: 7, condition: "level = 'error'" });
  expect([some.rows.map(({ row }) => row.n), some.skipped]).toEqual([[0, 2, 4, 6, 8, 10, 12], 13]);
  const rest = await read(some.rows.at(-1)?.position ?? beginning, { condition: "level = 'error'" });
  expect(rest.rows.map(({ row }) => row.n)).toEqual([14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38]);
  expect((await read(all.end)).rows).toEqual([]);
});

test('rows that the privileges leave out are neither sent nor counted', async () => {
  await emptyTable();
  await insert(
    Array.from({ length: 20 }, (_, n) => ({ n, level: n < 5 ? 'error' : 'info' })),
    someDay,
    'narrowed',
  );
  const principal: Principal = {
    ...administrator,
    kind: 'user',
    privileges: [{ privilege: 'reader', dataset: 'app', tag: { field: 'level', value: 'error' } }],
  };
  const narrowed = await read(beginning, { principal, maxRows: 3 });
  expect([narrowed.rows.map(({ row }) => row.n), narrowed.skipped]).toEqual([[0, 1, 2], 2]);
  const either = await read(beginning, { principal, condition: 'n >= 4 OR true' });
  expect(either.rows.map(({ row }) => row.n)).toEqual([0, 1, 2, 3, 4]);
});

test('a table of an older version keeps the numbers from its first tail on', async () => {
  await emptyTable();
  await store.store.command(`ALTER TABLE ${quoted} MODIFY SETTING enable_block_number_column = 0`);
  for (let n = 0; n < 3; n += 1) await insert([{ n, level: 'info' }], someDay + n, `older-${n}`);
  await store.store.command(`OPTIMIZE TABLE ${quoted} FINAL`);
  await numbers.keep(table, defaultTenant);
  const at = { insert: (await newest()) + 1, rows: 0 };
  for (let n = 3; n < 6; n += 1) await insert([{ n, level: 'info' }], someDay + n, `older-${n}`);
  await store.store.command(`OPTIMIZE TABLE ${quoted} FINAL`);
  expect((await read(at)).rows.map(({ row }) => row.n)).toEqual([3, 4, 5]);
});

test('parts without new rows are not read', async () => {
  await emptyTable();
  for (let n = 0; n < 5; n += 1) await insert([{ n, level: 'info' }], someDay + n * dayMicros, `parts-${n}`);
  const plan = await store.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${await statement(5)}`);
  const text = plan.map(({ explain }) => explain).join('\n');
  expect(text).toContain('Parts: 1 ');
});

/** What the store runs for the rows of the inserts from that number on. */
async function statement(from: number): Promise<string> {
  const statements: string[] = [];
  const watched = queryService(
    {
      stream: (sql, options) => {
        statements.push(sql);
        return store.store.stream(sql, options);
      },
    },
    catalogOf([], [dataset]),
  );
  const result = await watched.arrivals({
    principal: administrator,
    tenant: defaultTenant,
    dataset: 'app',
    condition: '',
    inserts: { from, to: from + 1 },
    form: 'rows',
    maxRows: 10,
    signal: new AbortController().signal,
  });
  for await (const _ of result.chunks);
  return statements[0] ?? '';
}

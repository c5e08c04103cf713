import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { CatalogView, DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { AppError } from '../../../src/errors.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal, Privilege, Tag } from '../../../src/model/identity.ts';
import { readCases } from '../../sql/cases.ts';
import type { Rows } from '../../sql/compare.ts';
import { anyExpression, bool } from '../../sql/expressions.ts';
import { catalogOf, type Fixture, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/**
 * To a reader narrowed by a tag, the store must look like one that holds only the rows with that tag, in
 * results and in errors. So there are two tenants, one with all rows and one with only those, and every query
 * runs in both.
 */
const trimmedTenant = 'trimmed';
const tag: Tag = { field: 'level', value: 'info' };

const metrics: DatasetInfo = {
  tenant: defaultTenant,
  name: 'm',
  id: 'm',
  kind: 'metrics',
  columns: new Map(),
  ready: true,
};
/** Rows whose tag is costly to read, so that the engine would rather look at other conditions first. */
const heavy: DatasetInfo = {
  tenant: defaultTenant,
  name: 'heavy',
  id: 'heavy',
  kind: 'events',
  columns: new Map(
    [
      { name: 'text:str', type: 'Nullable(String)' },
      { name: 'id:num', type: 'Nullable(Float64)' },
    ].map((column) => [column.name, column]),
  ),
  ready: true,
};
const catalog = catalogOf(fixtures, [metrics, heavy]);
/** Both tenants have the same datasets with the same fields. */
const bothTenants: CatalogView = {
  version: () => 0,
  get: (_, name) => catalog.get(defaultTenant, name),
  list: () => catalog.list(defaultTenant),
};

const principal = (...privileges: Privilege[]): Principal => ({
  kind: 'user',
  name: 'u',
  tenant: defaultTenant,
  privileges,
});

const narrowed = principal(
  { privilege: 'reader', dataset: 'app', tag },
  { privilege: 'reader', dataset: 'heavy', tag: { field: 'text', value: 'a' } },
  { privilege: 'reader', dataset: 'm', tag: { field: 'job', value: 'a' } },
  ...fixtures
    .filter(({ name }) => name !== 'app')
    .map(({ name }): Privilege => ({ privilege: 'reader', dataset: name })),
);

/** The rows of the fixture that carry the tag. */
function trimmed(fixture: Fixture): Fixture {
  const index = Object.keys(fixture.fields).indexOf(tag.field);
  return index < 0
    ? fixture
    : { ...fixture, rows: fixture.rows.filter((row) => row[index + 1] === tag.value) };
}

async function loadMetrics(store: TestStore, tenant: string, series: string): Promise<void> {
  for (const statement of datasetStatements(tenant, 'm', 'metrics')) await store.store.command(statement);
  await store.store.command(`INSERT INTO t_${tenant}.\`m.series\` (date, series_id, metric_id, metric_name, labels)
    SELECT '2024-03-01', number, 7, 'up', map('job', if(number < 3, 'a', 'b'), 'i', toString(number))
    FROM numbers(6) WHERE ${series}`);
  await store.store.command(`INSERT INTO t_${tenant}.\`m.samples\` (metric_id, series_id, timestamp, value)
    SELECT 7, number % 6, toDateTime64('2024-03-01 12:00:00.000', 3, 'UTC') + intDiv(number, 6), number
    FROM numbers(60) WHERE number % 6 IN (SELECT number FROM numbers(6) WHERE ${series})`);
  await store.store.command(`INSERT INTO t_${tenant}.\`m.exemplars\` (metric_id, series_id, timestamp, value, labels)
    SELECT metric_id, series_id, timestamp, value, map('trace_id', toString(value)) FROM t_${tenant}.\`m.samples\``);
  // The metrics of the series, and "down", of which there is no series that the reader may see.
  if (series === 'true') {
    await store.store.command(`INSERT INTO t_${tenant}.\`m.series\` (date, series_id, metric_id, metric_name, labels)
      VALUES ('2024-03-01', 99, 8, 'down', map('job', 'b'))`);
  }
  for (const name of series === 'true' ? ['up', 'down'] : ['up']) {
    await store.store.command(`INSERT INTO t_${tenant}.\`m.metadata\` (date, metric_name, type, description, received_at)
      VALUES ('2024-03-01', '${name}', 'gauge', 'about ${name}', now64(6))`);
  }
}

async function loadHeavy(store: TestStore, tenant: string, rows: number): Promise<void> {
  for (const statement of datasetStatements(tenant, 'heavy', 'events')) await store.store.command(statement);
  const table = `t_${tenant}.\`heavy.events\``;
  // In files of their own, so that the columns have costs of their own.
  await store.store.command(`ALTER TABLE ${table} MODIFY SETTING min_bytes_for_wide_part = 0`);
  for (const { name, type } of heavy.columns.values()) {
    await store.store.command(`ALTER TABLE ${table} ADD COLUMN \`${name}\` ${type}`);
  }
  const text = "concat(repeat(toString(rand()), 200), if(number % 2 = 0, 'a', 'b'))";
  await store.store.command(
    `INSERT INTO ${table} SELECT now64(6), ${text}, number FROM numbers(${rows})
     UNION ALL SELECT now64(6), 'a', number * 2 FROM numbers(10)`,
  );
}

let store: TestStore;
let ask: Ask;
beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) {
    await loadEvents(store.store, fixture);
    await loadEvents(store.store, trimmed(fixture), trimmedTenant);
  }
  await loadHeavy(store, defaultTenant, 20_000);
  await loadHeavy(store, trimmedTenant, 0);
  await loadMetrics(store, defaultTenant, 'true');
  await loadMetrics(store, trimmedTenant, 'number < 3');
  ask = asker(queryService(store.store, bothTenants, { readableRows }));
});
afterAll(() => store?.close());

const everything = principal({ privilege: 'reader' });

const outcome = (sql: string, who: Principal, tenant: string) =>
  ask(sql, { principal: who, tenant }).catch((thrown: unknown) => {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  });

async function expectSame(sql: string): Promise<void> {
  const seen = await outcome(sql, narrowed, defaultTenant);
  const allowed = await outcome(sql, narrowed, trimmedTenant);
  const code = (what: typeof seen) => (what instanceof AppError ? what.code : 'rows');
  expect(`${sql}: ${code(seen)}`).toBe(`${sql}: ${code(allowed)}`);
  if (seen instanceof AppError || allowed instanceof AppError) return;
  expect({ sql, rows: comparable(seen) }).toEqual({ sql, rows: comparable(allowed) });
}

/** Rows in an order of their own; doubles are sums in any order. */
const comparable = ({ rows }: Rows): readonly string[] =>
  rows
    .map((row) => JSON.stringify(row.map((cell) => (typeof cell === 'number' ? cell.toPrecision(12) : cell))))
    .sort();

/** An expression over `app` as one over its alias `b`. */
const ofB = (expression: string): string =>
  expression.replaceAll(/\b(id|ms|ok|status|bytes|level|service|message|p_timestamp)\b/g, 'b.$1');

describe('a reader narrowed by a tag', () => {
  test('sees the rows with the tag and no others', async () => {
    const all = await ask('select count(*) from app', { principal: everything });
    const some = await ask('select level, count(*) from app group by level', { principal: narrowed });
    expect(all.rows).toEqual([[60]]);
    expect(some.rows).toEqual([['info', 15]]);
  });

  test.each([...readCases('same/everyday.sql'), ...readCases('errors.sql')])(
    'cannot tell what is left out: $place',
    async ({ query }) => {
      // Without an order, any rows may be the first.
      if (/\b(limit|offset)\b/i.test(query)) return;
      await expectSame(query);
    },
  );

  test.each([
    'select count(*), sum(value), min(i) from m',
    "select count(*) from m where job = 'b'",
    'select value from m where 1 / (i::int - 5) >= 0',
    'select job, count(*) from m.series group by job',
    'select metric_name, labels from m.series',
    'select * from m.metadata',
    'select count(*), sum(value) from m.exemplars',
    "select * from m.exemplars where job = 'b'",
    'select x.metric_name from m.metadata x left join m.series y on x.metric_name = y.metric_name',
    'select a.i, b.i from m a join m.series b on a.i = b.i where a.value < 20',
    'with x as (select job from m) select count(*) from x',
    'select (select count(*) from m), (select count(*) from m.series)',
    'select count(*) from app where exists (select 1 from m where m.value = app.id)',
    "select count(*) from m where value in (select value from m where job <> 'a')",
  ])('cannot tell what is left out of metrics: %s', expectSame);

  test.each([
    'select message::int from app',
    "select 1 from app where case when level = 'info' then false else message::int > 0 end",
    'select 1 / (id - 1) from app',
    'select count(*) from app where 1 / (id - 1) > 0',
    'select count(*) from (select id, level from app) x where 1 / (id - 1) > 0',
    'select a.id from app a join app b on a.id = b.id where 1 / (b.id - 2) > 5',
    'select count(*) from emp join app on emp.eid = app.id where 1 / (app.id - 1) > 0',
    'select count(*) from emp left join app on emp.eid = app.id and 1 / (app.id - 1) > 0',
    'select level from app group by level having min(1 / (id - 1)) > 0',
    'select count(*) from app where id in (select id from app where 1 / (id - 3) > 0)',
    'with x as (select id from app) select count(*) from x where 1 / (id - 1) > 0',
    'select id from app union select id from app where 1 / (id - 1) > 0',
    'select row_number() over (order by 1 / (id - 1)) from app',
    'select count(*) from heavy where 1 / (id - 1) < 5',
    "select count(*) from heavy where (case when id = 1 then 'x' else '1' end)::int = 1",
    'select count(*) from heavy a join heavy b on a.id = b.id where 1 / (a.id - 1) < 5 and 1 / (b.id - 3) < 5',
    'select count(*) from emp join heavy on eid = id where 1 / (id - 1) < 5 and 1 / (id - 3) < 5',
    'select count(*) from (select id from heavy union all select 7) x where 1 / (id - 1) < 5',
    'with x as (select id from heavy) select count(*) from x where 1 / (id - 1) < 5',
    'select 1 / (id - 1) from heavy order by 1 limit 1',
    "select count(*) from app where (level || id)::int > 0 and level <> 'info'",
  ])('cannot make an error of what is left out: %s', expectSame);

  test('cannot tell what is left out by any expression', async () => {
    const property = fc.asyncProperty(anyExpression, bool, async (item, condition) => {
      await expectSame(`select ${item} as v from app where ${condition}`);
      await expectSame(`select count(*) from app a join app b on a.id = b.id where ${ofB(condition)}`);
    });
    await fc.assert(property, { numRuns: 30 });
  });
});

/** Of the fixture, by its own words. */
const okRows = (fixtures[0]?.rows ?? []).filter((row) => row[7] === true).length;

test('counts of a dataset are those of the rows that may be read', async () => {
  const service = queryService(store.store, bothTenants, { readableRows });
  for (const [dataset, expected] of [
    ['app', 15],
    ['m', 30],
  ] as const) {
    const bins = await service.counts({
      principal: narrowed,
      tenant: defaultTenant,
      stream: dataset,
      startTime: '2024-01-01 00:00:00',
      endTime: '2025-01-01 00:00:00',
      signal: new AbortController().signal,
    });
    const { rows } = await ask(`select count(*) from ${dataset}`, { principal: narrowed });
    const total = bins.reduce((sum, { count }) => sum + count, 0);
    expect([total, rows[0]?.[0]], dataset).toEqual([expected, expected]);
  }
});

describe('tags', () => {
  const count = async (dataset: string, ...tags: Tag[]) => {
    const privileges = tags.map((each): Privilege => ({ privilege: 'reader', dataset, tag: each }));
    const { rows } = await ask(`select count(*) from ${dataset}`, { principal: principal(...privileges) });
    return rows[0]?.[0];
  };

  test('add up, and none of them takes away what a privilege without a tag gives', async () => {
    expect(await count('app', tag, { field: 'level', value: 'warn' })).toBe(30);
    const { rows } = await ask('select count(*) from app', {
      principal: principal({ privilege: 'reader', tag }, { privilege: 'writer', dataset: 'app' }),
    });
    expect(rows).toEqual([[60]]);
  });

  test.each<[Tag, number]>([
    [{ field: 'id', value: '7' }, 1],
    [{ field: 'id', value: '7.0' }, 0],
    [{ field: 'id', value: '' }, 0],
    [{ field: 'ok', value: 'true' }, okRows],
    [{ field: 'ok', value: 'TRUE' }, 0],
    [{ field: 'message', value: '' }, 9],
    [{ field: 'message', value: "it's a 100% \\ backslash" }, 9],
    [{ field: 'message', value: "' OR 1=1 --" }, 0],
    [{ field: 'nosuch', value: 'x' }, 0],
    [{ field: 'level:str', value: 'info' }, 0],
    [{ field: 'p_timestamp', value: '2024-03-01' }, 0],
  ])('%j lets %i rows through', async (each, expected) => {
    expect(await count('app', each)).toBe(expected);
  });

  test.each<[Tag, number]>([
    [{ field: 'job', value: 'a' }, 30],
    [{ field: 'i', value: '5' }, 10],
    [{ field: 'metric_name', value: 'up' }, 60],
    [{ field: 'metric_name', value: 'down' }, 0],
    [{ field: 'nosuch', value: '' }, 0],
  ])('%j lets %i samples through', async (each, expected) => {
    expect(await count('m', each)).toBe(expected);
  });
});

describe('nobody without a reading privilege', () => {
  const anyPrivilege = fc.record(
    {
      privilege: fc.constantFrom('ingestor' as const, 'reader' as const, 'writer' as const, 'admin' as const),
      dataset: fc.constantFrom('app', 'emp', 'm'),
    },
    { requiredKeys: ['privilege'] },
  );
  /** What reads `app`, in every place where a relation can stand. */
  const queries = [
    'select * from app',
    'select count(*) from app',
    'select (select max(id) from app)',
    'select 1 from emp where exists (select 1 from app)',
    'select 1 from emp where eid in (select id from app)',
    'with x as (select id from app) select 1 from x',
    'with x as (select id from app) select 1',
    'select 1 from emp union all select id from app',
    'select 1 from emp join app on eid = id',
    'select 1 from emp, (select id from app) x',
    'select 1 from APP',
  ];

  test('ever reads a row', async () => {
    const property = fc.asyncProperty(
      fc.array(anyPrivilege, { maxLength: 4 }),
      fc.constantFrom(...queries),
      async (privileges, query) => {
        const answer = await outcome(
          query,
          principal({ privilege: 'reader', dataset: 'emp' }, ...privileges),
          defaultTenant,
        );
        const mayRead = privileges.some(
          ({ privilege, dataset }) =>
            privilege !== 'ingestor' && (dataset === undefined || dataset === 'app'),
        );
        expect(answer instanceof AppError ? answer.code : 'rows').toBe(mayRead ? 'rows' : 'forbidden');
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

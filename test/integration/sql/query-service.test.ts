import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { AppError } from '../../../src/errors.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { type Ask, administrator, asker, nowMicros, queryService, wholeOf } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** Fields that hold several types, and values that JSON or SQL find difficult. */
const longField = `long_${'äb'.repeat(40)}`;
const mixedColumns = [
  ['status:num', 'Nullable(Float64)'],
  ['status:str', 'Nullable(String)'],
  ['flag:bool', 'Nullable(Bool)'],
  ['flag:str', 'Nullable(String)'],
  ['flag:num', 'Nullable(Float64)'],
  ['odd na"me`s\\:str', 'Nullable(String)'],
  ['p:q:num', 'Nullable(Float64)'],
  [`${longField}:num`, 'Nullable(Float64)'],
] as const;
const mixed: DatasetInfo = {
  tenant: defaultTenant,
  name: 'mixed',
  id: 'mixed',
  kind: 'events',
  columns: new Map(mixedColumns.map(([name, type]) => [name, { name, type }])),
  ready: true,
};
const catalog = catalogOf(fixtures, [mixed]);

let store: TestStore;
let ask: Ask;

beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  for (const statement of datasetStatements(defaultTenant, 'mixed', 'events'))
    await store.store.command(statement);
  for (const [name, type] of mixedColumns) {
    const quoted = name.replace(/[\\`]/g, (character) => `\\${character}`);
    await store.store.command(`ALTER TABLE t_default.\`mixed.events\` ADD COLUMN \`${quoted}\` ${type}`);
  }
  await store.store.command(`INSERT INTO t_default.\`mixed.events\` VALUES
    ('2024-03-01 00:00:00', 200, NULL, true, NULL, NULL, 'a', 1, NULL),
    ('2024-03-01 00:00:01', 404.5, NULL, NULL, 'yes', NULL, 'b', 2, NULL),
    ('2024-03-01 00:00:02', NULL, '200', NULL, NULL, 7, 'c', 3, NULL),
    ('2024-03-01 00:00:03', NULL, 'lost', false, NULL, NULL, NULL, 1e300, NULL),
    ('2024-03-01 00:00:04', NULL, NULL, NULL, NULL, NULL, NULL, nan, NULL)`);
  ask = asker(queryService(store.store, catalog));
});
afterAll(() => store?.close());

const rows = async (sql: string, options = {}) => (await ask(sql, options)).rows;
const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
  const thrown = await promise.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown;
};

describe('a field with values of several types', () => {
  test('is shown as text, with every value', async () => {
    expect(await rows('select status, flag from mixed order by p_timestamp')).toEqual([
      ['200', 'true'],
      ['404.5', 'yes'],
      ['200', '7'],
      ['lost', 'false'],
      [null, null],
    ]);
  });

  test('is a number where numbers are asked for', async () => {
    expect(
      await rows('select sum(status), max(status + 1), count(*) filter (where status >= 200) from mixed'),
    ).toEqual([[604.5, 405.5, 2]]);
    expect(await rows('select p_timestamp from mixed where status = 200')).toHaveLength(1);
    expect(await rows('select p_timestamp from mixed where status in (200, 404.5)')).toHaveLength(2);
  });

  test('is text where text is asked for', async () => {
    expect(await rows("select count(*) from mixed where status = '200'")).toEqual([[2]]);
    expect(await rows("select upper(status) from mixed where status like '%s%'")).toEqual([['LOST']]);
    expect(await rows('select status, count(*) from mixed group by status order by status')).toEqual([
      ['200', 2],
      ['404.5', 1],
      ['lost', 1],
      [null, 1],
    ]);
  });

  test('is a condition where one is asked for', async () => {
    expect(await rows('select count(*) from mixed where flag')).toEqual([[1]]);
    expect(await rows('select count(*) from mixed where flag is not true')).toEqual([[4]]);
  });

  test('is NULL only where it has no value of any type', async () => {
    expect(
      await rows('select count(*), count(status), count(flag) from mixed where status is not null'),
    ).toEqual([[4, 4, 4]]);
    expect(await rows('select count(*) from mixed where flag is null')).toEqual([[1]]);
  });

  test('is converted as a whole by a cast', async () => {
    expect(
      await rows("select status::float8 from mixed where status <> 'lost' order by p_timestamp"),
    ).toEqual([[200], [404.5], [200]]);
    expect((await refusal(rows('select status::float8 from mixed'))).code).toBe('sql_bad_value');
  });
});

/** Without NUL, which the parser refuses, and half surrogate pairs, which UTF-8 cannot write. */
const isStorable = (text: string): boolean => !text.includes('\0') && Buffer.from(text).toString() === text;

describe('names and values', () => {
  test('any field name can be asked for', async () => {
    expect(await rows('select "odd na""me`s\\" from mixed where "p:q" = 1')).toEqual([['a']]);
  });

  test("a name longer than PostgreSQL's 63 bytes is found by what the parser leaves of it", async () => {
    expect(await rows(`select "${longField}" from mixed limit 1`)).toEqual([[null]]);
  });

  test('any text comes back as it went in', async () => {
    const property = fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 30 }), async (text) => {
      fc.pre(isStorable(text));
      const quoted = `'${text.replaceAll("'", "''")}'`;
      expect(await rows(`select ${quoted}, ${quoted} || 'x', length(${quoted})`)).toEqual([
        [text, `${text}x`, [...text].length],
      ]);
    });
    await fc.assert(property, { numRuns: 80 });
  });

  test('any alias comes back as the name of its column', async () => {
    // PostgreSQL cuts names after 63 bytes.
    const property = fc.asyncProperty(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
      async (name) => {
        fc.pre(isStorable(name));
        const { names, rows: answer } = await ask(
          `select level as "${name.replaceAll('"', '""')}" from app where id = 1`,
        );
        expect({ names, answer }).toEqual({ names: [name], answer: [['warn']] });
      },
    );
    await fc.assert(property, { numRuns: 80 });
  });

  test.each(['t1', 't1.c1', 't2', 'c1', 'o1', 'tw1', 't_1', 'p_timestamp', '__table1'])(
    'an alias like a generated name: %s',
    async (name) => {
      const query = `with w as (select id, level from app) select id as "x", level as "${name}", id + 1 as "y"
        from w where level = 'warn' and id > 3 order by "${name}", id desc limit 1`;
      expect(await rows(query)).toEqual([[57, 'warn', 58]]);
    },
  );
});

describe('JSON', () => {
  test('timestamps in RFC 3339, int64 as numbers, booleans, null for NaN', async () => {
    const { chunks } = await queryService(store.store, catalog).run({
      principal: administrator,
      tenant: defaultTenant,
      sql: `select p_timestamp, 9007199254740993 as big, "p:q" = 3 as bool, 5.0 as num, 'nan'::float8 as nan,
        '2024-01-02'::date as day, null as nothing from mixed order by 1 limit 1`,
      format: 'json',
      signal: new AbortController().signal,
    });
    expect((await wholeOf(chunks)).toString()).toBe(
      '[{"p_timestamp":"2024-03-01T00:00:00.000000Z","big":9007199254740993,"bool":false,"num":5,"nan":null,"day":"2024-01-02","nothing":null}]',
    );
  });

  test('no rows are an empty array', async () => {
    expect(await ask('select level from app where false')).toEqual({ names: ['level'], rows: [] });
  });
});

describe('extensions of PostgreSQL', () => {
  test('remainders and bits of doubles, rounding to digits', async () => {
    expect(
      await rows('select id % 7, id & 3, round(ms, 1), round(avg(ms) over (), 2) from app where id = 12'),
    ).toEqual([[5, 0, 16.7, 16.69]]);
    expect((await refusal(rows('select (id + 0.5) & 1 from app'))).code).toBe('sql_out_of_range');
  });
});

describe('the request', () => {
  test('the time range is half-open, to the microsecond', async () => {
    const count = async (startTime?: string, endTime?: string) =>
      (
        await rows('select count(*) from mixed', {
          ...(startTime && { startTime }),
          ...(endTime && { endTime }),
        })
      )[0]?.[0];
    expect(await count('2024-03-01 00:00:01', '2024-03-01 00:00:03')).toBe(2);
    expect(await count('2024-03-01T00:00:01.000001Z', '2024-03-01T01:00:03+01:00')).toBe(1);
    expect(await count('2024-03-01 00:00:02')).toBe(3);
    expect(await count(undefined, '2024-03-01 00:00:00')).toBe(0);
    expect(await count('3d', 'now')).toBe(5);
    expect(await count('1h', 'now')).toBe(0);
  });

  test('the range bounds every dataset that is read, at any depth', async () => {
    const query = `with a as (select id from app) select (select count(*) from a), (select count(*) from app),
      count(*) from (select 1 from app) x where exists (select 1 from app)`;
    const range = { startTime: '2024-03-02 00:00:00', endTime: '2024-03-03 00:00:00' };
    expect(await rows(query, range)).toEqual([[20, 20, 20]]);
  });

  test('a bad range is refused', async () => {
    const error = await refusal(rows('select 1', { startTime: 'yesterday' }));
    expect(error.code).toBe('bad_time_range');
  });

  test('streamName must be read', async () => {
    expect(await rows('select count(*) from app', { streamName: 'app' })).toEqual([[60]]);
    const error = await refusal(rows('select count(*) from app', { streamName: 'emp' }));
    expect(error.code).toBe('bad_request');
    expect(error.message).toContain('it reads app');
  });

  test('a dataset that may not be read is forbidden, wherever it is named', async () => {
    const limited = asker(
      queryService(store.store, catalog, {
        readableRows: (_, dataset) => (dataset === 'app' ? 'all' : 'none'),
      }),
    );
    expect((await limited('select count(*) from app')).rows).toEqual([[60]]);
    for (const query of [
      'select * from emp',
      'select (select max(eid) from emp) from app',
      'with x as (select 1 from emp) select 1',
    ]) {
      expect((await refusal(limited(query))).code).toBe('forbidden');
    }
    const unknown = await refusal(limited('select * from em'));
    expect(unknown.code).toBe('sql_unknown_relation');
    // A suggestion would tell that it exists.
    expect(unknown.message).not.toContain('emp');
  });
});

describe('data that is on its way', () => {
  const later: DatasetInfo = { ...mixed, name: 'later', id: 'later' };

  test('a missing relation is looked for once more after waiting', async () => {
    let arrived = false;
    const appearing = {
      ...catalog,
      get: (tenant: string, name: string) =>
        arrived || name !== 'app' ? catalog.get(tenant, name) : undefined,
    };
    const waiting = asker(
      queryService(store.store, appearing, {
        waitForPending: () => {
          arrived = true;
          return Promise.resolve(true);
        },
      }),
    );
    expect((await waiting('select count(*) from app')).rows).toEqual([[60]]);
  });

  test('without anything on its way, the error comes at once', async () => {
    expect((await refusal(rows('select nosuch from app'))).code).toBe('sql_unknown_column');
  });

  test('a dataset that is not ready after waiting is no error of the query', async () => {
    const unready = catalogOf(fixtures, [{ ...later, ready: false }]);
    const error = await refusal(asker(queryService(store.store, unready))('select 1 from later'));
    expect(error.code).toBe('store_unavailable');
  });
});

describe('failures in the store', () => {
  const endless =
    'select count(*) from app a, app b, app c, app d, app e where a.ms + b.ms + c.ms + d.ms + e.ms = 0.123';
  const bounds = {
    timeoutMs: 20_000,
    maxMemoryBytes: 1e9,
    maxThreads: 2,
    maxResultRows: 1000,
    maxResultBytes: 1e6,
  };
  const bounded = (changed: Partial<typeof bounds>) =>
    asker(queryService(store.store, catalog, { bounds: { ...bounds, ...changed } }));

  test('too long', async () => {
    expect((await refusal(bounded({ timeoutMs: 300 })(endless))).code).toBe('query_timeout');
  });

  test('too many rows', async () => {
    expect((await refusal(bounded({})('select a.id from app a, app b'))).code).toBe('query_result_too_large');
  });

  test('too many bytes', async () => {
    const query = 'select a.message || b.message from app a, app b limit 900';
    expect((await refusal(bounded({ maxResultBytes: 1000 })(query))).code).toBe('query_result_too_large');
  });

  test('too much memory', async () => {
    const query = 'select count(*) from (select distinct a.id, b.id, c.id from app a, app b, app c) x';
    expect((await refusal(bounded({ maxMemoryBytes: 2_000_000 })(query))).code).toBe('query_memory');
  });

  test('a subquery with several rows as a value', async () => {
    const error = await refusal(rows('select (select eid from emp)'));
    expect([error.code, error.definition.sqlState]).toEqual(['sql_cardinality', '21000']);
  });

  test('the message shows nothing of the store', async () => {
    const error = await refusal(rows('select message::int from app'));
    expect(error.message).not.toMatch(/t_default|app\.events|message:str|t1|c1|Int32/);
  });

  test('a query still runs after all of these', async () => {
    expect(await rows('select count(*) from app')).toEqual([[60]]);
  });
});

describe('statements beside SELECT', () => {
  test.each([
    ['SHOW TimeZone', [['TimeZone'], ['UTC']]],
    ['show time zone', [['TimeZone'], ['UTC']]],
    ['SHOW datestyle', [['DateStyle'], ['ISO, MDY']]],
    ['SHOW transaction isolation level', [['transaction_isolation'], ['read committed']]],
    ["select current_setting('server_version')", [['current_setting'], ['15.0']]],
  ])('%s', async (sql, [names, row]) => {
    expect(await ask(sql)).toEqual({ names, rows: [row] });
  });

  test('SHOW ALL', async () => {
    const all = await ask('SHOW ALL');
    expect(all.names).toEqual(['name', 'setting', 'description']);
    expect(all.rows.map(([name, setting]) => [name, setting])).toContainEqual(['TimeZone', 'UTC']);
  });

  test('EXPLAIN shows what the store would run, with its times and parameters', async () => {
    const question = {
      parameters: ["it's"],
      startTime: '2024-03-01 00:00:00',
      endTime: '2024-03-02 00:00:00',
    };
    const query = 'select count(*), now() from app where level = $1';
    const { names, rows } = await ask(`EXPLAIN (VERBOSE, COSTS OFF) ${query}`, question);
    expect(names).toEqual(['QUERY PLAN']);
    const { sql } = await queryService(store.store, catalog).explain({
      ...question,
      sql: query,
      principal: administrator,
      tenant: defaultTenant,
      signal: new AbortController().signal,
    });
    expect(rows).toEqual([['ClickHouse runs:'], [sql]]);
    expect(sql).toContain(`'it\\'s'`);
    expect(await ask("explain select current_setting('TimeZone')")).toMatchObject({ names: ['QUERY PLAN'] });
  });

  test.each([
    ['SET TimeZone = UTC', 'sql_unsupported', 'write AT TIME ZONE into the query'],
    ['SHOW nothing_of_that_name', 'sql_bad_value', 'nothing_of_that_name'],
    ['EXPLAIN ANALYZE select 1', 'sql_unsupported', 'EXPLAIN ANALYZE'],
    ['EXPLAIN (FORMAT JSON) select 1', 'sql_unsupported', 'EXPLAIN (FORMAT JSON)'],
    ['EXPLAIN DELETE FROM app', 'sql_unsupported', 'DELETE'],
    ['EXPLAIN select 1 from nowhere', 'sql_unknown_relation', 'nowhere'],
  ])('%s is refused', async (sql, code, text) => {
    const { code: actual, message } = await refusal(ask(sql));
    expect([actual, message]).toEqual([code, expect.stringContaining(text)]);
  });
});

test('now() is the moment of the request', async () => {
  const [[now]] = (await rows('select extract(epoch from now())')) as [[number]];
  expect(now * 1e6).toBe(nowMicros);
});

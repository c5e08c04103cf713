import { readdirSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryBody } from '../../../src/http/routes/query/query-body.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { QueryQuestion } from '../../../src/query/request.ts';
import { uniqueNames } from '../../../src/sql/resolve/output-name.ts';
import { readCases } from '../../sql/cases.ts';
import { difference } from '../../sql/compare.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import { type Ask, administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { rejectedError } from '../../support/lib/caught.ts';

/**
 * Queries with parameters, in Millrace and in PostgreSQL: the same types are inferred, and the same rows come
 * out.
 */
type Case = readonly [sql: string, ...params: unknown[]];

const cases: readonly Case[] = [
  // Comparisons
  ['select id from app where status = $1 order by id', 500],
  ['select id from app where status = $1 order by id', '404'],
  ['select id from app where level = $1 and ms > $2 order by id', 'error', 20.5],
  ['select id from app where $1 = level order by id', 'warn'],
  ['select id from app where id between $1 and $2 order by id', 3, 7],
  ['select id from app where level in ($1, $2) order by id', 'warn', 'error'],
  ['select id from app where level not in ($1, $2) order by id', 'warn', null],
  ['select id from app where ok = $1 order by id', true],
  ['select id from app where ok is not distinct from $1 order by id', null],
  ['select id from app where level = $1 or (level is null and $1 is null) order by id', 'info'],
  ['select count(*) from app where level = $1', null],
  [
    'select count(*) from app where p_timestamp >= $1 and p_timestamp < $2',
    '2024-03-01T06:00:00Z',
    '2024-03-02 00:00:00+00',
  ],
  [
    'select count(*) from app where p_timestamp >= $1::timestamptz - $2::interval',
    '2024-03-02 00:00:00+00',
    '6 hours',
  ],
  ['select count(*) from emp where hired::date = $1', '2020-02-29'],
  ['select count(*) from app where (id, level) = ($1, $2)', 5, 'warn'],
  // Arrays
  ['select id from app where level = any($1) order by id', ['warn', 'error']],
  ['select id from app where level = any($1) order by id', []],
  ['select id from app where level = any($1) order by id', null],
  ['select id from app where level <> all($1) order by id', ['warn', null]],
  ['select id from app where level <> all($1) order by id', ['warn']],
  ['select id from app where id = any($1::float8[]) order by id', [1, 2, 3]],
  ['select id from app where id > any($1) order by id', [57, 58]],
  ['select $1::text[]', ['a"b', '{x,y}', 'null', null, '', 'back\\slash', ' ']],
  ['select $1::int[]', [1, -2, null]],
  ['select $1::bigint[]', ['9007199254740993', 1]],
  ['select $1::bool[]', [true, false, null]],
  ['select cardinality($1::text[])', ['a', 'b']],
  ['select ($1::int[])[2]', [7, 8, 9]],
  // Casts, and values of all types
  ['select $1::int', -5],
  ['select $1::smallint + $2::smallint', 1, -2],
  ['select $1::bigint', '9223372036854775807'],
  ['select $1::bigint - 1', '-9223372036854775807'],
  ['select $1::numeric', '12345678901234567890.123456789'],
  ['select $1::numeric(10,2)', 1.005],
  ['select $1::numeric + $2::numeric', 1.5, '0.25'],
  ['select $1::float8', 1.5e300],
  ['select $1::float8', '-Infinity'],
  ['select $1::bool, $2::bool', true, 'f'],
  ['select $1::text', 'it\'s \\ "quoted" -- /* \' */ ; \n {p1:String}'],
  ['select $1::timestamptz', '2024-02-29 12:34:56.789012+01'],
  ['select $1::timestamp', '1969-12-31 23:59:59.5'],
  ['select $1::date', '2000-02-29'],
  ['select $1::date + 1', '1999-12-31'],
  ['select $1::interval', '1 day 02:03:04'],
  ['select $1::jsonb ->> $2', { a: 'x', b: 2 }, 'a'],
  ['select $1::jsonb -> $2::int', [10, 20], 1],
  ["select $1::json ->> 'n'", { n: 12 }],
  ['select $1::int, $2::text, $3::float8, $4::bool, $5::timestamptz', null, null, null, null, null],
  ['select $1::numeric, $2::interval, $3::text[]', null, null, null],
  // Without a context: text
  ['select $1', 'x'],
  ['select $1 as a, $2 as b', 'x', null],
  ['select upper($1)', 'strasse'],
  ['select $1 || $2', 'a', 'b'],
  ['select concat($1::text, $2::text)', 'a', null],
  ['select coalesce($1, level) from app where id < 4 order by id', null],
  ['select coalesce(level, $1) from app where id < 9 order by id', 'none'],
  ['select nullif(level, $1) from app where id < 9 order by id', 'warn'],
  ['select case when id = $1 then $2 else level end from app where id < 5 order by id', 3, 'three'],
  ['select greatest($1, id) from app where id < 5 order by id', 2],
  // Operators: the type of the other side
  ['select id + $1 from app where id < 4 order by id', 1.5],
  ['select 7 / $1', 2],
  ['select 10 % $1', 3],
  ['select $1 * 2', 21],
  ['select 2 ^ $1::float8', 10],
  ['select id from app where level like $1 order by id', 'w%'],
  ['select id from app where message ilike $1 order by id', '%A%'],
  ['select id from app where message ~ $1 order by id', '^[a-z ]+$'],
  ['select id from app where level || $1 = $2 order by id', '!', 'warn!'],
  // Functions, and what the translator needs to know
  ['select substring(level, $1::int, $2::int) from app where id < 4 order by id', 2, 2],
  ['select left(level, $1) from app where id < 4 order by id', 2],
  ['select split_part(message, $1, $2) from app order by id', ',', 2],
  ['select date_trunc($1, p_timestamp) from app where id < 3 order by id', 'hour'],
  ['select to_char(p_timestamp, $1) from app where id < 3 order by id', 'YYYY-MM-DD'],
  ['select regexp_replace(level, $1, $2) from app where id < 4 order by id', 'a', '<&>'],
  ['select string_agg(level, $1 order by id) from app where id < 5', ', '],
  ['select round($1::numeric, $2)', '2.567', 1],
  ['select percentile_cont($1) within group (order by ms) from app', 0.5],
  ['select extract(epoch from $1::timestamptz)', '2024-01-01 00:00:00+00'],
  ['select p_timestamp at time zone $1 from app where id < 2 order by id', 'Europe/Berlin'],
  ['select length($1)', 'äöü'],
  ['select position($1 in level) from app where id < 4 order by id', 'r'],
  ['select abs($1::int)', -3],
  ['select lag(id, $1) over (order by id) from app where id < 5 order by id', 2],
  ['select * from generate_series($1::int, $2::int) as g(n)', 1, 4],
  ['select n from generate_series(1, $1) as g(n)', 3],
  ['select unnest($1::text[]) as u order by 1', ['b', 'a']],
  // Clauses
  ['select id from app order by id limit $1', 3],
  ['select id from app order by id limit $1 offset $2', '3', 10],
  ['select id from app order by id limit $1 offset $2', null, 57],
  ['select level, count(*) from app group by level having count(*) > $1 order by 1', 10],
  ['select count(*) filter (where level = $1) from app', 'warn'],
  ['select a.id from app a join app b on a.id = b.id + $1 where b.level = $2 order by 1', 1, 'warn'],
  ['select id from app where exists (select 1 from emp where eid = $1 and eid = app.id) order by id', 3],
  ['select id from app where id in (select eid from emp where salary > $1) order by id', 4000],
  ['select (select count(*) from emp where dept = $1)', 10],
  ['with w as (select id from app where level = $1) select count(*) from w', 'warn'],
  ['select level from app where id = $1 union all select $2 order by 1', 1, 'zz'],
  ['values ($1::int, $2::text)', 1, 'a'],
  ['select $2::int, $1::text', 'one', 2],
  ['select id from app where status = $1 and id > $1 order by id', 200],
  [
    'select sum(bytes) over (order by id rows between 1 preceding and current row) from app where id < $1 order by id',
    5,
  ],
];

let postgres: PGlite;
let store: TestStore;
let ask: Ask;
let service: ReturnType<typeof queryService>;

beforeAll(async () => {
  postgres = await PGlite.create();
  await postgres.exec("SET timezone = 'UTC'");
  store = await openTestStore();
  for (const fixture of fixtures) {
    await postgres.exec(postgresStatements(fixture));
    await loadEvents(store.store, fixture);
  }
  service = queryService(store.store, catalogOf(fixtures));
  ask = asker(service);
});

afterAll(async () => {
  await store?.close();
  await postgres?.close();
});

const question = (sql: string, options: Partial<QueryQuestion> = {}): QueryQuestion => ({
  principal: administrator,
  tenant: defaultTenant,
  sql,
  signal: new AbortController().signal,
  ...options,
});

/** As a client sends them. */
const parametersOf = (sql: string, params: readonly unknown[]) =>
  queryBody.read(Buffer.from(JSON.stringify({ query: sql, params }))).params ?? [];

/** PostgreSQL's text form. */
function textOf(value: unknown, oid: number): string | null {
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  if (!Array.isArray(value) || oid === 3802) return JSON.stringify(value);
  const words = value.map((each) => (each === null ? 'NULL' : JSON.stringify(String(each))));
  return `{${words.join(',')}}`;
}

/** PGlite would make JavaScript's values of these. */
const oids = [16, 20, 21, 23, 25, 114, 700, 701, 1082, 1114, 1184, 1186, 1700, 3802];
const arrayOids = [1000, 1005, 1007, 1009, 1016, 1022, 1115, 1182, 1185, 1231];
const asText = Object.fromEntries([...oids, ...arrayOids].map((oid) => [oid, (text: string) => text]));

async function describedByPostgres(sql: string) {
  const { queryParams, resultFields } = await postgres.describeQuery(sql);
  return {
    parameters: queryParams.map(({ dataTypeID }) => dataTypeID),
    columns: resultFields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID })),
  };
}

describe('the same as PostgreSQL', () => {
  test.each(cases.map(([sql, ...params]) => ({ sql, params })))('$sql', async ({ sql, params }) => {
    const expected = await describedByPostgres(sql);
    const { columns, parameters } = await service.describe(question(sql));
    expect(parameters.map(({ oid }) => oid)).toEqual(expected.parameters);
    expect(columns.map(({ type }) => type.oid)).toEqual(expected.columns.map(({ oid }) => oid));
    expect(columns.map(({ name }) => name)).toEqual(uniqueNames(expected.columns.map(({ name }) => name)));

    const texts = params.map((value, index) => textOf(value, expected.parameters[index] ?? 0));
    const { rows, fields } = await postgres.query<(string | null)[]>(sql, texts, {
      rowMode: 'array',
      parsers: asText,
      serializers: asText,
    });
    const names = uniqueNames(fields.map(({ name }) => name));
    const actual = await ask(sql, { parameters: parametersOf(sql, params) });
    expect(difference(actual, { names, rows }, sql.includes('order by'))).toBeUndefined();
  });
});

/**
 * String literals that stand where an expression does, and not behind the name of a type or in a keyword's
 * place.
 */
const literals =
  /(?<![\w.]|\b(?:interval|date|time|timestamp|timestamptz|zone|escape|e|as|from)\s+)'((?:[^']|'')*)'/gi;

/** The query with parameters in place of its string literals. */
function withParameters(sql: string) {
  const values: string[] = [];
  const query = sql.replace(literals, (_, words: string) => `$${values.push(words.replaceAll("''", "'"))}`);
  return { query, values };
}

/** Arguments of catalog functions are read when the query is translated. */
const isOnlyLiteral = (place: string): boolean => place.startsWith('same/introspection.sql');

const written = readdirSync(new URL('../../sql/same/', import.meta.url))
  .flatMap((file) => readCases(`same/${file}`))
  .map(({ query, place }) => ({ place, sql: query, ...withParameters(query) }))
  .filter(({ place, sql, values }) => values.length > 0 && !/\be'/i.test(sql) && !isOnlyLiteral(place));

/** Two threads of the store add doubles up in any order, so the last digits of a sum may differ. */
const rounded = (cell: unknown): unknown => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell);
const sorted = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) => JSON.stringify(row.map(rounded))).sort();

/** `character varying`, `name` and `jsonpath` are `text` here. */
const ofHere = (oid: number): number => ([1043, 19, 4072].includes(oid) ? 25 : oid);

let compared = 0;

describe('parameters in place of literals', () => {
  test.each(written)('$place $query', async ({ sql, query, values }) => {
    const described = await postgres.describeQuery(query).catch(() => undefined);
    // Not every literal can be one in PostgreSQL.
    if (described === undefined) return;
    const { parameters } = await service.describe(question(query));
    expect(parameters.map(({ oid }) => oid)).toEqual(
      described.queryParams.map(({ dataTypeID }) => ofHere(dataTypeID)),
    );
    const [actual, expected] = [await ask(query, { parameters: values }), await ask(sql)];
    expect(actual.names).toEqual(expected.names);
    expect(sorted(actual.rows)).toEqual(sorted(expected.rows));
    compared += 1;
  });

  test('are many', () => expect(compared).toBeGreaterThan(200));
});

test('words that mean a time are what a literal is', async () => {
  const words = ['now', 'today', ' Tomorrow ', 'yesterday', 'epoch', '2024-05-01'];
  for (const word of words) {
    for (const type of ['timestamptz', 'timestamp', 'date']) {
      const [expected] = (await ask(`select '${word}'::${type} as a`)).rows;
      expect([word, type, (await ask(`select $1::${type} as a`, { parameters: [word] })).rows]).toEqual([
        word,
        type,
        [expected],
      ]);
    }
    const compared = (value: string) => `select count(*) from app where p_timestamp < ${value}`;
    expect((await ask(compared('$1'), { parameters: [word] })).rows).toEqual(
      (await ask(compared(`'${word}'`))).rows,
    );
  }
  const refused = await ask('select $1::timestamptz as a', { parameters: ['infinity'] }).catch(
    (error) => error,
  );
  expect(refused).toMatchObject({ code: 'sql_unsupported' });
});

describe('values', () => {
  const hostile = [
    "'; drop table app; --",
    "' or 1=1 --",
    '\\',
    "\\'",
    "\\\\' or '1'='1",
    '{p1:String}',
    '$1',
    '$2',
    '/* */ -- #',
    '`"\'',
    "x') UNION ALL SELECT name FROM system.tables --",
    'SETTINGS max_threads = 1 FORMAT JSON',
    '\n\r\t\b\f\u001a\u2028',
    'ü😀\ufeff',
    '%s %d \\n \\x41 \\N',
    '?',
    '',
  ];

  test('are never read as SQL, whatever they are', async () => {
    const check = async (words: string) => {
      const { rows } = await ask(
        'select $1 as a, length($2) as b, $3 = $1 as c, array[$1] as d, $4::text[] as e',
        {
          parameters: [words, words, words, { json: JSON.stringify([words]) }],
        },
      );
      expect(rows).toEqual([[words, [...words].length, true, [words], [words]]]);
    };
    for (const words of hostile) await check(words);
    const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostile), fc.string());
    const property = fc.asyncProperty(fc.array(word, { maxLength: 3 }), async (words) => {
      const all = words.join('');
      // What is no Unicode cannot be sent.
      fc.pre(!all.includes('\0') && Buffer.from(all).toString() === all);
      await check(all);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('do not get into what looks like a placeholder', async () => {
    // Into a text that is in quotes: the value would end it. `jsonb` has no character 0, as in PostgreSQL.
    const forged = (place: string) => `{"\\u0000${place}\\u0000": 1, "a": "\\u0000${place}\\u0000"}`;
    for (const place of ['$1', '$1 ', 'now:1', '1', 'w1']) {
      const injected = ' or 1 = 1 or ';
      const literal = ask(`select $2::jsonb @> '${forged(place)}' as x, $1 as z`, {
        parameters: [injected, { json: '{}' }],
      });
      expect(await rejectedError(literal)).toMatchObject({ code: 'sql_bad_value' });
      const parameter = ask('select $2::jsonb @> $3 as y, $1 as z', {
        parameters: [injected, { json: '{}' }, { json: forged(place) }],
      });
      expect(await rejectedError(parameter)).toMatchObject({ code: 'sql_bad_value' });
      const { rows } = await ask(`select '${forged(place)}'::json ->> 'b' as x, $1 as z`, {
        parameters: [injected],
      });
      expect(rows).toEqual([[null, injected]]);
    }
  });

  test.each([
    ['select id from app where id = $1', 'parameter $1: invalid input syntax for type double precision'],
    ['select $1::int', 'allowed is a whole number from -2147483648 to 2147483647'],
    ['select $1::bool', 'allowed is true or false'],
    ['select $1::timestamptz', 'allowed is a time such as'],
    ['select $1::date', 'allowed is a date such as'],
    ['select $1::numeric', 'allowed is a number'],
    ['select $1::interval', 'allowed is an interval such as'],
    ['select $1::jsonb', 'allowed is JSON'],
    ['select $1::int[]', 'malformed array literal'],
    ['select id from app limit $1', 'allowed is a whole number'],
  ])('that are none of the type are refused: %s', async (sql, words) => {
    for (const value of ["1' or 1=1 --", '{[']) {
      const error = await rejectedError(ask(sql, { parameters: [value] }));
      expect(error).toMatchObject({ code: 'sql_bad_value', definition: { status: 400 } });
      expect(error.message).toContain(words);
      expect(error.details?.['line']).toBe(1);
      if (!sql.includes('[]'))
        expect(error.details).toMatchObject({ parameter: 1, column: sql.indexOf('$1') + 1 });
    }
  });

  test('must be as many as the query has, and of one dimension', async () => {
    const code = async (sql: string, parameters?: QueryQuestion['parameters']) =>
      (await rejectedError(ask(sql, parameters === undefined ? {} : { parameters }))).code;
    expect(await code('select $1::int, $2::int')).toBe('sql_parameter_count');
    expect(await code('select $1::int, $2::int', ['1'])).toBe('sql_parameter_count');
    expect(await code('select id from app limit $2 offset $1', ['1'])).toBe('sql_parameter_count');
    expect(await code('select $1::int', ['1', '2'])).toBe('sql_parameter_count');
    expect(await code('select 1', ['1'])).toBe('sql_parameter_count');
    expect(await code('select $1::int[]', [{ json: '[[1],[2]]' }])).toBe('sql_bad_value');
    expect(await code('select $1::int', [{ json: '[1]' }])).toBe('sql_bad_value');
    expect(await code('select $1::int', ['99999999999'])).toBe('sql_out_of_range');
    expect(await code('select $1::text', ['a\0b'])).toBe('sql_bad_value');
    expect(await code('select id from app limit $1', ['-1'])).toBe('sql_out_of_range');
    expect(await code('select date_trunc($1, p_timestamp) from app', [null])).toBe('sql_unsupported');
  });

  test('large integers keep all digits, as numbers and as texts', async () => {
    const { params } = queryBody.read(
      Buffer.from('{"query":"-","params":[9223372036854775807, "9223372036854775806", [9007199254740993]]}'),
    );
    const { rows } = await ask(
      'select ($1::bigint)::text, ($2::bigint)::text, (($3::bigint[])[1])::text',
      params === undefined ? {} : { parameters: params },
    );
    expect(rows).toEqual([['9223372036854775807', '9223372036854775806', '9007199254740993']]);
  });

  test('are in what explain shows, with their types', async () => {
    const explained = await service.explain(
      question('select id from app where level = $1 and status = $2', { parameters: ["o'x", '500'] }),
    );
    expect(explained.parameters).toEqual(['text', 'double precision']);
    expect(explained.sql).toContain("'o\\'x'");
    expect((await service.explain(question('select 1'))).parameters).toBeUndefined();
  });
});

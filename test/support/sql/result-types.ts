import type { SimpleTypeName, SqlType } from '../../../src/sql/types.ts';

/** A query with one column, `x`, and what it gives. */
export interface TypedResult {
  readonly name: string;
  readonly sql: string;
  /** What PostgreSQL prints, cell by cell, where it has no such relation; else it is asked. */
  readonly expected?: readonly (string | null)[];
  /** PostgreSQL chooses the number of digits by the values: what it prints is compared as doubles are. */
  readonly isRounded?: true;
  /** There are other columns behind `x`: JSON and CSV are not looked at. */
  readonly hasOthers?: true;
}

const of = (name: string, ...values: readonly string[]): TypedResult => ({
  name,
  sql: `select x from (values ${values.map((value, index) => `(${index}, ${value})`).join(', ')}) as v(i, x) order by i`,
});
const nullsOf = (type: string): TypedResult => ({
  name: `NULLs of ${type}`,
  sql: `select null::${type} as x from generate_series(1, 2) g`,
});
const noneOf = (type: string): TypedResult => ({
  name: `no ${type}`,
  sql: `select x from (select null::${type} as x) v where false`,
});
const usual = (type: string): readonly TypedResult[] => [nullsOf(type), noneOf(type)];

/** Results with values of each type that SQL can give; a type without an entry does not compile. */
const simpleResults: Readonly<Record<SimpleTypeName, readonly TypedResult[]>> = {
  bool: [of('booleans', 'true', 'false', 'null::bool'), ...usual('bool')],
  int2: [of('int2', '32767::int2', '(-32768)::int2', 'null'), ...usual('int2')],
  int4: [of('int4', '2147483647', '-2147483648', 'null::int4'), ...usual('int4')],
  int8: [
    of('int8', '9007199254740993::int8', '9223372036854775807', '-9223372036854775807', 'null'),
    { name: 'counts', sql: 'select count(*) as x from generate_series(1, 7) g' },
    ...usual('int8'),
  ],
  float: [
    of('doubles', '0.1::float8', "'nan'::float8", "'infinity'", "'-infinity'", '1e300', '1e-7', 'null'),
    ...usual('float8'),
  ],
  text: [
    of('texts', "''", "'a,\"b\\'", "'ü €'", "'line\nbreak'", "'NULL'", 'null::text', "'1.50'"),
    ...usual('text'),
  ],
  timestamp: [
    of('timestamps', "timestamp '2024-02-29 12:34:56.123456'", "'1969-12-31 23:59:59'", 'null'),
    ...usual('timestamp'),
  ],
  timestamptz: [
    of(
      'timestamps with zone',
      "timestamptz '2024-02-29 12:34:56.123456+02'",
      "'2106-02-08 00:00:00+00'",
      'null',
    ),
    ...usual('timestamptz'),
  ],
  date: [of('dates', "date '2024-02-29'", "'1970-01-01'", "'1901-01-01'", 'null'), ...usual('date')],
  time: [of('times of day', "time '10:20:30.5'", "'00:00'", "'24:00'", 'null'), ...usual('time')],
  bytea: [of('bytes', "'\\x00ff'::bytea", "'abc'", "'\\x'", 'null'), ...usual('bytea')],
  record: [{ name: 'a row', sql: "select row(1, 'a b', null) as x" }],
  map: [
    {
      name: 'attributes',
      sql: 'select attributes as x from "typed-logs" order by body',
      expected: ['{"a b":"1","quote":"\\"ü"}', '{}'],
    },
  ],
  json: [of('json', 'json \'{"a": [1, 2.50]}\'', "'null'", 'null'), ...usual('json')],
  jsonb: [of('jsonb', 'jsonb \'["b"]\'', "'17'", 'null'), ...usual('jsonb')],
  unknown: [
    { name: 'a literal without a type', sql: "select 'abc' as x" },
    { name: 'NULL without a type', sql: 'select null as x' },
  ],
  mixed: [
    {
      name: 'a field of several types',
      sql: 'select v as x from typed order by i',
      expected: ['1.5', 'text', 'true', null],
    },
  ],
};

const otherResults: Readonly<Record<Exclude<SqlType['name'], SimpleTypeName>, readonly TypedResult[]>> = {
  numeric: [
    of('numeric(10,2)', '12345678.90::numeric(10,2)', '-0.01', '1.50', 'null'),
    of('numeric(38,10)', '1234567890123456789012345678.0123456789::numeric(38,10)', '-1', 'null'),
    {
      name: 'numeric(60,20)',
      sql: "select x from (select '1234567890123456789012345678901234567890.5'::numeric(60,20) as x) v",
    },
    { name: 'a sum', sql: 'select sum(g::int8 * 4611686018427387904) as x from generate_series(1, 1) g' },
    { name: 'an average', sql: 'select avg(g) as x from generate_series(1, 4) g', isRounded: true },
    { name: 'a quotient', sql: 'select 10::numeric(10,2) / 3 as x', isRounded: true },
    { name: 'rounded', sql: 'select round(avg(g), 2) as x from generate_series(1, 3) g' },
    ...usual('numeric'),
    ...usual('numeric(10,2)'),
  ],
  interval: [
    { name: 'an interval', sql: "select interval '1 day 02:03:04.5' as x" },
    { name: 'a NULL of interval', sql: 'select null::interval as x' },
  ],
  array: [
    {
      name: 'int4[]',
      sql: 'select x from (select 1 as i, array[1, null, 3] as x union all select 2, array[-4]) v order by i',
    },
    { name: 'int8[]', sql: 'select array[9007199254740993] as x' },
    {
      name: 'text[]',
      sql: `select array['a', 'a b', '', 'NULL', null, 'q"\\', '{}', 'x,y', 'ü'] as x`,
    },
    { name: 'float8[]', sql: "select array[0.5::float8, 'nan', 'infinity', '-infinity', null, 1e300] as x" },
    { name: 'bool[]', sql: 'select array[true, false, null] as x' },
    { name: 'numeric[]', sql: 'select array[1.50::numeric(10,2), null] as x' },
    { name: 'timestamptz[]', sql: "select array[timestamptz '2024-02-29 12:34:56.5+00', null] as x" },
    { name: 'date[]', sql: "select array[date '2024-02-29', null] as x" },
    { name: 'empty arrays', sql: "select '{}'::int4[] as x" },
    { name: 'collected', sql: 'select array_agg(g order by g) as x from generate_series(1, 3) g' },
    {
      name: 'arrays and NULL',
      sql: 'select x from (select 1 as i, array[1, null] as x union all select 2, null::int4[] union all select 3, array[]::int4[] union all select 4, array[4]) v order by i',
    },
    {
      name: 'arrays of many batches among other columns',
      sql: `select case when g % 3 = 0 then null when g % 7 = 0 then array[]::int4[] else array[g, null] end as x,
          'abc' as t, array['z', null] as a, true as b, null::int4[] as n, 1.5::numeric(10,2) as d
        from generate_series(1, 150000) g order by g`,
      hasOthers: true,
    },
    { name: 'NULLs of text[]', sql: 'select null::text[] as x from generate_series(1, 2) g' },
    { name: 'no int4[]', sql: 'select x from (select array[1] as x) v where false' },
  ],
};

/** By the name of the type. */
export const typedResults: Readonly<Record<SqlType['name'], readonly TypedResult[]>> = {
  ...simpleResults,
  ...otherResults,
};

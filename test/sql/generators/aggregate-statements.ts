import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/** Aggregates with DISTINCT, ORDER BY and FILTER, of no rows, of NULLs only, and of one row. */
const source = one(
  "(values (1, 1, 'x', 1.5::float8, true, 1.50::numeric(10,2), date '2024-01-01'), (2, 1, 'y', null, false, null, date '2024-02-29'), (3, 2, null, 2.5, null, -2.25, null), (4, null, 'x', 2.5, true, 1.50, date '1970-01-01'), (5, 2, 'x', -1, true, 0, date '2024-01-01')) t(id, a, b, c, d, e, f)",
  "(values (1, 1, 'x', 1.5::float8, true, 1.50::numeric(10,2), date '2024-01-01')) t(id, a, b, c, d, e, f)",
  '(values (1, null::int, null::text, null::float8, null::bool, null::numeric(10,2), null::date), (2, null, null, null, null, null, null)) t(id, a, b, c, d, e, f)',
  "(select 1 as id, 1 as a, 'x' as b, 1::float8 as c, true as d, 1.5::numeric(10,2) as e, date '2024-01-01' as f where false) t",
  '(select id::int as id, id::int % 3 as a, level as b, ms as c, ok as d, ms::numeric(10,2) as e, p_timestamp::date as f from app) t',
  "(values (1, 2147483647, 'x', 1e308::float8, true, 99999999.99::numeric(10,2), date '2299-12-31'), (2, 2147483647, 'y', 1e308, false, 99999999.99, date '1900-01-01'), (3, -1, '', -1e308, true, 0.01, null)) t(id, a, b, c, d, e, f)",
  "(values (1, 1, 'x', 1e10::float8, true, 1.50::numeric(10,2), date '2024-01-01'), (2, 2, 'y', 1, false, 2.5, null), (3, 2, 'é', -1e10, false, 2.5, null)) t(id, a, b, c, d, e, f)",
);
const number = one(
  'a',
  'c',
  'e',
  'id',
  'a + id',
  'c * 2',
  '1',
  'coalesce(a, 0)',
  'a::int8',
  'a::int2',
  '-e',
  'null::int',
);
const any = one(
  'a',
  'b',
  'c',
  'd',
  'e',
  'f',
  'id',
  'upper(b)',
  'a is null',
  '1',
  "'k'::text",
  'f::timestamp',
);
const order = fc.oneof(
  one('id', 'id desc', 'a, id', 'b desc, id', 'c nulls first, id', 'f desc nulls last, id', 'd, id'),
);
const condition = one(
  'a > 1',
  'd',
  'b is not null',
  'false',
  'c > 0',
  "b = 'x'",
  'true',
  'a is null',
  'null::bool',
);
const fraction = one('0.5', '0', '1', '0.25', '0.9', '0.333');
const aggregate = fc.oneof(
  written`${one('sum', 'avg', 'min', 'max', 'count', 'stddev', 'stddev_pop', 'variance', 'var_pop', 'var_samp', 'stddev_samp')}(${number})`,
  written`${one('sum', 'avg', 'min', 'max', 'count')}(distinct ${number})`,
  written`${one('min', 'max', 'count')}(${any})`,
  written`count(distinct ${any})`,
  one(
    'count(*)',
    'bool_and(d)',
    'bool_or(d)',
    'every(d)',
    'bit_and(a)',
    'bit_or(a)',
    'bit_xor(a)',
    'bool_and(a > 1)',
    'count(distinct (a, b))',
    'count((a, b))',
    'count(1)',
    'count(null)',
    'sum(null::int)',
    'max(null)',
    'sum(distinct c)',
  ),
  written`array_agg(${any} order by ${order})`,
  written`array_agg(distinct ${any})`,
  written`array_agg(distinct a order by a${one('', ' desc', ' nulls first')})`,
  written`string_agg(b, ${one("','", "''", 'null', 'b', "'é'")} order by ${order})`,
  written`string_agg(distinct b, ','${one('', ' order by b', ' order by b desc')})`,
  written`string_agg(${one('a::text', 'upper(b)', 'e::text', 'f::text')}, '-' order by ${order})`,
  written`percentile_cont(${fraction}) within group (order by ${one('a', 'c', 'e', 'id', 'a desc', 'c desc')})`,
  written`percentile_disc(${fraction}) within group (order by ${one('a', 'c', 'b', 'f', 'e', 'a desc', 'b desc')})`,
  written`mode() within group (order by ${one('a', 'b', 'c', 'd', 'f')})`,
  written`${one('corr', 'covar_pop', 'covar_samp', 'regr_slope', 'regr_intercept', 'regr_count', 'regr_r2', 'regr_avgx', 'regr_avgy', 'regr_sxx', 'regr_syy', 'regr_sxy')}(${one('a', 'c', 'id')}, ${one('a', 'c', 'id')})`,
  written`percentile_cont(array[0.25, 0.5, 0.75]) within group (order by ${one('a', 'c', 'id')})`,
  written`${one('rank', 'dense_rank', 'percent_rank', 'cume_dist')}(${one('1', '2', 'null')}) within group (order by ${one('a', 'id', 'a desc')})`,
);
const filtered = fc.oneof(aggregate, aggregate, written`${aggregate} filter (where ${condition})`);
const used = fc.oneof(
  filtered,
  filtered,
  written`coalesce(${one('sum(a)', 'max(a)', 'count(*)')}, 0)`,
  written`(${one('sum(a)', 'max(c)', 'count(*)', 'avg(e)')} ${one('+', '*', '-')} ${one('count(*)', '1', 'max(id)')})`,
  written`${one('sum(a)', 'count(*)', 'max(b)', 'min(f)')} is null`,
  written`round(avg(${one('a', 'e')}), 2)`,
  written`count(*) ${one('/', '%')} ${one('2', 'nullif(count(a), 0)')}`,
  written`sum(${number}) / nullif(count(${any}), 0)`,
);
const key = one(
  'a',
  'b',
  'd',
  'f',
  'a is null',
  'id % 2',
  "coalesce(b, '-')",
  'c',
  'e',
  'extract(month from f)',
  "date_trunc('month', f)",
);

export const aggregateStatement: fc.Arbitrary<string> = fc.oneof(
  written`select ${used} as v from ${source}`,
  written`select ${used} as v, ${used} as w from ${source} where ${condition}`,
  written`select ${key}, ${used} as v from ${source} group by 1`,
  written`select ${key}, ${used} as v from ${source} where ${condition} group by 1`,
  written`select ${key} as k, ${key} as l, ${used} as v from ${source} group by k, l having ${fc.oneof(one('count(*) > 1', 'sum(a) > 0', 'max(b) is not null'), written`count(*) filter (where ${condition}) > 0`)}`,
  written`select ${used} as v from ${source} having ${one('count(*) > 0', 'false', 'max(a) is null', 'sum(a) > 1')}`,
  written`select (select ${filtered} from ${source}) as v`,
  written`select distinct ${used} as v from ${source} group by ${one('a', 'b', 'd')}`,
  written`select a from ${source} group by a order by ${one('count(*)', 'max(id)', 'sum(c)')} ${one('desc', 'asc', 'desc nulls last')}, 1 limit 2`,
);

-- What random statements found: see test/sql/generators.

select count(*) from (select a % 2 as y, min(b) from (values (1, 'x'), (2, 'y')) t(a, b) group by grouping sets ((a % 2), ())) s;
select count(*) from (select a, b, count(*) from (values (1, 2)) t(a, b) where false group by cube(a, b) having true) s;
select count(*) from (select level, sum(id) from app group by rollup(level) having grouping(level) > 0) s;
select 1 + 1 as z, grouping(1 + 1), null::int as n, grouping(null::int), count(*) from emp group by 1, 3;
select a is null, grouping(a is null) from (select 1 as a where false) t group by a is null having grouping(a is null) > 0;
select 7 as y, grouping(level), level from app group by level, y order by grouping(level), 3;
select case when a > 1 then 'big' else b end as y, grouping(case when a > 1 then 'big' else b end) from (values (1, 'x')) t(a, b) group by 1, rollup(y);
select exists (select a is null, sum(b) from (select 1 as a, 2 as b where false) t group by (a is null), rollup(1));
select distinct level, 'k', level || 'x' from app order by 1, 2, 3;
select string_agg(s, ' ') from (values ('Hello'), (''), ('x')) t(s);
select string_agg(s, ','), string_agg(s, '') from (values (''), ('a'), (null)) t(s);
select string_agg(s, ','), count(*) from (values ('a')) t(s) where false;
select regexp_replace(s, '', 'é') from (values (null), ('abc'), ('')) t(s);
select nullif(1, 1.50::numeric(10, 2)), nullif(null::int, 1.5), nullif(2, 2.0), nullif(1, 2.5::float8), nullif(1.5, 1.5::float8), nullif(date '2024-01-01', timestamp '2024-01-01'), nullif(1, 2::int8);
select date_bin('7 hours', date '2024-01-31', timestamp '2021-01-03'), date_bin('7 hours', timestamp '2024-01-31', date '2021-01-03'), date_bin('7 hours', date '2024-01-31', date '2021-01-03');
select * from generate_series(null, 5) g;
select count(*) from generate_series(1, null::int8) g;
select generate_series(null::int, 0, 0);
select generate_series(null::date, date '2024-02-29', interval '10 years');
select x::bool, case when x = 'f' then x::bool end from (values ('f'::text)) t(x);
select x::bool from (values (' tRuE'::text), ('no'), ('On'), (null), ('of'), ('1')) t(x);
select timestamptz '2000-01-01+00', timestamp '2024-02-29+05', date '2024-02-29z', timestamptz 'March 31 2024 3:30pm+0530', timestamptz '31-Mar-2024 3:30pm EST';
select interval '.5 hr', interval '2. seconds', interval '1 year, 2 months', interval '.5 year ago', interval '1 day, 2. hours';
select count(*) from (select count(distinct eid) from emp where eid > 0 group by () having null::bool) s;
select date '1970-01-01 24:00:00', date '2024-02-29T24:00', timestamp '2024-02-29 24:00:00', date '2024-02-29 24:00 Europe/Berlin';
select timestamptz '1/2/24 3:30 PM+02', date '2024/03/31 11:30 PM-08';
select date_bin('0', p_timestamp, null::timestamptz) from app;
select to_char(p_timestamp, 'IYYY-IDDD'), to_char(date '2000-01-01', 'IDDD FMIDDD') from app order by id;
select null in (date '2024-01-01', array[2.5]), level in ('info', null, level) from app order by id;

-- The store takes an equality for the value itself only between columns of one type.
select o.s, (select count(*) from app a where a.service = o.s) from (select coalesce(service, 'api') as s from app) o;
select o.s, (select sum(a.id) from app a where a.p_timestamp = o.s) from (select max(p_timestamp) as s from app union all select max(p_timestamp) from app) o;
select o.s, (select sum(a.id) from app a where a.id = o.s) from (select coalesce(id, 0) as s from app where id < 3 union all select 1.0::float8 from app where id < 3) o;
select t.c, (select sum(u.c) from (select eid::int, name, dept::int from emp) u(a, b, c) where u.a = t.a) from (values (1, 'x', 10), (2, 'y', null), (null, 'x', 30), (2, null, 40)) t(a, b, c);
select o.s, (select sum(a.n) from (select id::int as n, p_timestamp::date as k from app) a where a.k = o.s) from (values (date '2024-03-01'), (date '2024-03-01')) o(s);
select o.s, (select sum(a.n) from (select id::int as n, coalesce(level, '') as k from app) a where a.k = o.s) from (select level as s from app where id < 6) o;
select array(select u.a from (select eid::int from emp) u(a) where u.a = t.a order by 1) from (values (1), (1), (3)) t(a);
select o.s, (select array_agg(a.id order by a.id) from app a where a.level = o.s) from (select coalesce(level, 'none') as s from app where id < 6) o;
select o.s, (select a.id from app a where a.message = o.s order by a.id offset 1 limit 1) from (select coalesce(message, 'none') as s from app where id < 9) o;
select s !~ '(^😀*$)', s ~ '^aé?b', regexp_replace(s, 'é*b', '-'), s ~* '^É+$' from (values (''), ('ab'), ('😀😀'), ('aéb'), ('éé')) t(s);
select v::float8, v - 2.5::float8, v * 0.1::float8 from (values (12345678901234567890.123456789), (0.1), (-0.3), (null), (123456789.987654321)) t(v);
select interval '1 microsecond' * v from (values (-9223372036854775808), (4294967296)) t(v);
select nullif(null, '{2}'::int[]), nullif('1', 2), nullif('x', level), nullif(null, null) from app where id = 1;
select count(*) from (select 7, count(name), bool_or(eid > 1) from emp where false group by ()) s;
select power(x, 1e18), power(x, -1e18), x ^ 3, x ^ 'Infinity'::float8 from (values (1::float8), (-1)) t(x);
select generate_series(v, timestamp '2024-02-29 12:00', interval '100 years') from (values (null::timestamp), ('1924-01-01')) t(v);
-- Beside a default, values of the width that the store knows them by
select id, lead(a, 1, -1) over (order by id) from (values (1, 1), (2, null)) t(id, a) order by id;
select lead(a, 1, -1) over (order by a), lag(a, 1, -1.5) over (order by a), lag(a::text, 1, 'x') over (order by a), lag(date '2024-01-01', 1, '2023-01-01') over (order by a), lag(a > 1, 1, null) over (order by a) from (values (1), (2)) t(a);
-- Windows without ORDER BY, and numbers that are an error only where there are rows
select a, ntile(2) over (partition by a) from (values (1), (2)) t(a) order by a;
select ntile(2) over () from (values (1), (2), (3)) t(a);
select ntile(0) over () from (values (1)) t(a) where a > 2;
select nth_value(a, 0) over (order by a) from (values (1)) t(a) where a > 2;
-- NULL is no bad argument
select log(null, -9223372036854775809), log(2.0, null::numeric), log(null::numeric, 0.0);
select width_bucket(null::float8, 0, 1, 0), width_bucket(1::float8, 0, null, 0), width_bucket(1::float8, 0, 0, null::int);
select make_date(null, 13, 1), make_time(null, 99, 1), make_timestamp(null, 13, 1, 1, 1, 1), split_part(null, 'a', 0), split_part('a', null, 0);
select regexp_replace(null, '(', ''), regexp_replace('a', null, ''), null ~ '(', 'a' !~ null, regexp_count(null, '('), regexp_instr('a', null);
-- Times of day as texts
select x::time from (values ('033015'), ('0330'), ('t0330'), (' 3:5 '), ('03:30 pm'), ('12:00am'), ('10:20:30.1234567'), ('allballs'), ('10:00+02'), ('24:00'), (null)) t(x);
-- A path into an empty array
select '[]'::jsonb #- '{a,b}', '[[]]'::jsonb #- '{0}', jsonb_set('[]', '{a,b}', '1', false);
select interval 'PT', interval 'P1DT', interval '1 day' = interval 'PT';
select jsonb_insert('[1]'::jsonb, '{}', '9'), jsonb_set('{}', '{}', '1'), '[1]'::jsonb #- '{}';
-- A zone named AM or PM, as POSIX has them
select '240331 3:30pm-08'::timestamp, '240331 3:30pm-08'::timestamptz, '240331 3:30 am+3'::timestamptz, '03-31-2024 12:00 AM-15:59:59'::timestamptz;
select '3:30pm-08'::time, '3:30 pm+2'::time, '12:00 am-3'::time, '3:30+08 pm'::time;
select x::time from (values ('3:30pm-08'), ('3:30 pm +2'), ('3:30+08 pm')) t(x);
-- Nothing is computed beside NULL
select v - w as r from (values (null::int2, (-32768)::int2)) t(v, w);
select (v + 2147483647) + w, v + w - 1, v * w * 2, v - w from (values (null::int4, 2147483647), (null, null)) t(v, w);
select (v + 2) + w, v + w - 1, v * w * 2, v - w, 1 - v, v - 1, sum(v) over (order by w) + 1 + 2, v + 1 + count(*) over () from (values (5, 214), (null, null), (1, -3)) t(v, w);
-- The type of an array is that of its elements alone
select name, dept = any(array[10, null]), dept <> all(array[10, 40]), dept = any('{10}'), dept = any(array[10, 2.5]), eid::int = any(array[1, 2]::int8[]) from emp order by 1;
select '31-Mar-2024+02'::date, '3/31/2024+02'::timestamptz, '2024-03-31+02'::timestamptz, '2024-03-31z'::timestamptz;
select v::numeric from (values (1e-20::float8), (0), (1.5e-11), (1.23456789012345e-11), (-3.25e-15), (null)) t(v);
select json_strip_nulls('{"x": "q\"uote", "n": "line\nbreak", "u": "\u00e9", "z": null, "k": [1.50, {"\u0061": null, "b\\c": 2}]}'::json) as v;
select x::numeric from (values ('1e5'), (' .5 '), ('-1.5'), ('+.25'), (null)) t(x);

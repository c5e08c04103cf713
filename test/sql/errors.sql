-- Queries that PostgreSQL and Millrace both refuse, with the same SQLSTATE; under "class", with one of the same class.

select 1/0;
select 1 % 0;
select 1.0 / 0;
select ms / 0 from app;
select ms / (id - 5) from app;
select 1.5 / (1.5 - 1.5);
select 'abc'::int;
select message::int from app;
select message::float8 from app;
select 'abc'::float8;
select 'maybe'::bool;
select message::bool from app;
-- class
select '2024-13-01'::date;
-- class
select '2024-02-30'::timestamp;
select 2147483647 + 1;
select 9223372036854775807 + 1;
select 2147483647 * 2;
select 40000::int2;
select 3000000000::int4;
select '99999999999'::int;
select 1e20::int8;
select 12345.6::numeric(4,2);
select nosuch from app;
select app.nosuch from app;
select x.id from app;
select id from nosuch;
select name from emp a join emp b on a.eid = b.eid;
select id, count(*) from app;
select level, ms from app group by level;
select level from app having count(*) > ms;
select count(*) from app where count(*) > 1;
select sum(count(*)) from app;
select nosuch(1);
select upper(1, 2);
select lower(5);
select 'a' + 1;
select message + 1 from app;
select message = 1 from app;
select id from app where 5;
select id from app where message;
select not 5;
select case when 1 then 2 end;
select case when true then 1 else 'x' end;
select case when true then ok else ms end from app;
select coalesce(ms, level) from app;
select 1 union select 'a';
select 1, 2 union select 1;
select (select eid from emp);
select (select 1, 2);
select 1 in (select 1, 2);
select id from app order by 5;
select id from app group by 5;
select distinct level from app order by id;
-- class
select id from app limit -1;
-- class
select 1 from app a, app a;
-- class
select row_number() from app;
-- class
select id from app where row_number() over () = 1;
-- class
select upper(level) over () from app;
select sqrt('x');
-- class
select '1 parsec'::interval;
-- class
select substring('abc' from 1 for -1);
select 1 = 'abc';
select ms = 'abc' from app;
select true + 1;
selec 1;
select 1 +;
select * from app where;
with recursive r as (select 1 as n union all select n + 1 from r limit 3) select * from r;
select distinct on (level) level, id from app order by id;
select grouping(id), count(*) from app group by level;
select level from app group by rollup(level) having ms > 1;
select '{1,x}'::int[];
select '{1,2'::text[];
select '{"a":'::jsonb;
select message::jsonb -> 'a' from app;
-- class
select jsonb_array_length('{"a":1}');
select (select name from emp x where x.dept = e.dept) from emp e;
select date_trunc('hour', 5);
-- class
select timestamp '2024-01-01' at time zone 'Mars/Olympus';
select unnest(5);
select array[1, 'x'];
select array_append(array[1], 'x');
-- class
select 1 = any(5);
select string_agg(distinct name, ',' order by eid) from emp;
select percentile_cont(1.5) within group (order by ms) from app;
-- class
select generate_series(1, 2, 0);
select id from app where generate_series(1, 2) = 1;
-- class
select generate_series(1, 2) over () from app;
-- class
select interval '1 lightyear';
select array_length(5, 1);
select sum(count(*)) over (), level from app;
select 9223372036854775807::int8 * 2;
select (2147483647 + id::int)::int4 from app;
select ('x' || id)::int from app;
select 5 / (id::int - id::int) from app;
select var_samp(x) from (values (1e200::float8), (-1e200)) v(x);
select var_pop(x) from (values (1e200::float8), (0)) v(x);
select stddev(x) from (values (1e300::float8), (2e300), (null)) v(x);
select stddev_pop(x) from (values (1e308::float8), (1e308)) v(x);
select variance(x) from (values (1e308::float8), (-1e308)) v(x);
select covar_pop(y, x) from (values (1e200::float8, 1e200::float8), (0, 0)) v(y, x);
select corr(y, x) from (values (1::float8, 1e200::float8), (2, -1e200)) v(y, x);
select regr_avgy(y, x) from (values (1::float8, 1e200::float8), (2, -1e200)) v(y, x);
select regr_sxx(y, x) from (values (1e200::float8, 1::float8), (-1e200, 2)) v(y, x);
select regr_slope(y, x) from (values ('Infinity'::float8, 1e200::float8), (2, -1e200)) v(y, x);
select dept, var_samp(salary * 1e200) from emp group by dept;
-- class
select sum(eid) over (order by eid, dept range 1 preceding) from emp;
-- class
select sum(eid) over (order by eid range -1 preceding) from emp;

select 1e308::float8 * 10;
select -1e308::float8 - 1e308::float8;
select 1e308::float8 / 0.1::float8;
select 1e-300::float8 * 1e-300::float8;
select 1e-300::float8 / 1e300::float8;
select 'Infinity'::float8 / 0;
select 0::float8 / 0;
select ms * 1e307 from app;
select ms / 1e-307 from app where id > 30;
select ms * bytes * 1e305 * 1e-300 from app;
select 1 / (1 + ms * 1e308) from app;
select x * y + 1 from (values (1e-200::float8, 1e-200::float8)) v(x, y);
select x * y / x from (values (1e200::float8, 1e200::float8)) v(x, y);
select x + (y * 1e300 / y * 1e300) from (values (null::float8, 1e200::float8)) v(x, y);
select x + x - (x + x) from (values (1e308::float8)) v(x);
select id from app where ms * 1e306 * id > 5 and id > 30;
select sum(x) from (values (1e308::float8), (1e308)) v(x);
select avg(x) from (values (1e308::float8), (1e308)) v(x);
select sum(x) over () from (values (1e308::float8), (1e308)) v(x);
select sum(salary * 1e305) from emp;
select dept, avg(salary * 1e305) from emp group by dept;
select exp(1000);
select exp(-1000::float8);
select power(10, 400);
select power(10::float8, -400);
select 10::float8 ^ 400;
select power(0::float8, -1);
select power(0::float8, '-Infinity'::float8);
select power(-8::float8, 0.5::float8);
select (-8)::float8 ^ 0.5;
select power('-Infinity'::float8, 0.5);
select sqrt(-1);
select sqrt('-Infinity'::float8);
select sqrt(ms - 50) from app;
select ln(0);
select ln(-1::float8);
select log(0::float8);
select log10(ms - 50) from app;
select sin('Infinity'::float8);
select tan('-Infinity'::float8);
select degrees(1e308::float8);
select radians(5e-324::float8);
select '1e400'::float8;
select '-1e400'::float8;
select 1e-400::float8;
select v::float8 from (values ('1e400')) t(v);
select v::float8 from (values ('1e-400')) t(v);
-- class
select width_bucket(id, 0, 10, 0) from app;
-- class
select width_bucket(1, 5, 5, id::int + 1) from app;
-- class
select width_bucket(1, 'Infinity', 5, 3);
select extract(hour from date '2024-01-01');
select '1'::json = '1'::json;
-- class
select * from jsonb_each('[1]');
-- class
select overlay('abc' placing 'x' from 0);
-- class
select make_date(2023, 2, 29);
-- class
select make_timestamp(2024, 2, 29, 1, 60, 3.5);
-- class
select make_timestamp(2024, 2, 29, 24, 0, 1);
-- class
select make_timestamp(2024, 2, 29, 1, 0, 'nan');
-- class
select to_date('2024-02-30', 'YYYY-MM-DD');
-- class
select to_timestamp('2024-02-03 25:00', 'YYYY-MM-DD HH24:MI');
select make_interval(dayz => 3);
select make_interval(days => 3, days => 4);
select (1, 2) overlaps (3, 4);
-- class
select ('2024-01-01', '2024-01-02') overlaps ('2024-01-01', '2024-01-02');
select date_trunc('week', interval '3 days');
select extract(timezone from timestamp '2024-01-01');
select extract(timezone from date '2024-01-01');
-- class
select trim_array(array[1,2,3], 4);
-- class
select trim_array(array[1,2,3], -1);
-- class
select format('%s %s', 'a');
-- class
select format('%y', 'a');
-- class
select format('%', 'a');
-- class
select format('%0$s', 'a');
-- class
select jsonb_build_object('a', 1, 'b');
-- class
select jsonb_build_object(null, 1);
select to_json('a');
-- class
select percentile_cont(array[0.25, 1.5]) within group (order by ms) from app;
-- class
select percentile_cont('{0.1,0.9}') within group (order by id) from app;
-- class
select timestamp '13/31/2024';
-- class
select timestamp 'Smarch 3, 2024';
-- class
select timestamp '2024-03-31 13:30 PM';
-- class
select timestamptz '2024-03-31 03:30 +16';
-- class
select timestamp '99-Jan-08';
-- class
select interval '1 fortnight';
select (1, 2) in (select 1);
select (1, 2) = (1, 2, 3);
select 'abc' @~ 'b';
select 'a' ~~~ 'b';
-- class
select (-32768)::int2 / (-1)::int2;
-- class
select (-2147483648)::int4 / (-1);
-- class
select abs((-9223372036854775807)::int8 - 1);
-- class
select width_bucket(1::float8, 0, 1, 2147483647);
-- class
select date_bin('-2 days', timestamp '1970-01-01', timestamp '1970-01-01');
-- class
select justify_hours(interval '2147483647 days 24 hrs');
-- class
select interval '9223372036855 seconds';
-- class
select interval '1 day 1 day';
-- class
select jsonb_array_elements('{"a":1}'::jsonb);
-- class
select jsonb_object_keys('[1]'::jsonb);
-- class
select '{ "a": "\ud83d\ud83d" }'::jsonb -> 'a';
-- class
select '"\u0000"'::jsonb;
-- class
with recursive x(a) as (values (1) union all select x.a + y.a from x, x y where x.a < 4) select * from x;
-- class
select regexp_matches('foobar', '(bar');
-- class
select regexp_split_to_array('foobar', '(bar');
-- class
select regexp_split_to_table('foobar', '(bar');
-- class
select lcm(4200000000000000000, 5700000000000000000);
-- class
select abs((-2147483648)::int);
-- class
select interval '2147483648 days';
-- class
select (-9223372036854775807::bigint - 1) / b from (values (-1)) t(b);
-- class
select gcd((-9223372036854775807::bigint - 1), 0);
-- class
select gcd((-2147483648)::int, (-2147483648)::int);
-- class
select 0.0 ^ (-1);
-- class
select (-8.0) ^ 0.5;
-- class
select jsonb_array_length('{}'::jsonb);
-- class
select substr('abc', 1, -2);
-- class
select substring(message from 2 for -1) from app;
-- class
select date '2024-01-01' - 100000000;
-- class
with recursive t(n) as (select 1 union all select 2 where exists (select 1 from t)) select * from t;
-- class
select (x || ' minutes')::interval from (values (9223372036854775807)) t(x);
-- class
select (x || ' months')::interval from (values (3000000000)) t(x);
-- class
select (x || ' weeks')::interval from (values (1e14::float8)) t(x);
-- class
select interval '1 day' * x from (values (2147483648)) t(x);
-- class
select justify_hours((x || ' days')::interval + (x || ' hours')::interval) from (values (2147483647)) t(x);
-- class
select (x || ' days')::interval + (x || ' days')::interval from (values (2147483647)) t(x);
select string_agg(distinct x::int::text, ' ' order by x) from (values (1.2),(2.7),(1.1)) t(x);
select date '2024-01-01' + 1::int8;
select date '2024-01-01' - count(*) from app;
select null::int8 + date '2024-01-01';
-- class
select x::timestamptz from (values ('2024-00-10 23:59:59'::text)) t(x);
-- class
select x::timestamp from (values ('2024-01-01 23:59:61.5'::text)) t(x);
select 32767 ^ (-9223372036854775808);
select power(x, 1e18) from (values (-1.5::float8)) t(x);

-- Windows, row counts, recursion, joins

-- class
select eid from emp order by eid limit (select -1);

select eid from emp order by eid limit eid;
select eid from emp order by eid limit count(*);
select dept from emp fetch first 1 row with ties;
-- class
select dept from emp order by dept fetch first null rows with ties;

select sum(eid) over (w partition by dept) from emp window w as (order by eid);
select sum(eid) over (w order by dept) from emp window w as (order by eid);
select sum(eid) over (w) from emp window w as (order by eid rows 1 preceding);
-- class
select sum(eid) over (nope) from emp;

-- class
select sum(eid) over w from emp window w as (w2), w2 as (order by eid);

select sum(eid) over (groups 1 preceding) from emp;
select sum(eid) over (order by eid rows -1 preceding) from emp;
-- class
select sum(eid) over (order by eid rows null preceding) from emp;

select eid, sum(eid) over (order by eid rows eid::int preceding) from emp order by eid;
-- class
select eid, nth_value(name, 0) over (order by eid) from emp order by eid;

-- class
select eid, nth_value(name, 0 * eid::int) over (order by eid) from emp order by eid;

-- class
select ntile(0) over (order by eid) from emp;

select n, count(*) over (order by n range 1.5 preceding) from (values (1), (2)) x(n) order by n;
select eid, count(*) over (order by name range 1 preceding) from emp;
select eid, count(*) over (order by eid range -1 preceding) from emp;
select count(*) over (order by eid, name range 1 preceding) from emp;
select a.eid, b.eid from emp a full join emp b on a.salary < b.salary and a.eid > 2;
select a.eid, x from empty e full join emp a on a.eid > e.x order by 1;
select e.name from (emp e join dept d on e.dept = d.did) as j;
with recursive t(n) as (select 1 union all select a.n + 1 from t a, t b where a.n < 3) select * from t;
with recursive t(n) as (select 1 union all select n + 1 from emp left join t on true where n < 3) select * from t;
with recursive t(n) as (select 1 union all select n + 1 from t where n < 3 order by n) select * from t;
with recursive t(n) as (select 1 union all select n from (select n + 1 as n from t where n < 3) z limit 4) select * from t;
with recursive t(n) as (select 1 except select n from t) select * from t;
with recursive t(n) as (select 1 union all select sum(n)::int from t where n < 3) select * from t;
with recursive t(n) as (select 1 union all select n + 1 from u where n < 3), u as (select * from t) select * from t;
with recursive t(n) as (select 1 union select n + 0.5 from t where n < 3) select * from t;
select array[1,2,3][2:3], (array['a','b','c'])[:2], (array[1,2,3])[2:], array[1.5, null]::text[], '{"a b",NULL,"null"}'::text[], '{t,f}'::bool[], '{2024-01-01}'::date[], array['1 day']::interval[];
-- class
select split_part('a,b', ',', n) from (values (0)) v(n);

-- class
select split_part('a,b', d, 0 * n) from (values (',', 1)) v(d, n);

-- class
select date_trunc(level, p_timestamp) from app;

-- class
select 'a' similar to 'b' escape 'xx';

select '1'::jsonb - 'a';
select '{"a":1}'::jsonb - 1;
select jsonb_set('1'::jsonb, '{a}', '2');
select jsonb_set('{"a":[1,2]}'::jsonb, '{a,x}', '1');
select jsonb_insert('{"a":1}'::jsonb, '{a}', '2');
select min(j) from (values ('1'::jsonb)) t(j);
select t::jsonb from (values ('{"a":}')) v(t);
select '"a"'::jsonb::int;
select json_build_object(service, 1) from app;
select json_object('{a,b,c}');
select (t).nope from (values (1, 'x')) t(a, b);
select row_to_json(1);
select * from jsonb_to_recordset('[1]') as t(a int);
select * from jsonb_to_recordset('{"a":1}') as t(a int);
select * from jsonb_to_recordset('[{"a":"x"}]') as t(a int);
select * from jsonb_to_recordset('[{"a":"x"}]');
select message::jsonb from app;
select log(1, 5);
select log(2, -1);
select log(-2, 1);
select regexp_substr('abc', 'b', 0);
select encode('abc', 'nope');
select decode('6g', 'hex');
select decode('616', 'hex');
select decode('Y', 'base64');
select sha256(message) from app;
select 'a\b'::bytea;
select get_byte('\x00ff'::bytea, 2);
select convert_from('\xff'::bytea, 'UTF8');
select width_bucket(1, array[1, null]);
select extract(day from time '10:20');
-- class
select '25:00'::time;
-- class
select '13:00 pm'::time;
-- class
select '10:60'::time;
-- class
select 'abc'::time;
-- class
select t::time from (values ('25:00')) v(t);
-- class
select t::time from (values ('nope')) v(t);
-- class
select make_time(25, 0, 0);
-- class
select '\xabc'::bytea;
-- class
select '\xzz'::bytea;
select format('%I', service) from app;
-- Columns merged by USING, beside others of their name
select a from (values (1)) t(a) join (values (1)) u(a) using (a) join (values (1)) v(a) on true;
select a from (values (1)) z(a), (values (1)) t(a) join (values (1)) u(a) using (a);
select a from ((values (1)) t(a) join (values (1)) u(a) using (a)) cross join ((values (1)) v(a) join (values (1)) w(a) using (a));
select a from (values (1, 1)) t(a, b) join (values (1, 1)) u(a, b) using (a) join (values (1, 1)) v(a, b) using (b);
-- Arrays of different types
select array[2.5] < array[1];
select array[1] = array[1::int8];
-- class
select ntile(0) over () from (values (1)) t(a);
-- class
select nth_value(a, 0) over () from (values (1)) t(a);
select jsonb_insert('null'::jsonb, '{}', '9');
select '1'::jsonb #- '{}';
select 1.50 = any(array[null]);
select name from emp where dept = any(array['10', '20']);
-- class
select x::numeric from (values ('e5')) t(x);

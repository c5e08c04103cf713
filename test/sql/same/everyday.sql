-- Everyday queries, answered by PostgreSQL and by Millrace on the same data; see sql-differential.test.ts.

-- Literals and arithmetic
select 1, -1, 1.5, 'text', true, false, null;
select 7/2, -7/2, 7/-2, 7 % 3, -7 % 3, 7 % -3;
select 7.0/2, 7/2.0, 1.0/3, 2.0/3, 10.0/3, 100.0*1/8;
select 1+1, 2-3, 4*5, 2^10, 2^0.5, -(3), +4;
select 0.1+0.2, 0.1*3, 1.10+2.205, 1.1*1.1, 5 - 0.5;
select 9223372036854775807, -9223372036854775808, 2147483647 + 0, 2147483648 + 1;
select 3000000000 * 2, 2147483647::int8 * 2147483647;
select 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, -16 >> 2;
select 1e3, 1.5e-3, .5, 12345678901234567890;
select 10 % 3.5, 10.5 % 3, mod(10, 4), mod(-10, 3);
select abs(-5), abs(-5.5), abs(ms - 50) from app order by id;
select ms / 3, ms * 2, ms + 1, ms - 0.5, -ms from app order by id;
select bytes / 7, bytes / 100 from app order by id;
select id / 2, id::int / 2, id::int % 7 from app order by id;

-- Rounding
select round(2.5), round(3.5), round(-2.5), round(0.5), round(1.005, 2), round(2.345, 2), round(-2.345, 2);
select round(1234.567, 1), round(1234.567, 0), round(1234.567, -2), round(5, 2), round(7.1, 3);
select round(2.5::float8), round(3.5::float8), round(-0.5::float8), round(ms) from app order by id;
select round(ms::numeric, 1), round(ms::numeric, 2), round(ms::numeric), round(avg(ms)::numeric, 3) from app group by ms order by ms;
select trunc(2.7), trunc(-2.7), trunc(2.789, 2), trunc(ms) from app order by id;
select ceil(1.1), ceil(-1.1), floor(1.9), floor(-1.1), ceiling(5), floor(ms), ceil(ms) from app order by id;
select sign(-3), sign(2.5), sign(0), sqrt(16), sqrt(2), power(2, 3), power(2.0, 0.5), exp(1), ln(2.718281828), log(1000);
select cbrt(27), pi(), degrees(pi()), radians(180), sin(1), cos(1), tan(1), atan(1), atan2(1, 2);

-- NULL
select null = 1, null <> 1, null and false, null or true, not null::bool, null is null, 1 is not null;
select coalesce(null, 2), coalesce(null, null, 'x'), nullif(1, 1), nullif(1, 2), greatest(1, null, 3), least(null, 2.5, 3);
select coalesce(service, 'none'), coalesce(status, 0), nullif(level, 'info') from app order by id;
select 1 is distinct from 2, null is distinct from null, null is distinct from 1, 1 is not distinct from 1, null is not distinct from null;
select ok is true, ok is not true, ok is false, ok is not false, ok is unknown, ok is not unknown from app order by id;
select status is distinct from 200, service is not distinct from null from app order by id;
select count(*), count(status), count(ok), count(service) from app;
select 1 in (1, null), 2 in (1, null), 2 not in (1, null), null in (1), 1 not in (2, 3);
select id from app where status not in (200, 404) order by id;
select id from app where status in (200, null) order by id;
select id from app where service = any (array['api', 'web']) order by id;
select id from app where service <> all (array['api', 'web']) order by id;

-- Comparisons and conditions
select 1 < 2, 2 <= 2, 3 > 4, 4 >= 4, 5 = 5, 6 <> 7, 6 != 6, 'a' < 'b', 'B' < 'a', '10' < '9', true > false;
select id from app where ms > 20 and ms < 40 order by id;
select id from app where ms between 20 and 40 order by id;
select id from app where ms not between 20 and 80 order by id;
select id from app where ms between symmetric 40 and 20 order by id;
select id from app where ok order by id;
select id from app where not ok order by id;
select id from app where ok = false or ok is null order by id;
select id from app where status = '200' order by id;
select id from app where level in ('info', 'warn') and not (status = 404 or service is null) order by id;
select id from app where (status = 200) = ok order by id;
select id from app where true order by id limit 3;
select id from app where null order by id;
select 5 between 1 and 10, 5 not between 6 and 10, 'b' between 'a' and 'c', 1.5 between 1 and 2;

-- CASE
select case when status >= 500 then 'bad' when status >= 400 then 'warn' else 'fine' end as class, count(*) from app group by 1 order by 1;
select case status when 200 then 'ok' when 404 then 'missing' end from app order by id;
select case when false then 1 end, case when true then 1 else 2.5 end, case 1 when 1 then null else 'x' end;
select sum(case when ok then 1 else 0 end), sum(case when ok then 1 else 0 end) / count(*) from app;
select case when ms = 0 then 0 else 1 / ms end from app where ms is not null order by id;
select case when bytes = 0 then null else ms / bytes end from app order by id;

select case when id = 0 then null else 1 / id end, case when id <> 5 then 10 / (id::int - 5) else 0 end from app order by id;
select id from app where id <> 0 and 1 / id > 0.1 order by id;
select id from app where message like 'GET%' and length(split_part(message, ' ', 3)) > 0 and split_part(message, ' ', 3)::int > 100 order by id;
select coalesce(nullif(id, 0), 1 / (id + 1)), coalesce(ms, 1 / ms) from app order by id;

-- LIKE and regular expressions
select id from app where message like 'GET%' order by id;
select id from app where message like '%100\%%' order by id;
select id from app where message like '%!%%' escape '!' order by id;
select id from app where message not like '%a%' order by id;
select id from app where message ilike '%EMOJI%' order by id;
select id from app where message like '%\\%' order by id;
select 'abc' like 'a_c', 'abc' like 'A%', 'abc' ilike 'A%', '' like '%', '' like '_', 'a%c' like 'a\%c', 'axc' like 'a\%c', 'ü' like '_';
select id from app where message like level || '%' or message like '%' || service || '%' order by id;
select id from app where message ~ '^GET /[a-z]+\.html [0-9]{3}$' order by id;
select id from app where message ~* 'EMOJI' order by id;
select id from app where message !~ 'a' order by id;
select id from app where message !~* 'A' order by id;
select 'foobar' ~ 'o{2}', 'foobar' ~ '^(foo|bar)+$', 'foo.bar' ~ 'foo\.bar', 'fooxbar' ~ 'foo\.bar', 'a1' ~ '[[:alpha:]][[:digit:]]', 'x' ~ '(?i)X', E'a\nb' ~ 'a.b';

-- Strings
select lower('ÀBC'), upper('straéx'), length('😀é'), char_length('abc'), octet_length('é'), reverse('abc'), initcap('hello big world');
select lower(level), upper(service), length(message) from app order by id;
select substring('hello' from 2 for 3), substring('hello' from 2), substring('hello', 2), substr('hello', 2, 2), substring('hello' from -1 for 4), substring('hello' from 0), substring('hello' from 10);
select substring(message from 3 for 4), substr(message, 2) from app order by id;
select left('hello', 2), left('hello', -2), right('hello', 2), right('hello', -2), left('hello', 99), left('ü😀x', 2);
select trim('  x  '), trim(both 'x' from 'xxaxx'), trim(leading '0' from '0012'), trim(trailing '!' from 'hi!!'), ltrim('  a'), rtrim('a  '), btrim('abcba', 'ab');
select trim(message), length(trim(message)) from app order by id;
select replace('banana', 'an', 'AN'), replace('abc', '', 'x'), replace(message, 'a', '') from app order by id;
select concat('a', 1, null, true, 2.5), concat_ws('-', 'a', null, 'b'), 'a' || 'b', 'n' || 1, 1 || 'n', 'x' || null;
select service || ':' || level, concat(service, '/', level) from app order by id;
select position('l' in 'hello'), position('z' in 'hello'), strpos('hello', 'lo'), position('' in 'abc'), position('é' in 'aéb');
select split_part('a,b,c', ',', 2), split_part('a,b,c', ',', 4), split_part('a,b,c', ',', -1), split_part(message, ',', 1) from app order by id;
select starts_with('hello', 'he'), starts_with('hello', 'lo'), md5('abc');
select 'it''s', 'back\slash', E'tab\there', E'new\nline', U&'\00e9', $$dollar ' quoted$$;

-- Casts
select '5'::int, '5.5'::float8, '5.55'::numeric, 't'::bool, 'off'::bool, '2024-01-02'::date, '2024-01-02 03:04:05.678'::timestamp;
select 5.5::int, 6.5::int, -5.5::int, 5.5::float8::int, 6.5::float8::int, 5::float8, 5::numeric, 5::bool, 0::bool, true::int;
select 1.005::numeric(10,2), 2.345::numeric(5,1), '1.239'::numeric(4,2), 12::numeric(5,2), ms::numeric(10,1) from app order by id;
select 5::text, 5.50::text, 1.5::float8::text, true::text, '2024-01-02'::date::text, null::text;
select 1e15::float8::text, 1e14::float8::text, 0.0001::float8::text, 0.00001::float8::text, 123456789012345678::float8::text, 0.1::float8::text, (-1e-7)::float8::text, 'nan'::float8::text, 'inf'::float8::text, 1e300::float8::text;
select ms::text, id::text, status::int::text, ok::text from app order by id;
select cast(id as int), cast(status as text), cast('12' as int8), cast(ms as int) from app order by id;
select 'hello'::varchar(3), 'hello'::varchar, 12345::text || 'x', '  7 '::int, ' 1.5 '::float8;
select 32767::int2, 2147483647::int4, '9223372036854775807'::int8, 1.0::int8, (-32768)::smallint;
select p_timestamp::date, p_timestamp::text from app order by id;
select hired::date, hired::date + 1, hired::date - 1, hired::timestamp from emp order by eid;
select round(ms::numeric, 2)::text, (status::int)::text || '!' from app order by id;

-- Dates and times
select date '2024-02-28' + 2, date '2024-03-01' - date '2024-02-01', date '2024-01-31' + interval '1 month', timestamp '2024-01-31 10:00' + interval '1 month 2 days 03:00';
select timestamp '2024-03-10 12:30:45.123456' - interval '1 hour', timestamp '2024-03-10 12:00' + interval '90 minutes', timestamp '2024-03-31' - interval '1 month';
select date_trunc('second', p_timestamp), date_trunc('minute', p_timestamp), date_trunc('hour', p_timestamp), date_trunc('day', p_timestamp) from app order by id;
select date_trunc('week', p_timestamp), date_trunc('month', p_timestamp), date_trunc('quarter', p_timestamp), date_trunc('year', p_timestamp), date_trunc('milliseconds', p_timestamp) from app order by id;
select date_trunc('day', date '2150-05-05'), date_trunc('minute', timestamp '2150-01-01 10:11:12'), date_trunc('week', timestamp '1960-01-01'), date_trunc('year', timestamp '2200-06-06');
select extract(year from p_timestamp), extract(month from p_timestamp), extract(day from p_timestamp), extract(hour from p_timestamp), extract(minute from p_timestamp), extract(second from p_timestamp) from app order by id;
select extract(dow from p_timestamp), extract(isodow from p_timestamp), extract(doy from p_timestamp), extract(week from p_timestamp), extract(quarter from p_timestamp), extract(epoch from p_timestamp) from app order by id;
select extract(isoyear from date '2021-01-01'), extract(milliseconds from timestamp '2024-01-01 00:00:01.5'), extract(microseconds from timestamp '2024-01-01 00:00:01.5'), date_part('hour', timestamp '2024-01-01 05:00'), extract(epoch from timestamp '1960-01-01');
select extract(epoch from p_timestamp - timestamp '2024-03-01'), extract(epoch from max(p_timestamp) over () - p_timestamp) from app order by id;
select id from app where p_timestamp >= '2024-03-02' and p_timestamp < '2024-03-03' order by id;
select id from app where p_timestamp > timestamp '2024-03-02 12:00:00' - interval '3 hours' and p_timestamp <= '2024-03-02 12:00:00' order by id;
select id from app where p_timestamp - timestamp '2024-03-01' > interval '30 hours' order by id;
select id from app where p_timestamp::date = '2024-03-02' order by id;
select to_timestamp(1709290000), to_timestamp(1709290000.5), to_timestamp(0);
select date_trunc('hour', p_timestamp) as hour, count(*) from app group by hour order by hour;
select date_trunc('day', p_timestamp) as day, level, count(*) as n, avg(ms) from app group by 1, 2 order by 1, 2;
select min(p_timestamp), max(p_timestamp), max(p_timestamp)::date from app;
select interval '1 hour' > interval '59 minutes', interval '1 day' = interval '24 hours', interval '1 month' = interval '30 days', extract(epoch from interval '1 day 2 hours');
select timestamp '2024-01-01' + 3 * interval '1 day', timestamp '2024-01-01' + interval '1 hour' / 2, timestamp '2024-01-01' + id * interval '1 second' from app order by id;
select date(p_timestamp), count(*) from app group by date(p_timestamp) order by 1;
select date '2024-01-01' < timestamp '2024-01-01 00:00:01', date '2024-01-01' = timestamp '2024-01-01';

-- Aggregates
select count(*), sum(ms), avg(ms), min(ms), max(ms), sum(bytes), avg(bytes) from app;
select count(*), sum(x), avg(x), min(x), max(x), min(s), bool_and(b), bool_or(b), string_agg(s, ',') from empty;
select count(*) from empty having count(*) > 0;
select count(*) from app having count(*) > 10;
select s, count(*) from empty group by s;
select count(distinct level), count(distinct service), count(distinct status), sum(distinct status), avg(distinct status) from app;
select count(*) filter (where ok), count(*) filter (where status >= 400), sum(ms) filter (where level = 'error'), avg(ms) filter (where false) from app;
select bool_and(ok), bool_or(ok), every(ok is not null), bool_and(status > 100) from app;
select min(level), max(level), min(message), max(service), min(ok::int) from app;
select stddev(ms), stddev_pop(ms), variance(ms), var_pop(ms), stddev_samp(bytes), var_samp(bytes) from app;
select stddev(salary), variance(salary), stddev_pop(salary), var_pop(salary) from emp where eid = 1;
select percentile_cont(0.5) within group (order by ms), percentile_cont(0.9) within group (order by ms), percentile_cont(0.25) within group (order by ms desc) from app;
select percentile_disc(0.5) within group (order by ms), percentile_disc(0.25) within group (order by status), percentile_disc(0) within group (order by ms), percentile_disc(1) within group (order by ms), percentile_disc(0.5) within group (order by level) from app;
select percentile_cont(0.5) within group (order by x), percentile_disc(0.5) within group (order by x) from empty;
select level, percentile_cont(0.95) within group (order by ms) from app group by level order by level;
select string_agg(title, ', ') from dept where did = 10;
select avg(id::int), sum(id::int), avg(n), sum(n) from (select id, count(*) as n from app group by id) t;
select round(avg(n), 2), sum(n) / 7, avg(n) / 3 from (select level, count(*) as n from app where id <> 3 group by level) t;
select sum(1), sum(1.5), avg(2), sum(length(level)), max(length(message)) from app;
select sum(ms) / count(*), sum(ms) / nullif(count(*) - 60, 0), 100.0 * count(*) / 7 from app;
select max(p_timestamp) - min(p_timestamp) > interval '1 day', extract(epoch from avg(p_timestamp - timestamp '2024-03-01')) > 0 from app;

-- GROUP BY, HAVING, DISTINCT
select level, count(*) from app group by level order by level;
select level, service, count(*) from app group by level, service order by 1, 2;
select level as l, count(*) as n from app group by l order by n desc, l;
select status, count(*) from app group by status order by status;
select status, count(*) from app group by status order by status desc;
select upper(level), length(service), count(*) from app group by upper(level), length(service) order by 1, 2;
select upper(level) || '!', count(*) + 1 from app group by upper(level) order by 1;
select level from app group by level having count(*) > 14 order by level;
select level, avg(ms) from app group by level having avg(ms) > 40 and min(status) is not null order by avg(ms) desc;
select count(*) from app group by level order by level;
select level, max(ms) - min(ms) as spread from app group by level order by spread desc, level;
select distinct level from app order by level;
select distinct service, ok from app order by service, ok;
select distinct status from app order by status desc nulls last;
select distinct level, count(*) from app group by level order by 2, 1;
select ok, count(*) from app group by ok order by ok nulls first;
select id::int % 3 = 0 as third, count(*) from app group by id::int % 3 = 0 order by 1;
select 'constant', count(*) from app group by 1;
select id::int % 5 as bucket, sum(ms), count(*) from app group by bucket having count(*) > 1 order by bucket;

-- ORDER BY, LIMIT, OFFSET
select id, ms from app order by ms, id;
select id, ms from app order by ms desc, id desc;
select id, service from app order by service nulls first, id;
select id, service from app order by service desc nulls last, id;
select id from app order by -id limit 5;
select id as x from app order by x desc limit 5 offset 5;
select id, ms * 2 as twice from app order by twice desc nulls last limit 3;
select id from app order by level, ms desc nulls last, id limit 10;
select id from app order by 1 limit 0;
select id from app order by 1 offset 55;
select id from app order by id limit all offset 58;
select id from app order by id fetch first 3 rows only;
select id from app order by case when level = 'error' then 0 else 1 end, id limit 20;
select level, count(*) from app group by level order by count(*) desc, max(id);
select -id from app order by id limit 2;
select id as ms, ms as id from app order by id nulls first, ms limit 5;

-- Joins
select name, title from emp join dept on dept = did order by name;
select e.name, d.title from emp e inner join dept d on e.dept = d.did where d.title like 'R%' order by 1;
select e.name, d.title from emp e left join dept d on e.dept = d.did order by e.name;
select e.name, d.title from emp e right join dept d on e.dept = d.did order by d.title, e.name;
select e.name, d.title from emp e full join dept d on e.dept = d.did order by e.name, d.title;
select e.name, d.title from emp e cross join dept d order by 1, 2;
select e.name, d.title from emp e, dept d where e.dept = d.did order by 1;
select e.name, b.name as boss from emp e left join emp b on e.boss = b.eid order by 1;
select e.name, b.name, c.name from emp e join emp b on e.boss = b.eid join emp c on b.boss = c.eid order by 1;
select e.name, d.title from emp e left join dept d on e.dept = d.did and d.title = 'Sales' order by 1;
select e.name, d.title from emp e left join dept d on e.dept = d.did where d.did is null order by 1;
select e.name, f.name from emp e join emp f on e.salary > f.salary order by 1, 2;
select d.title, count(e.eid), sum(e.salary), avg(e.salary) from dept d left join emp e on e.dept = d.did group by d.title order by 1;
select a.eid, b.name from emp a join emp b using (eid) order by eid;
select eid, a.name, b.name from emp a left join (select eid, name from emp where salary > 4000) b using (eid) order by eid;
select eid, x.name, y.name from (select eid, name from emp where eid < 4) x full join (select eid, name from emp where eid > 2) y using (eid) order by eid;
select * from (select eid, name from emp) a join (select eid, salary from emp) b using (eid) order by eid;
select a.eid from emp a join emp b on a.eid = b.eid and a.dept = b.dept order by 1;
select count(*) from app a join app b on a.status = b.status and a.id < b.id;
select e.name, d.title from emp e join dept d on e.dept = d.did or e.salary = 100 order by 1, 2;
select e.name from emp e, dept d left join dept f on d.did = f.did where e.dept = f.did order by 1;
select e.*, d.title from emp e join dept d on d.did = e.dept where e.eid = 1;

-- Subqueries
select name from emp where dept in (select did from dept) order by name;
select name from emp where dept not in (select did from dept) order by name;
select name from emp where dept not in (select did from dept where did > 1000) order by name;
select name, dept in (select did from dept), dept not in (select did from dept) from emp order by name;
select eid, boss in (select boss from emp), 99 in (select boss from emp), 99 not in (select boss from emp), boss in (select boss from emp where false) from emp order by eid;
select name from emp where salary = (select max(salary) from emp) order by name;
select name, salary - (select avg(salary) from emp) from emp order by name;
select (select count(*) from app), (select max(title) from dept), (select x from empty);
select name from emp where exists (select 1 from dept where did = 10) order by name;
select name from emp where not exists (select 1 from dept where did = 99) order by name;
select name from emp e where exists (select 1 from dept d where d.did = e.dept) order by name;
select name from emp e where not exists (select 1 from dept d where d.did = e.dept) order by name;
select title, (select count(*) from emp e where e.dept = d.did) from dept d order by title;
select title, (select max(salary) from emp where dept = did) from dept order by title;
select name from emp e where salary > (select avg(salary) from emp x where x.dept = e.dept) order by name;
select * from (select level, count(*) as n from app group by level) t where n > 10 order by level;
select t.n from (select count(*) from app) as t(n);
select avg(n) from (select count(*) n from app group by level) x;
select name from emp where (select count(*) from dept) = 3 order by name;
select x.a + 1, x.b from (select 1 as a, 'q' as b) x;
select id from app where ms > (select avg(ms) from app) and status in (select status from app where level = 'error') order by id;
select level, count(*) from app where service in (select service from app where ok) group by level having count(*) > (select min(did) / 2 from dept) order by 1;

-- WITH
with t as (select level, count(*) as n from app group by level) select * from t order by n, level;
with a as (select * from emp where salary > 1000), b as (select dept, max(salary) m from a group by dept) select a.name, b.m from a join b on a.dept = b.dept order by 1;
with t(a, b) as (select eid, name from emp) select b, a from t order by a;
with t as (select 1 as x) select t.x, u.x from t, t as u;
with t as (select 1 as x), u as (select x + 1 as y from t), v as (select y * 2 as z from u) select z from v;
with emp as (select 'shadow' as name) select * from emp;
with a as (with b as (select 5 as x) select x from b) select x + 1 from a;
with t as materialized (select level from app) select count(*) from t where level = 'info';
select * from (with q as (select 3 as v) select v from q) s;

-- Set operations and VALUES
select level from app union select 'new' order by 1;
select 1 union all select 1 union all select 2 order by 1;
select 1 union select 1 union select 2.5 order by 1;
select status from app intersect select 200;
select status from app except select 200 order by 1;
select level from app except all select level from app where id < 8 order by 1;
select level from app where id < 12 intersect all select level from app where id > 40 order by 1;
select 1 as a, 'x' as b union all select 2, null order by a desc;
(select id from app order by id limit 2) union all (select id from app order by id desc limit 2) order by 1;
select count(*) from (select level from app union all select level from app) t;
select 1 union (select 2 except select 2) order by 1;
select null as v union all select 5 order by v;
select name from emp where dept = 10 union select title from dept order by name desc limit 3;
values (1, 'a'), (2, 'b'), (3, null) order by 1;
select * from (values (1, 'one'), (2, 'two')) v(n, word) order by n desc;
select v.n * 2, word || '!' from (values (1, 'one'), (2.5, 'two')) as v(n, word) order by 1;
select e.name from emp e join (values (1), (3)) ids(i) on e.eid = ids.i order by 1;

-- Window functions
select id, row_number() over (order by id desc) from app order by id limit 10;
select id, level, row_number() over (partition by level order by id) as n from app order by id;
select eid, salary, rank() over (order by salary desc), dense_rank() over (order by salary desc), row_number() over (order by salary desc, eid) from emp order by eid;
select eid, lag(name) over (order by eid), lead(name) over (order by eid), lag(name, 2) over (order by eid), lag(salary, 1, 0) over (order by eid) from emp order by eid;
select eid, sum(salary) over (), avg(salary) over (partition by dept), count(*) over (partition by dept) from emp order by eid;
select eid, sum(salary) over (order by eid), sum(salary) over (order by eid rows between 1 preceding and 1 following), avg(salary) over (order by eid rows 2 preceding) from emp order by eid;
select eid, first_value(name) over (order by eid), last_value(name) over (order by eid rows between unbounded preceding and unbounded following) from emp order by eid;
select eid, ntile(2) over (order by eid), percent_rank() over (order by eid), cume_dist() over (order by salary) from emp order by eid;
select level, count(*), sum(count(*)) over (), rank() over (order by count(*) desc, level) from app group by level order by level;
select level, 100.0 * count(*) / sum(count(*)) over () from app group by level order by level;
select * from (select id, level, row_number() over (partition by level order by ms desc nulls last) as n from app) t where n <= 2 order by level, n;
select eid, sum(salary) over w, count(*) over w from emp window w as (partition by dept order by eid) order by eid;
select eid, count(*) filter (where salary > 3600) over (order by eid), max(salary) over (order by eid range between unbounded preceding and current row) from emp order by eid;

-- Output names
select count(*), count(*), sum(ms), max(ms) as count from app;
select 1, 'a', 1 + 1, upper('x'), 1::int, '1'::int8, (select 5), exists (select 1), case when true then 1 end, coalesce(1, 2), nullif(1, 2), greatest(1, 2);
select emp.name, name as "Quoted Name", e2.eid from emp join (select eid from emp) e2 on emp.eid = e2.eid order by e2.eid;
select extract(year from date '2024-01-01'), trim('x'), substring('abc' from 1), position('a' in 'a'), case when true then ms else 1 end, ms::text, (ms) from app order by id limit 1;
select current_date = current_date, now() = now(), now() > timestamp '2020-01-01';
select id "t1", level as "c1", ms as "o1", status as "t1.c1" from app where id > 3 order by id limit 3;

select id, width_bucket(ms, 0, 500, 5), width_bucket(ms, 500, 0, 5), width_bucket(ms, 12.5, 13, 1000), width_bucket(status, 100, 600, id::int + 1) from app order by id;
select width_bucket(ms, 0, 1000, 10) as bucket, count(*), min(ms), max(ms) from app group by 1 order by 1 nulls last;
select width_bucket(5, 0, 10, 5), width_bucket(10, 0, 10, 5), width_bucket(-1, 0, 10, 5), width_bucket(11.0::float8, 0, 10, 5), width_bucket(0, 0, 10, 5), width_bucket(null, 0, 10, 5), width_bucket(-1, 0, 10, null::int), width_bucket(3, 10, 0, 3), width_bucket(10, 10, 0, 3);
select x, width_bucket(x / 16.0::float8, 0.125::float8, 0.875::float8, 6) from generate_series(-2, 12) x order by x;
select current_schema(), current_schema;

-- Numbers, conditions, aggregates
select gcd(12, 18), gcd(-12, 18), lcm(4, 6), asin(0.5), acos(0.5), sinh(1), cosh(1), tanh(0.5);
select level, count(*) filter (where status = 200) * 100.0 / count(*) as share from app group by level order by level;
select status::int / 100 as class, count(*), min(id), max(id) from app where status is not null group by 1 having count(*) > 2 order by 1;
select coalesce(service, '(none)') as service, sum(case when level = 'error' then 1 else 0 end) as errors, count(*) as total from app group by 1 order by errors desc, service;
select a.level, b.level, count(*) from app a join app b on a.id = b.id + 1 group by 1, 2 order by 1, 2;
select level from app where ok group by level having bool_and(ms > 0) order by level;
select distinct service, level from app where ms > 30 order by service desc nulls last, level limit 4 offset 1;
with t as (select level, sum(bytes) as b from app group by level) select level, b, round((100 * b / (select sum(b) from t))::numeric, 2) from t order by b desc;
select e.name, d.title, count(x.eid) as reports from emp e left join dept d on d.did = e.dept left join emp x on x.boss = e.eid group by 1, 2 order by 1;
select level || ':' || count(*)::text from app group by level order by 1;
select sum(9223372036854775807::int8), avg(9223372036854775807::int8) from emp;
select nullif(salary, 100), case dept when 10 then 'R' when 20 then 'S' else coalesce(dept::text, '?') end from emp order by eid;
select 10 / 4, 10 / 4.0, 10 % 4, -10 / 4, 2 ^ 3 ^ 2, 7.5 % 2, 1e2 + 1;
select 0.1::float8 + 0.2::float8, 1.0 / 3.0, 2::numeric / 3, 1 / 3::float8, round(2.0 / 3, 4), trunc(-7.7), 5.0 * 2;
select true and null, false and null, true or null, not null, (null = null) is null, 1 = 1 and 2 > 1;
select count(*) filter (where dept = 10), count(*) filter (where not (dept = 10)), count(*) filter (where dept is distinct from 10) from emp;
select name, (select count(*) from emp x where x.boss = e.eid) + (select count(*) from dept where did = e.dept) from emp e order by name;

-- WITH RECURSIVE
with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select * from r order by n;
with recursive chain(eid, name, depth) as (select eid, name, 0 from emp where boss is null union all select e.eid, e.name, c.depth + 1 from emp e join chain c on e.boss = c.eid) select * from chain order by depth, eid;
with recursive f(a, b) as (select 0::int8, 1::int8 union all select b, a + b from f where b < 1000) select max(a) from f;
with recursive t as (select 'x'::text as s union all select s || 'x' from t where length(s) < 4), u as (select count(*) as n from t) select s, n from t, u order by s;
with recursive d as (select timestamp '2024-01-01' as day union all select day + interval '1 day' from d where day < timestamp '2024-01-04') select day from d order by day;
with recursive a as (select 5 as x) select * from a;
with recursive a as (select 5 as x union all select 6) select * from a order by x;

with recursive r(n, f) as (select 1, 1::numeric union all select n + 1, f * (n + 1) from r where n < 10) select n, f from r order by n;
with recursive days as (select date '2024-02-27' as d union all select d + 1 from days where d < date '2024-03-02') select d, extract(day from d) from days order by d;
with recursive up as (select eid, boss from emp where name = 'Eve' union all select e.eid, e.boss from emp e join up on e.eid = up.boss) select count(*), array_agg(eid order by eid) from up;

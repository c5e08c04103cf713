-- Functions in FROM, NATURAL JOIN, VALUES
select * from dept natural join (select 10 as did, 'x' as note) n;
select * from (select eid, name from emp) a natural left join (select eid, salary from emp where salary > 4000) b order by eid;
select d.title, v.x from dept d natural join (values (1), (2)) v(x) order by 1, 2;
select * from generate_series(1, 5) g order by 1;
select g * 2 from generate_series(1, 10, 3) as g order by g;
select n from generate_series(5, 1, -2) as t(n) order by n desc;
select * from generate_series(3, 1);
select * from generate_series(timestamp '2024-01-01', timestamp '2024-01-02', interval '6 hours') order by 1;
select * from generate_series('2024-01-01'::timestamptz, '2024-03-05', '1 week') as t(w) order by w;
select m::date from generate_series(date '2024-01-01', date '2024-06-15', interval '1 month') m order by 1;
select g, o from generate_series(7, 9) with ordinality as t(g, o) order by o;
select generate_series(1, 3) as n order by n;
select d.did, g from dept d, generate_series(1, (d.did / 10)::int) g order by 1, 2;
select e.name, n from emp e cross join lateral generate_series(1, e.eid::int) n where n > 2 order by 1, 2;
select e.name, n from emp e left join lateral generate_series(4, e.eid::int) n on true order by 1, 2;
select h.hour, count(a.id) from generate_series(timestamptz '2024-03-01', timestamptz '2024-03-01 23:00', interval '1 hour') h(hour) left join app a on date_trunc('hour', a.p_timestamp) = h.hour group by 1 order by 1;
select g.n, a.level, count(*) from generate_series(1, 2) g(n) cross join app a group by 1, 2 order by 1, 2;
select x from (values (1), (2), (null)) v(x) where x in (select x from (values (2), (null)) w(x));
select column1, column2 from (values (1, 'a'), (2, 'b')) t order by 1 desc;
(values (1), (3)) union (values (2), (3)) order by 1;

select t.day, coalesce(c.n, 0) from generate_series(date '2024-03-01', date '2024-03-05', interval '1 day') t(day) left join (select date_trunc('day', p_timestamp) as day, count(*) as n from app group by 1) c on c.day = t.day order by 1;
select extract(year from d), extract(quarter from d), extract(week from d), extract(isoyear from d) from (values (date '2020-12-31'), (date '2021-01-01'), (date '2024-12-30')) v(d) order by d;
select count(*) from generate_series(1, 1000) a(x) where x % 7 = 0;
select a, b from generate_series(1, 3) a, generate_series(a, 3) b order by a, b;
select x, x * x as sq from generate_series(-2, 2) x order by x;
select sum(x) from generate_series(1, 100) x;
select date(d) from generate_series(timestamp '2024-02-27', timestamp '2024-03-02', '1 day') d order by 1;
select sum(x), avg(x), max(x) from (values (1.5), (2.25), (null)) v(x);
values (1, 'x', true), (2, null, false) order by 1 desc;

select t, t.t, h from generate_series(1, 2) as t, jsonb_object_keys('{"a":1}') as h;

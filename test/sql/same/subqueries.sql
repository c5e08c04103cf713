-- Correlated subqueries
select name from emp where dept in (select did from dept where title <> name and did = dept) order by name;
select name from emp e where salary in (select salary from emp x where x.dept = e.dept and x.eid <> e.eid) order by name;
select name from emp e where salary not in (select salary from emp x where x.dept = e.dept and x.eid <> e.eid) order by name;
select eid, boss in (select x.eid from emp x where x.dept = e.dept), boss not in (select x.boss from emp x where x.dept = e.dept) from emp e order by eid;
select eid, (select d.title from dept d where d.did = e.dept) from emp e order by eid;
select title, (select name from emp where dept = did order by salary desc nulls last, name limit 1) from dept order by title;
select title, (select count(*) + 1 from emp where dept = did), (select coalesce(sum(salary), 0) from emp where dept = did), (select max(salary) - min(salary) from emp where dept = did) from dept order by title;
select name from emp e where salary > (select 1.1 * avg(salary) from emp x where x.dept = e.dept) order by name;
select name from emp e where exists (select * from dept d where d.did = e.dept order by title limit 1) order by name;
select name from emp e where exists (select 1 from emp x where x.boss = e.eid and x.salary < e.salary) and not exists (select 1 from emp y where y.boss = e.eid and y.dept <> e.dept) order by name;
select name, exists (select 1 from emp x where x.boss = e.eid) as leads from emp e order by name;
select title, (select count(*) from emp where dept = did and salary > 4000) > 0 as rich from dept order by title;
select dept, (select title from dept where did = dept), count(*) from emp group by dept order by dept;
select title from dept d where (select count(*) from emp e where e.dept = d.did) = 2 order by 1;
select e.name from emp e join dept d on e.dept = d.did where e.salary = (select max(x.salary) from emp x where x.dept = d.did) order by 1;
select level, count(*) from app a group by level having count(*) > (select count(*) / 5 from app) order by level;

select e.name from emp e where e.name = any(select name from emp where dept = 10) order by 1;
select title from dept where did not in (select dept from emp where dept is not null) order by 1;
select d.title, (select string_agg(e.name, ', ' order by e.name) from emp e where e.dept = d.did) from dept d order by 1;
select d.title, (select array_agg(e.eid order by e.eid) from emp e where e.dept = d.did) from dept d order by 1;
select name, (select x.name from emp x where x.eid = e.boss) as boss from emp e order by name;

-- Where the subquery is not tied by an equality of columns, rows around it with the same value share its answer.
select e.name, (select sum(x.salary) from emp x where x.dept < e.dept), (select count(*) from emp x where x.dept <= e.dept), (select avg(x.salary) + count(*) from emp x where x.dept < e.dept) from emp e;
select e.name, (select sum(x.salary) from emp x where x.dept = e.dept::int), (select count(*) from emp x where x.dept + 10 = e.dept), (select count(x.boss) from emp x where x.dept = e.dept and x.eid < e.eid + 10) from emp e;
select e.name, (select sum(x.salary * e.eid) from emp x where x.dept < e.dept and e.eid > 0), (select sum(x.salary) filter (where x.eid > 1) from emp x where x.dept <= e.dept and x.eid < 10) from emp e;
select e.name, (select array_agg(x.salary order by x.eid desc) from emp x where x.dept <= e.dept), (select string_agg(x.name, ',' order by x.eid) from emp x where x.dept <= e.dept), (select regr_slope(x.salary, x.eid) from emp x where x.dept <= e.dept) from emp e;
select e.name, (select count(*) from emp x join dept d on x.dept = d.did where x.dept <= e.dept and d.title <> 'x'), (select count(*) from generate_series(1, 5) g where g < e.dept / 10), (select count(*) from emp x where x.dept <= e.dept and x.boss in (select eid from emp)) from emp e;
select e.name, (select d.title from dept d where d.did = e.dept + 10), (select max(x.salary) from emp x where x.dept < e.dept), (select count(distinct x.salary) from emp x where x.dept <= e.dept) from emp e;
select e.name from emp e where (select count(*) from emp x where x.dept <= e.dept) > 2;
select a.x, (select sum(b.y) from (values (1.0::float8, 5), (2.0, 7), (2.5, 9)) b(x, y) where b.x = a.x) from (values (1), (1), (1), (2), (3)) a(x);
select e.eid from emp e, generate_series(1, e.eid::int) g where e.dept not in (select x.dept from emp x where x.eid = 0);

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

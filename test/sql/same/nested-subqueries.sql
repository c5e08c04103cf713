-- Subqueries in subqueries, windows and DISTINCT ON
select distinct on ((select title from dept where did = e.dept)) name from emp e order by (select title from dept where did = e.dept), name;
select distinct on ((select max(did) from dept where did <= e.dept)) e.eid, (select max(did) from dept where did <= e.dept) from emp e order by (select max(did) from dept where did <= e.dept) nulls last, eid desc;
select eid, sum(salary) over (partition by (select title from dept where did = e.dept) order by (select count(*) from emp x where x.boss = e.eid), eid) from emp e order by eid;
select eid, rank() over (order by (select count(*) from dept) + eid) from emp order by eid limit (select count(*) from dept);
select d.title, (select count(*) from emp x where x.dept = d.did and exists (select 1 from emp y where y.boss = x.eid and y.dept = d.did)) from dept d;
select d.title from dept d where exists (select 1 from emp x where x.dept = d.did and exists (select 1 from emp y where y.boss = x.eid and y.dept = d.did));
select d.title from dept d where exists (select 1 from emp x where x.dept = d.did and x.eid in (select y.boss from emp y where y.salary < x.salary and y.dept <= d.did + 10));
select (select (select e.name) from dept where did = 10) from emp e;
select e.name from emp e where exists (select 1 from emp x where x.eid = e.eid and not exists (select 1 from emp y where y.boss = e.eid)) order by 1;
select d.title, (select count(*) from emp x where x.dept = d.did and x.salary >= (select max(y.salary) from emp y where y.dept = d.did)) from dept d order by 1;
select d.title, (select max(x.name) from emp x where x.dept = d.did and x.eid in (select y.boss from emp y where y.dept = d.did)) from dept d order by 1;
select d.title from dept d where d.did in (select x.dept from emp x where x.dept = d.did and exists (select 1 from emp y where y.boss = x.eid and y.dept >= d.did));

-- LATERAL by any condition
select * from dept d left join lateral (select name from emp e where e.dept < d.did) x on true order by did, name;
select d.title, x.s from dept d left join lateral (select e.name || d.title as s from emp e where e.dept = d.did) x on true order by 1, 2;
select d.title, x.* from dept d, lateral (select e.name, d.did + e.eid as k from emp e where e.salary > d.did * 100) x order by 1, 2;
select d.title, x.n from dept d join lateral (select count(*) as n from emp where dept = d.did) x on x.n > 1;
select d.title, x.n from dept d, lateral (select count(*) as n from emp where dept = d.did having count(*) > 1) x;
select e.name, x.* from emp e, lateral (select count(*) as n, e.name as m, max(title) || e.name as t from dept where did = e.dept) x order by 1;
select d.did, x.name from dept d left join lateral (select * from (select name, dept from emp) y where y.dept = d.did) x on x.name > 'B' order by 1, 2;
select d.title, x.n, x.s from dept d, lateral (select count(*) filter (where salary > 3600) as n, sum(salary) as s from emp e where e.dept = d.did) x order by 1;
select e.name, x.title from emp e join lateral (select title from dept d where d.did = e.dept) x on length(x.title) > 5 order by 1;
select e.name, x.top from emp e cross join lateral (select max(salary) as top from emp y where y.dept = e.dept) x where e.salary = x.top order by 1;
select d.did, x.k, y.m from dept d, lateral (select d.did / 10 as k) x, lateral (select x.k * 2 as m) y order by 1;
select a.i, s.x from (values (1), (2)) a(i) left join lateral (select e.name as x from emp e where e.eid = a.i + 1) s on true order by 1;

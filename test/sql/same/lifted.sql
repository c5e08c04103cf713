-- What was refused before
select (select (select e.name) from dept where did = 10) from emp e;
select (select count(*) from emp x where x.dept = d.did and exists (select 1 from emp y where y.boss = x.eid and y.dept = d.did)) from dept d;
select name from emp order by string_to_array(name, 'a');
select * from emp e left join lateral (select 1 from dept where did > e.dept) x on true;
select * from emp e, lateral (select title || e.name from dept where did = e.dept) x;
select * from emp e, lateral (select count(*), e.name from dept where did = e.dept) x;
select * from dept d, lateral (select count(*) as n from emp where dept = d.did having count(*) > 1) x;
with recursive r as (select 1 as n union select n % 3 + 1 from r) select * from r;
select sum(salary) over (order by eid groups 1 preceding) from emp;
select sum(salary) over (order by eid rows 1 preceding exclude current row) from emp;
select eid from emp order by eid fetch first 1 row with ties;
select * from emp a left join emp b on a.salary < b.salary;
select level from app where level similar to 'a%';
select lag(status, id::int, 0) over (order by id) from app;
select substring('alphabet' from '3' for '2');

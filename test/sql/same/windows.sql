-- Window functions
select id, sum(ms) over (order by id rows between 2 preceding and current row), count(*) over (order by id range between unbounded preceding and unbounded following) from app order by id;
select id, nth_value(level, 2) over (order by id), last_value(level) over (partition by service order by id) from app order by id;
select eid, array_agg(name) over (order by eid), string_agg(name, ',') over (order by eid) from emp order by eid;
select level, sum(count(*)) over (order by level), avg(sum(ms)) over () from app group by level order by level;
select id, lag(ms) over w, lead(level, 2, 'none') over w, ms - lag(ms) over w from app window w as (partition by level order by id) order by id;
select id, ms, min(ms) over (order by id rows between 1 following and 3 following), max(ms) over (order by id rows between unbounded preceding and 1 preceding) from app order by id;
select id, row_number() over (order by level desc, ms nulls first, id) from app order by id;
select count(*) filter (where ok) over (partition by level), sum(ms) filter (where id > 10) over (order by id) from app order by id;
select level, rank() over (order by sum(ms) desc nulls last), percent_rank() over (order by count(*), level), cume_dist() over (order by count(*)) from app group by level order by level;
select eid, dept, sum(salary) over (partition by dept order by eid rows between unbounded preceding and current row) from emp order by eid;

select id, ms - avg(ms) over (partition by level) as off, ms / sum(ms) over () as share from app order by id;
select level, ms, rank() over (partition by level order by ms desc nulls last) r from app order by level, r, ms limit 12;
select * from (select level, service, ms, row_number() over (partition by level order by ms desc nulls last, id) as n from app) t where n = 1 order by level;
with hourly as (select date_trunc('hour', p_timestamp) as h, count(*) as n from app group by 1), ranked as (select h, n, lag(n) over (order by h) as before from hourly) select h, n, n - before from ranked where n <> before or before is null order by h;
select eid, sum(salary) over w as running, avg(salary) over w from emp window w as (order by eid rows between unbounded preceding and current row) order by eid;
select level, count(*), dense_rank() over (order by count(*) desc), sum(count(*)) over (order by level rows unbounded preceding) from app group by level order by level;
select ntile(4) over (order by id) as q, id from app order by id;
select id, first_value(id) over (partition by level order by id desc), last_value(id) over (partition by level order by id rows between current row and unbounded following) from app order by id limit 10;

select eid, sum(eid) over (order by eid range between 1 preceding and current row), count(*) over (order by salary range between 500 preceding and 1000.5 following) from emp order by eid;
select id, sum(ms) over (order by p_timestamp range between interval '1 hour' preceding and current row), count(*) over (order by p_timestamp desc range between '90 minutes' preceding and '30 minutes' following) from app order by id;
select id, avg(ms) over (partition by level order by p_timestamp range between interval '1 day' preceding and interval '1 day' following) from app order by id;
select eid, count(*) over (order by boss range between 1 preceding and 1 following), count(*) over (order by boss desc nulls last range between current row and 2 following), array_agg(eid) over (order by boss range 0.25 preceding) from emp order by eid;
select h, sum(n) over (order by h range between interval '2 hours' preceding and current row) from (select date_trunc('hour', p_timestamp) as h, count(*) as n from app group by 1) x order by h;
select date_trunc('day', p_timestamp) d, count(*), sum(count(*)) over (order by date_trunc('day', p_timestamp) range between '1 day' preceding and current row) from app group by 1 order by 1;
select x, sum(x) over (order by x range between 3 following and 5 following), first_value(x) over (order by x range between 2 preceding and current row) from generate_series(1, 9) x order by x;
select d, count(*) over (order by d range between '10 days' preceding and '0 days' following) from (values (date '2024-01-01'), (date '2024-01-05'), (date '2024-01-15'), (date '1969-12-31'), (null)) v(d) order by d;
select id, sum(ms) over (order by level groups between unbounded preceding and current row), count(*) over (order by level groups between current row and unbounded following) from app order by id;

select eid, sum(salary) over (order by eid range between unbounded preceding and 1 following), count(*) over (order by eid desc range between 2 preceding and unbounded following) from emp order by eid;
select eid, count(*) over (order by boss range between unbounded preceding and 1 following), count(*) over (order by boss nulls first range between unbounded preceding and 1 preceding), array_agg(eid) over (order by boss range between 1 preceding and unbounded following) from emp order by eid;
select eid, count(*) over (order by boss desc range between unbounded preceding and 1 following), count(*) over (order by boss desc nulls last range between 1 following and unbounded following), count(*) over (partition by dept order by boss desc nulls last range between unbounded preceding and current row) from emp order by eid;
select id, count(*) over (order by p_timestamp range between unbounded preceding and interval '1 hour' preceding), sum(ms) over (partition by level order by p_timestamp desc range between unbounded preceding and interval '1 day' following) from app order by id;
select id, count(ms) over (order by ms range between unbounded preceding and 0.5 following), count(*) over (order by ms range between 10 preceding and unbounded following), count(*) over (order by ms desc range between 10 following and unbounded following) from app order by id;

select eid, sum(eid) over (order by dept range between 10 preceding and 0 preceding), sum(eid) over (order by salary range between unbounded preceding and 1 preceding), sum(eid) over (order by salary desc range between 1 following and unbounded following), sum(salary) over (order by eid range between 2 preceding and 1 preceding) from emp;

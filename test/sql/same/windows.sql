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

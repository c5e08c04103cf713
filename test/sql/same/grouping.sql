-- DISTINCT ON, GROUPING SETS, ROLLUP, CUBE
select distinct on (level) level, id, ms from app order by level, ms desc nulls last, id;
select distinct on (dept) dept, name from emp order by dept, salary desc nulls last, eid limit 3;
select distinct on (2) name, dept from emp order by 2 desc, name offset 1;
select distinct on (level, ok) level, ok, max(ms) from app group by level, ok, service order by level, ok, max(ms) desc;
select level, service, count(*) from app group by grouping sets ((level, service), (level), ()) order by 1, 2, 3;
select level, count(*), grouping(level) from app group by rollup(level) order by grouping(level), level;
select level, service, grouping(level, service), sum(ms) from app group by cube(level, service) order by 3, 1, 2;
select upper(level), ok, count(*) from app group by rollup(upper(level), ok) order by 1, 2, 3;
select upper(level) || '!', count(*) from app group by rollup(upper(level)) order by 1, 2;
select level, service, ok, count(*) from app group by level, rollup(service, ok) order by 1, 2, 3, 4;
select count(*) from app group by ();
select s, count(*) from empty group by rollup(s);
select s, count(*) from empty group by grouping sets ((s), ());
select level, count(*) from app group by rollup((level, service)) order by 1, 2;
select case when grouping(level) = 1 then 'all' else level end as l, count(*) from app group by rollup(level) having count(*) > 14 order by 2, 1;
select coalesce(null::int[], array[1]), nullif(array[1], array[1]), case when true then array[1] end, case when false then array[1] end, array[1] is null, null::int[] is null, count(null::int[]) from dept group by ();

select date_trunc('hour', p_timestamp) h, level, count(*), avg(ms)::numeric(10,3) from app group by rollup(1, 2) order by 1, 2;
select distinct on (service) service, level, ms from app where ms is not null order by service nulls first, ms desc, id;

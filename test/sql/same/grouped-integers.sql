-- Parts of times are decimals, and their integers are what is grouped by, compared and converted.

select extract(hour from t) as h, count(*) from (values (timestamp '2024-03-31 01:30'), (timestamp '2024-03-31 01:59'), (null), (timestamp '2024-03-31 23:00')) x(t) group by 1;
select extract(hour from p_timestamp at time zone 'Europe/Berlin') as h, count(*) from app group by h order by h;
select extract(dow from p_timestamp) as d, extract(hour from p_timestamp) as h, count(*) from app group by d, h having extract(hour from p_timestamp) > 3 order by d desc, h;
select extract(hour from p_timestamp)::int + 1, max(extract(minute from p_timestamp)) from app group by extract(hour from p_timestamp);
select extract(year from p_timestamp)::smallint, extract(year from p_timestamp)::text || 'y', extract(year from p_timestamp)::float8 / 2 from app group by extract(year from p_timestamp);
select extract(hour from p_timestamp) as h, grouping(extract(hour from p_timestamp)), count(*) from app group by rollup(1) order by 2, 1;
select extract(hour from p_timestamp) as h, extract(hour from p_timestamp) as i, count(*) from app group by cube(1, 2);
select extract(hour from p_timestamp) * 2 + extract(minute from p_timestamp), count(*) from app group by extract(hour from p_timestamp), extract(minute from p_timestamp);
select extract(second from t), extract(epoch from t), extract(milliseconds from t), extract(microseconds from t), count(*) from (values (timestamp '1969-12-31 23:59:58.25'), (timestamp '2024-03-31 01:59:00.000001'), (timestamp '1969-12-31 23:59:58.25')) x(t) group by extract(second from t), extract(epoch from t), 3, 4;
select extract(epoch from t), rank() over (order by extract(epoch from t) desc) from (values (timestamp '2024-03-31 01:59:00.5'), (timestamp '2024-03-31 01:59:00.25')) x(t) group by 1;
select count(distinct extract(hour from p_timestamp)), min(extract(hour from p_timestamp)), avg(extract(isodow from p_timestamp)) from app;
select count(*) from app where extract(hour from p_timestamp) between 1 and 12 and extract(dow from p_timestamp) in (0, 1, 5) and extract(month from p_timestamp) = extract(day from p_timestamp) + 2;
select extract(hour from p_timestamp) = 1.5, extract(minute from p_timestamp) < 30::bigint, extract(minute from p_timestamp) is distinct from 30 from app;
select date_part('hour', p_timestamp) as h, count(*) from app group by h having date_part('hour', p_timestamp) >= 0;
select case when extract(hour from p_timestamp) > 6 then extract(hour from p_timestamp) else 0.5 end from app;
select extract(hour from p_timestamp) from app union select 3;
select extract(hour from p_timestamp) as h, (select count(*) from emp where emp.eid > extract(hour from a.p_timestamp)) from app a group by 1, 2;

-- DISTINCT is answered by groups.
select distinct service from app;
select distinct service, extract(hour from p_timestamp) from app order by 2 desc, 1;
select distinct service is null, service || 'x', upper(service) from app;
select distinct 1, 'x', service from app;
select distinct 1 from app;
select distinct 1 from empty;
select distinct p_timestamp - p_timestamp, p_timestamp - timestamp '2024-01-01' from app;
select distinct a + 0.5, a * 2, a::float8 / 3 from (values (1), (1), (null), (2)) t(a);
select distinct count(*) over (partition by service), service from app;
select distinct count(*) from app group by service;
select distinct a.service, b.service from app a left join app b on a.service = b.service;
select count(*) from (select distinct service, p_timestamp from app) x;
select distinct service from app order by service nulls first limit 2 offset 1;
select service from app where service in (select distinct service from app where service is not null);
select (select count(distinct b.service) from app b where b.service = a.service) from (select distinct service from app) a;
select distinct unnest(array[1, 1, 2]), service from app;
select distinct service from app union select distinct 'x' from app;
select distinct array[service] from app where service is not null;
select distinct (select max(eid) from emp), service from app;
with d as (select distinct service as s from app) select d.s, count(*) from d join app on app.service = d.s group by d.s;
select distinct on (service) service, extract(hour from p_timestamp) from app order by service, 2 desc;

-- Rows are counted without being read.
select count(*) from app;
select count(*) + 1, 2 from app;
select count(*) from empty;
select count(*), sum(1) from app;
select 1 from app;
select count(*) from app a, app b;
select (select count(*) from app), count(*) from emp;
select exists (select 1 from empty), exists (select 1 from app);
select count(*) filter (where true) from app;

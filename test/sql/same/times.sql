-- Time zones, to_char, date_bin, intervals
select date '1998-12-01' - interval '90' day, date '1994-01-01' + interval '1' year, timestamp '2024-01-01' + interval '3' month;
select string_agg(s, ',' order by s) from empty;
select p_timestamp at time zone 'Europe/Berlin', p_timestamp at time zone 'America/New_York' from app order by id limit 5;
select timestamp '2024-07-01 12:00' at time zone 'Europe/Berlin', timestamp '2024-01-01 12:00' at time zone 'UTC', timestamptz '2024-07-01 12:00+02' at time zone 'Asia/Kolkata';
select timestamp '2024-03-31 02:30' at time zone 'Europe/Berlin', timestamp '2024-10-27 02:30' at time zone 'Europe/Berlin', timestamp '2024-03-10 02:30' at time zone 'America/New_York', timestamp '2024-11-03 01:30' at time zone 'America/New_York';
select timestamp '2024-03-31 01:59:59' at time zone 'Europe/Berlin', timestamp '2024-03-31 03:00' at time zone 'Europe/Berlin', timestamp '2024-10-27 01:59' at time zone 'Europe/Berlin', timestamp '2024-10-27 03:00' at time zone 'Europe/Berlin', timestamp '2024-04-07 02:30' at time zone 'Australia/Sydney', timestamp '2024-10-06 02:30' at time zone 'Australia/Sydney';
select date_trunc('day', p_timestamp, 'Asia/Tokyo'), date_trunc('month', p_timestamp, 'America/Los_Angeles') from app order by id;
select date_trunc('hour', p_timestamp at time zone 'Asia/Kolkata') at time zone 'Asia/Kolkata' from app order by id limit 7;
select to_char(p_timestamp, 'YYYY-MM-DD HH24:MI:SS'), to_char(p_timestamp, 'HH12:MI am'), to_char(p_timestamp, 'Mon DD, YYYY'), to_char(p_timestamp, 'YYYYMMDD"T"HH24MISS.US'), to_char(p_timestamp, 'FMMonth FMDD, Day "of week" ID, DDD, Q, IYYY-IW, WW W D') from app order by id;
select to_char(date '2024-02-05', 'FMDay, DD FMMonth YYYY'), to_char(timestamp '2024-12-30 00:09:59.123456', 'YY MS US SSSS HH:MI PM MONTH mon Dy DAY'), to_char(null::timestamp, 'YYYY');
select date_bin('15 minutes', p_timestamp, timestamp '2024-01-01') from app order by id;
select date_bin(interval '7 hours', p_timestamp, '2030-01-01') from app order by id;
select date_bin('1 day 6 hours', timestamp '2024-05-05 12:34:56', timestamp '2001-01-01 00:30');
select interval '1 day', interval '90 minutes', interval '1 year 2 months -3 days 04:05:06.7', interval '-1 day', interval '36 hours', interval '0 seconds', interval '1 week', interval '-00:00:01.5', interval '1 mon -1 day', interval '-1 year -1 hour';
select p_timestamp - timestamp '2024-03-02 06:00' from app order by id;
select max(p_timestamp) - min(p_timestamp), max(p_timestamp - timestamp '2024-02-01') from app;
select level, max(p_timestamp) - min(p_timestamp) as span from app group by level order by span, level;
select 3 * interval '1 hour', interval '1 hour' * 2.5, interval '1 day' * 3, -interval '1 day 02:00', interval '1 hour' + interval '30 minutes', id * interval '1 second' from app order by id limit 3;
select justify_hours(interval '50 hours'), justify_hours(sum(p_timestamp - timestamp '2024-03-01')) from app;
select (p_timestamp - timestamp '2024-03-01')::text, 'took ' || (p_timestamp - timestamp '2024-02-29') from app order by id limit 5;
select timestamp '2024-01-31' + -interval '1 month', date '2024-03-31' - 2 * interval '1 month';
select extract(epoch from interval '1 day 02:03:04.5'), extract(hour from timestamp '2024-01-01 05:06');
select mode() within group (order by level), mode() within group (order by status), mode() within group (order by ok::int) from app where id::int % 3 = 0;

select p_timestamp::date as d, count(distinct level), count(distinct service) from app group by d order by d;
select extract(hour from p_timestamp)::int as h, count(*) from app group by h order by h;
select extract(dow from p_timestamp) in (0, 6) as weekend, count(*) from app group by 1 order by 1;
select date_trunc('week', p_timestamp)::date, count(*) from app group by 1 order by 1;
select to_char(p_timestamp, 'YYYY-MM-DD') as d, to_char(p_timestamp, 'HH24:00') as h, count(*) from app group by 1, 2 order by 1, 2;
select p_timestamp from app where p_timestamp between timestamp '2024-03-01 06:00' and timestamp '2024-03-01 12:00' order by 1;
select p_timestamp + interval '1 day' * id from app order by id limit 4;
select (p_timestamp at time zone 'America/Sao_Paulo')::date as d, count(*) from app group by d order by d;
select date '2024-12-31' - date '2024-01-01', date '2024-02-29' + interval '1 year', timestamp '2024-02-29' - interval '1 year', date '2024-03-31' - interval '1 month';
select extract(epoch from (max(p_timestamp) - min(p_timestamp))) / 3600 from app;
select date_bin('1 hour', p_timestamp, '2000-01-01') = date_trunc('hour', p_timestamp) from app order by id limit 3;
select greatest(date '2024-01-01', date '2023-01-01'), least('b', 'a', null), coalesce(null, date '2024-05-05');

select date '2021-01-03' + null::int * interval '1 hour', null::int * interval '1 hour' is null, interval '1 day' / null::int;
select date_part('hour', date '2024-01-01'), extract(minutes from p_timestamp), date_trunc('hours', p_timestamp), extract(decade from p_timestamp), extract(century from p_timestamp), extract(century from date '2000-01-01'), extract(millennium from p_timestamp) from app;
select extract(hour from interval '26 hours 5 minutes'), extract(second from interval '1 year -2 days -3.25 seconds'), extract(day from interval '1 month 40 days'), extract(month from interval '-14 months'), extract(year from interval '-14 months'), extract(milliseconds from interval '1 minute 3.5 seconds'), extract(microseconds from interval '3.5 seconds'), extract(minute from interval '-3601 seconds');
select extract(day from d), extract(hour from d), extract(minute from d), extract(second from d), extract(milliseconds from d), extract(month from d), extract(microseconds from d) from (select p_timestamp - timestamptz '2024-03-02' as d from app) x;
select extract(hour from id * interval '7 minutes 3.25 seconds'), extract(day from id * interval '7 minutes'), extract(second from -id * interval '7 minutes 3.25 seconds'), date_part('minutes', nullif(id, 3) * interval '1 hour') from app;
select date '1930-01-01'::timestamp at time zone 'Pacific/Auckland', timestamp '1945-01-01' at time zone 'Pacific/Auckland', timestamp '1916-06-15 12:00' at time zone 'Europe/Berlin', timestamp '1915-01-01' at time zone 'America/St_Johns', timestamptz '1916-01-01 00:00+00' at time zone 'Pacific/Auckland', timestamptz '1930-01-01 00:00+00' at time zone 'America/St_Johns';
select timestamp '2024-01-01' at time zone 'Pacific/Chatham', timestamp '2024-01-01' at time zone 'Pacific/Tongatapu', timestamp '2024-06-01' at time zone 'Pacific/Pago_Pago', timestamptz '2024-06-01 00:00+00' at time zone 'Pacific/Fiji';
select to_char(greatest(timestamp '2024-03-31 02:30' at time zone 'Europe/Berlin', date_trunc('day', date_trunc('milliseconds', p_timestamp, 'Pacific/Auckland'), 'Europe/Berlin')) at time zone 'Asia/Kolkata', 'FMHH12:MI:SS am YY') from app;
select isfinite(p_timestamp), isfinite(date '2024-01-01'), isfinite(nullif(p_timestamp, p_timestamp)), isfinite(interval '1 day') from app;

-- The last fraction of a second before a boundary, before 1970
select date_trunc('second', t), date_trunc('minute', t), date_trunc('hour', t), date_trunc('day', t), date_trunc('week', t), date_trunc('month', t), date_trunc('quarter', t), date_trunc('year', t), date_trunc('decade', t), date_trunc('milliseconds', t), date_trunc('microseconds', t) from (values (timestamp '1969-12-31 23:59:59.999999'), ('1969-12-30 23:59:59.999999'), ('1969-12-28 23:59:59.5'), ('1967-12-31 23:59:59.999999'), ('1960-02-29 12:59:59.000001'), ('2153-11-30 11:22:33'), (null)) v(t);
select timestamp '1969-12-30 23:59:59.999999' + interval '-1 month', t + interval '1 month', t - interval '1 year 1 day', t + make_interval(months => 5) from (values (timestamp '1969-12-30 23:59:59.999999'), ('1967-12-31 23:59:59.5')) v(t);
select date_trunc('century', p_timestamp), date_trunc('millennium', p_timestamp), date_trunc('decade', p_timestamp, 'Asia/Tokyo') from app;
-- Times made of their fields and read from text
select make_date(2024, 2, 29), make_date(1950, id::int % 12 + 1, 28), make_date(null, 1, 0), make_timestamp(2024, 2, 29, 1, 2, 3.5), make_timestamp(1969, 12, 31, 23, 59, 59.9999995), make_timestamp(2024, 1, 1, 24, 0, 0), make_timestamp(2024, 1, 1, 23, 59, 60) from app;
select make_timestamptz(2024, 2, 29, 1, 2, 3.5), make_timestamptz(2024, 7, 28, 1, 2, 3.5, 'Europe/Berlin');
select make_interval(days => 10), make_interval(), make_interval(1), make_interval(1, 2), make_interval(1, 2, 3), make_interval(0, 0, 0, 1, 2, 3, 4.5), make_interval(secs => 10.25, hours => -3), make_interval(months => -14, days => 3, mins => -5), make_interval(days => null);
select make_interval(days => id::int), make_interval(months => id::int - 30), make_interval(id::int, -3, 1, 2, 3), make_interval(hours => id::int, secs => ms) from app;
select timestamp '2024-01-31' + make_interval(months => id::int), p_timestamp - make_interval(years => id::int % 5, months => 1, days => 3, hours => 30) from app;
select timestamp '2024-01-31' + n * interval '1 month', date '2024-03-31' - n * interval '1 month 1 day', n * interval '1 month -1 day' from generate_series(-3, 5) n;
select to_date('2024-03-05', 'YYYY-MM-DD'), to_date('20240305', 'YYYYMMDD'), to_date('5 Mar 2024', 'DD Mon YYYY'), to_date('MARCH 5, 2024', 'Month DD, YYYY'), to_date('05/03/24', 'DD/MM/YY'), to_date('2024-03', 'YYYY-MM'), to_date('2024-03-05 10:11', 'YYYY-MM-DD'), to_date('2024-3-5', 'YYYY-MM-DD'), to_date(null, 'YYYY');
select to_timestamp('2024-03-05 10:11', 'YYYY-MM-DD HH24:MI'), to_timestamp('2024-03-05 10:11:12.5', 'YYYY-MM-DD HH24:MI:SS.MS'), to_timestamp('2024-03-05 10:11:12.25', 'YYYY-MM-DD HH24:MI:SS.US'), to_timestamp('2024-03-05T10:11', 'YYYY-MM-DD"T"HH24:MI'), to_timestamp('2024-03-05 12:11 am', 'YYYY-MM-DD HH12:MI PM'), to_timestamp('2024-03-05 02:11 PM', 'YYYY-MM-DD HH:MI AM');
select to_timestamp(to_char(p_timestamp, 'DD Mon YYYY HH12:MI:SS.MS AM'), 'DD Mon YYYY HH12:MI:SS.MS AM'), to_date(case when id < 5 then '2024-01-0' || (id + 1) end, 'YYYY-MM-DD'), clock_timestamp() > timestamp '2020-01-01' from app;
-- Intervals with months, days and hours
select age(timestamp '2024-03-01', timestamp '2023-01-31'), age(timestamp '2023-01-31', timestamp '2024-03-01'), age(date '2024-05-31', date '2024-02-29'), age(timestamp '2024-03-01 01:00', timestamp '2024-02-28 02:00:00.5'), age(timestamp '2024-02-28 02:00:00.5', timestamp '2024-03-01 01:00');
select age(p_timestamp, timestamp '2023-01-31 22:01:02.000003'), age(timestamp '1950-05-31 22:01:02.000003', p_timestamp), age(p_timestamp, p_timestamp), age(nullif(p_timestamp, p_timestamp), p_timestamp), age(p_timestamp) = age(current_date, p_timestamp) from app;
select extract(year from age(p_timestamp, timestamp '2021-05-31')), extract(month from age(p_timestamp, timestamp '2021-05-31')), extract(epoch from age(p_timestamp, timestamp '2021-05-31')), age(p_timestamp, timestamp '2021-05-31')::text, -age(p_timestamp, timestamp '2021-05-31'), age(p_timestamp, timestamp '2021-05-31') > interval '2 years 9 months', timestamp '2021-05-31' + age(p_timestamp, timestamp '2021-05-31') from app;
select level, age(max(p_timestamp), min(p_timestamp)) from app group by level;
select justify_days(interval '35 days'), justify_days(interval '1 mon -5 days'), justify_days(interval '-65 days 3 hours'), justify_hours(interval '27 hours'), justify_hours(interval '1 mon -1 day 30 hours'), justify_interval(interval '1 mon -1 hour'), justify_interval(interval '-1 mon 40 days 30 hours');
select justify_interval(sum(p_timestamp - timestamp '2021-03-01')), justify_interval(max(id) * interval '1 hour') from app;
select justify_days(id::int * interval '1 day'), justify_interval(id * interval '100 hours'), justify_days(justify_hours(id * interval '100 hours')), interval '1 day' + id * interval '1 hour' from app;
select date_trunc('day', interval '3 days 04:05:06'), date_trunc('hour', interval '-90 minutes'), date_trunc('quarter', interval '1 year 5 months 3 days'), date_trunc('year', interval '-14 months'), date_trunc('millisecond', interval '1.2345678 s'), date_trunc('hour', p_timestamp - timestamp '2024-03-01'), date_trunc('month', make_interval(1, 2, null)) from app;
select extract(epoch from interval '1 year'), extract(epoch from interval '-14 months'), extract(century from interval '250 years'), extract(decade from interval '-25 years'), extract(timezone from p_timestamp), date_part('timezone_minute', p_timestamp), extract(julian from date '1950-01-01') from app;
select (timestamp '2024-01-01', timestamp '2024-02-01') overlaps (timestamp '2024-01-15', interval '1 day'), (p_timestamp, interval '1 day') overlaps (timestamp '2024-03-02', timestamp '2024-03-01 20:00') from app;
select (a, b) overlaps (c, d) from (values (date '2024-01-01', date '2024-01-05', date '2024-01-05', date '2024-01-07'), ('2024-01-01', null, '2024-01-01', null), ('2024-01-01', null, '2023-01-01', '2025-01-01'), (null, '2024-01-01', '2024-01-01', '2024-01-01'), ('2024-01-01', '2024-01-01', '2024-01-01', '2024-01-01'), (null, null, '2024-01-01', '2024-01-01'), ('2024-01-03', '2024-01-01', '2024-01-02', null), ('2024-01-03', '2024-01-01', '2023-01-02', null)) v(a, b, c, d);

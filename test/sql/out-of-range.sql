-- Queries that PostgreSQL answers, with times and intervals that the store cannot hold or compute with.

select to_timestamp(1711497600000);
select to_timestamp(-99999999999);
select timestamp '2024-01-01' + interval '1 month' * 100000;
select date '2024-01-01' + 100000000;
select extract(epoch from interval '1000000000 days');
select justify_interval(interval '2147483647 days 24 hrs');
select date '2024-01-01' + make_interval(years => 9000);
select timestamp '2024-01-31' + interval '1 day' * n from (values (1), (9999999)) t(n);
select make_date(10000, 12, 30);
select date_trunc('millennium', timestamp '1999-12-31');
select x::timestamp from (values (date '2299-12-31')) t(x);
select v * interval '1 day' from (values (2147483647)) t(v);
select make_interval(months => v) from (values (2147483647)) t(v);

-- Variances, which PostgreSQL computes of integers and decimals exactly, and of doubles without losing what is near their mean.

select var_pop(x) from (values (100000003::float8), (100000004), (100000006), (100000007)) v(x);
select var_samp(x), stddev(x), stddev_pop(x), stddev_samp(x), variance(x) from (values (100000003::float8), (100000004), (100000006), (100000007)) v(x);
select var_pop(x) from (values (1e9::float8+1), (1e9+2), (1e9+4), (1e9+7)) v(x);
select var_pop(x), var_samp(x) from (values (100000003), (100000004), (100000006), (100000007)) v(x);
select var_pop(x), var_samp(x) from (values (100000003::numeric), (100000004), (100000006), (100000007)) v(x);
select stddev(x), stddev_pop(x) from (values (1.5), (2.25), (7)) v(x);
select variance(x) from (values (1.5), (2.25), (7)) v(x);
select variance(x), var_pop(x) from (values (1::bigint), (2), (7)) v(x);
select variance(x), var_pop(x) from (values (1::bigint)) v(x);
select covar_pop(y,x), covar_samp(y,x), corr(y,x), regr_slope(y,x), regr_intercept(y,x), regr_r2(y,x), regr_sxx(y,x), regr_syy(y,x), regr_sxy(y,x) from (values (100000003::float8, 100000010::float8), (100000004,100000017), (100000006,100000019), (100000007,100000029)) v(x,y);
select level, var_pop(ms), stddev(bytes) from app group by level;
select id, var_pop(ms) over (order by id rows between 3 preceding and current row) from app;
select stddev(id::int), var_pop(bytes::bigint) from app;
select var_pop(distinct x), stddev(distinct x) from (values (100000003::float8), (100000004), (100000006), (100000006), (null)) v(x);
select var_pop(distinct x), stddev(distinct x) from (values (100000003), (100000004), (100000006), (100000006), (null)) v(x);
select var_pop(x), var_samp(x) from (values (0.1::float8), (0.2), (null), (1e15)) v(x);
select var_pop(x), stddev(x) from (values (null::int)) v(x);
select var_pop(x), stddev(x), corr(x, x) from (values (null::float8)) v(x);
select id, var_samp(id::int) over (order by id rows between 3 preceding and current row) from app;
select dept, stddev_samp(salary), stddev_pop(salary::int), variance(eid::bigint) filter (where eid > 1) from emp group by dept;
select variance(salary::numeric(12,2)), stddev(ms::numeric) from emp, app;
select var_pop(x), var_samp(x) from (values (1700000000000::float8), (1700000000001), (1700000000003)) v(x);
select var_pop(x), var_samp(x) from (values (1700000000000000::bigint), (1700000000000001), (1700000000000003)) v(x);
select var_pop(x), stddev(x) from (values (9223372036854775807), (1)) v(x);
select corr(x,y), regr_slope(y,x) from (values (1700000000000::float8, 1::float8), (1700000000001, 2), (1700000000003, 3.5)) v(x,y);
select regr_count(y,x), regr_avgx(y,x), regr_avgy(y,x), covar_pop(y,x) from (values (1::float8,2::float8), (null,3), (4, null), (3, 8.25)) v(y,x);
select var_samp(x) from (values (0.00001), (0.00002), (0.00004)) v(x);

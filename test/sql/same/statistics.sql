-- Statistics
select corr(ms, id), corr(id, ms), covar_pop(ms, id), covar_samp(ms, bytes), regr_slope(ms, id), regr_intercept(ms, id), regr_r2(ms, id), regr_count(ms, bytes), regr_avgx(ms, bytes), regr_avgy(ms, bytes) from app;
select regr_sxx(ms, id), regr_syy(ms, id), regr_sxy(ms, id) from app;
select level, corr(ms, bytes), regr_slope(bytes, ms) from app group by level order by level;
select corr(salary, eid), covar_samp(salary, eid), covar_pop(salary, eid), regr_slope(salary, eid), regr_r2(salary, eid), regr_count(salary, eid) from emp where eid = 1;
select corr(x, x), regr_count(x, x), covar_pop(x, x) from empty;
select corr(1::float8, id), regr_slope(id, 1::float8), regr_r2(1::float8, id), regr_intercept(2::float8, id) from app;
select dept, mode() within group (order by salary) from emp group by dept order by dept;
select mode() within group (order by x) from empty;
select bit_and(id::int), bit_or(id::int), bit_or(status::int8) from app where id > 4;

select service, percentile_cont(0.5) within group (order by ms), percentile_cont(0.99) within group (order by ms) from app group by service order by service;
select avg(x), stddev(x), percentile_cont(0.9) within group (order by x) from generate_series(1, 11) x;
select corr(salary, eid) > 0, regr_slope(salary, eid) < 0, covar_pop(eid, eid) = var_pop(eid) from emp;
select dept, stddev_pop(salary), var_samp(salary), count(salary) from emp group by dept order by dept;
select mode() within group (order by dept), percentile_disc(0.75) within group (order by salary) from emp;
select round(avg(salary)::numeric, 2), round(stddev(salary)::numeric, 3) from emp;

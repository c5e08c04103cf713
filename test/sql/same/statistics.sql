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

select var_samp(x)::text, stddev(x)::text, var_pop(x)::text, stddev_pop(x)::text, variance(x)::text from (values ('Infinity'::float8), (1), (2)) v(x);
select var_samp(x)::text, var_pop(x)::text from (values ('Infinity'::float8)) v(x);
select var_samp(x)::text, var_pop(x)::text, stddev(x)::text from (values ('NaN'::float8), (1e300)) v(x);
select var_samp(x)::text, var_pop(x)::text from (values ('-Infinity'::float8), (null)) v(x);
select var_samp(x), var_pop(x), stddev_samp(x), stddev_pop(x) from (values (1e200::float8)) v(x);
select var_samp(x), stddev_pop(x) from (values (1e200::float8), (1e200)) v(x);
select variance(x), stddev(x) from (values (1e150::float8), (-1e150), (null)) v(x);
select covar_pop(y, x)::text, corr(y, x)::text, regr_avgx(y, x)::text, regr_avgy(y, x)::text, regr_sxx(y, x)::text, regr_syy(y, x)::text, regr_count(y, x) from (values (1::float8, 'Infinity'::float8), (2, 3)) v(y, x);
select regr_sxx(y, x)::text, regr_syy(y, x)::text, regr_slope(y, x)::text, regr_r2(y, x)::text from (values ('NaN'::float8, 1::float8), (2, 3)) v(y, x);
select regr_count(y, x), covar_samp(y, x), regr_avgx(y, x) from (values (1e200::float8, 1e200::float8), (null, 1e300), (-1e300, null)) v(y, x);
select id, var_pop(ms) over (partition by level), regr_slope(ms, id) over (order by id) from app order by id;
select var_pop(ms) filter (where id > 1000), var_pop(ms) filter (where id = 1), var_samp(ms) filter (where id = 1), stddev(distinct status) from app;
select bit_xor(id::int), bit_xor(status::int) from app;

select percentile_cont(array[0.25,0.5,null,1]) within group (order by ms), percentile_disc(array[0,0.25,0.5,1]) within group (order by ms), percentile_disc(array[0.3]) within group (order by level) from app;
select level, percentile_cont(array[0.25,0.5]) within group (order by ms desc) from app group by level order by 1;
select percentile_cont(array[0.25,0.5]) within group (order by ms), percentile_disc(array[0.5]) within group (order by level) from app where false;
select percentile_disc(0.5) within group (order by ms desc), percentile_disc(0.3) within group (order by level desc), percentile_disc(0) within group (order by p_timestamp desc), mode() within group (order by level desc), mode() within group (order by status desc) from app;

-- Doubles at their ends: infinities and NaN that are given are computed with
select 'Infinity'::float8 * 10, 'Infinity'::float8 + 1, 1 / 'Infinity'::float8, 'Infinity'::float8 - 'Infinity'::float8, -'Infinity'::float8;
select 0::float8 * 'Infinity'::float8, 'NaN'::float8 + 1, 'NaN'::float8 * 0, 'Infinity'::float8 / 5, 5 / '-Infinity'::float8, 'Infinity'::float8 / 'Infinity'::float8, 'NaN'::float8 / 0;
select 0::float8 * 1e-300::float8, 0::float8 / 5::float8, 0 * x, x * 0, 0 / x, x / 1e-300 from (values (1e-200::float8)) v(x);
select x - y, x + y, x * y, x / y from (values ('Infinity'::float8, 'Infinity'::float8), ('NaN', 1), (null, 1e308), (1e308, null), (0, -5)) v(x, y);
select (-x * 0)::text, (0 / -x)::text, (-(0::float8) - 0)::text, (0 * -x + 0)::text from (values (5::float8)) v(x);
select sum(x), avg(x) from (values ('Infinity'::float8), (1e308)) v(x);
select sum(x), avg(x) from (values ('Infinity'::float8), ('-Infinity')) v(x);
select sum(x), avg(x) from (values ('NaN'::float8), (1)) v(x);
select sum(x) filter (where x < 0), avg(x) filter (where x < 0), sum(distinct x) from (values (1e308::float8), (1e308)) v(x);
select sum(x), avg(x), sum(x * x), avg(x + 1) from empty;
select exp('Infinity'::float8), exp('-Infinity'::float8), exp('NaN'::float8), exp(700::float8), exp(-700::float8);
select power(0::float8, 0), power('NaN'::float8, 0), power(1::float8, 'NaN'), power('Infinity'::float8, 2), power('Infinity'::float8, -2), power(2::float8, 'Infinity'), power(0.5::float8, 'Infinity'), power(0::float8, 'Infinity'), power(-1::float8, 'Infinity'), power(0::float8, 5), power(-8::float8, 3);
select power('-Infinity'::float8, 3), power('-Infinity'::float8, -3), power('-Infinity'::float8, 2), 2 ^ 0.5::float8, 2 ^ 10;
select sqrt('Infinity'::float8), sqrt('NaN'::float8), sqrt(0::float8), sqrt(4), ln('Infinity'::float8), ln('NaN'::float8), log('Infinity'::float8), sqrt(null), ln(null);
select cosh('Infinity'::float8), sinh('-Infinity'::float8), tanh('Infinity'::float8), sinh(1000::float8), atan('Infinity'::float8), asin('NaN'::float8), sin('NaN'::float8);
select degrees('Infinity'::float8), radians('Infinity'::float8), radians(0::float8), degrees(pi());
select v::float8 from (values ('inf'), ('-Infinity'), ('+infinity'), ('0'), ('0e5'), ('-0.00'), ('1e-320'), ('1e308'), (null), (' 12 ')) t(v);
select 1e-320::float8, '1e-310'::float8, 1e308::float8, '0e400'::float8, 'inf'::float8, '-inf'::float8, 'nan'::float8;

-- Operations within each other
select ms * bytes + 1, ms / bytes, ms * 1000 / 7, (ms + bytes) * (ms - bytes) / 3 from app where bytes <> 0;
select (ms * 2 + 1) / (id + 1) - ms * ms * ms * ms * ms * ms * ms * ms * ms * ms, 1 / (1 + ms) / (2 + ms) / (3 + ms), 10 - (5 - (3 - ms)) from app;
select x / (y / z), x * z / y from (values (1e200::float8, 1e200::float8, 1e-50::float8)) v(x, y, z);
select case when id = 0 then 0 else ms / id end, ms / nullif(id, 0), case when id > 1000 then ms * 1e308 * 1e308 end from app;
select ms * 2 + 1, round(ms * 2) + 3, count(*), rank() over (order by ms * 2 - 5) from app group by ms * 2 having ms * 2 * 2 > 10 order by ms * 2 + 7;
select ms * 2 + bytes * 4, count(*) from app group by rollup (ms * 2, bytes * 4);
select distinct status * 2 as twice from app order by twice;
select level, sum(ms) over (partition by level order by id), avg(ms) over (partition by level order by id rows 2 preceding) from app order by id;
select name, (select sum(salary) from emp x where x.dept = e.dept), (select avg(salary * 2) from emp x where x.dept = e.dept) + 1 from emp e;
select sum(salary) / count(*) * 2, sum(salary) / sum(eid), sum(salary * eid) - sum(salary) * 2 from emp;
select dept, sum(salary) from emp group by dept having sum(salary) * 2 > 100 order by sum(salary) / 2;
select sqrt(ms * ms + bytes * bytes), power(ln(ms + 1) + sqrt(ms * bytes + 1), 2) / (1 + exp(-(ms / 10000 + ln(bytes + 1) / 100))) from app;

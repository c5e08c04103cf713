-- Queries of the catalog that PostgreSQL answers and Millrace refuses: the comment is what the message names.

-- A selection of all fields
select i.n, i.x from (select (information_schema._pg_expandarray(array[7, 8])).* from pg_namespace) i;
-- SIMILAR TO
select relname similar to '(a|b)%' from pg_class;
-- avg
select avg(attnum) from pg_attribute;
-- A sum of decimals
select sum(x) from (values (1.5), (2)) v(x), pg_namespace;
-- An array of arrays
select array[[1, 2], [3, 4]] from pg_namespace;
-- An array of arrays
select array_agg(array[oid]) from pg_namespace;
-- A whole number above 2^53
select 9223372036854775807 from pg_namespace;
-- A whole number above 2^53
select sum(9007199254740991) from pg_class;
-- A decimal
select 1.10 from pg_namespace;
-- Arithmetic with decimals
select 0.1 + 0.2 from pg_namespace;
-- An object id above 2147483647
select '4294967295'::oid;
-- pg_size_pretty(numeric)
select pg_size_pretty(10239.9);
-- A slice
select (array[1, 2, 3])[2:3] from pg_namespace;
-- FULL JOIN
select * from (values (1)) a(x) full join pg_namespace n on n.oid = a.x;
-- GROUPING SETS
select relkind, count(*) from pg_class group by rollup (relkind);
-- The window function
select lag(oid) over (order by oid) from pg_namespace;
-- The option "x" of a regular expression
select regexp_replace(nspname, 'a b', '', 'x') from pg_namespace;
-- to_char
select to_char(oid::int, '999') from pg_namespace;
-- The type money
select '1'::money from pg_namespace;

-- Queries of the catalog that PostgreSQL 15 answers with the same rows, where it has the same tables.

-- joins
select c.relname, a.attname, a.attnum from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relname in ('app', 'emp') and a.attnum > 0 order by 1, 3;
select c.relname, n.nspname from pg_class c, pg_namespace n where n.oid = c.relnamespace and c.relname in ('app', 'pg_class', 'tables') order by 1;
select c.relname, d.description from pg_class c left join pg_description d on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass where c.relname in ('app', 'empty') order by 1;
select c.relname, x.n from pg_class c left join (values ('app', 1), ('nope', 2)) x(name, n) on x.name = c.relname where c.relname in ('app', 'emp') order by 1;
select x.n, c.relname from pg_class c right join (values ('app', 1), ('nope', 2)) x(name, n) on x.name = c.relname order by 1;
select count(*) from pg_namespace a cross join pg_namespace b where a.nspname in ('public', 'pg_catalog') and b.nspname in ('public', 'pg_catalog');
select a.nspname, b.nspname from pg_namespace a join pg_namespace b using (oid) where a.nspname = 'public';
select * from (values (1, 2), (3, 4)) a(x, y) natural join (values (1, 2), (3, 5)) b(x, y) where current_schema() = 'public';
select * from (values (1, 'a'), (2, 'b')) x(id, v) join (values (2, 'c'), (3, 'd')) y(id, w) using (id) where pg_my_temp_schema() = 0;
select a.nspname, b.n from pg_namespace a left join (pg_namespace c join (values (2200, 5)) b(oid, n) on b.oid::oid = c.oid) on c.oid = a.oid where a.nspname in ('public', 'pg_catalog') order by 1;
select t.typname, e.typname from pg_type t join pg_type e on e.oid = t.typelem where t.typname in ('_int4', '_text', 'name', 'point', 'oidvector') order by 1;
select t.typname, b.typname from pg_type t left join pg_type b on b.oid = t.typarray and b.typname like '\_i%' where t.typname in ('int4', 'text', 'inet', 'unknown') order by 1;
select n.nspname, c.relname from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relname = 'app' where n.nspname in ('public', 'information_schema') order by 1;
select n.nspname, c.relname from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relname = 'app' where n.nspname in ('public', 'information_schema') and c.oid is null;

-- subqueries
select relname from pg_class where oid in (select attrelid from pg_attribute where attname = 'salary') order by 1;
select relname from pg_class where oid not in (select attrelid from pg_attribute where attname <> 'salary') and relname in ('app', 'emp');
select relname from pg_class c where exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'title');
select relname from pg_class c where not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'title') and relname in ('app', 'dept');
select relname, (select count(*) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0) from pg_class c where relname in ('app', 'emp', 'dept', 'empty') order by 1;
select (select attname from pg_attribute where attrelid = 'dept'::regclass and attnum = 2);
select (select attname from pg_attribute where attrelid = 'dept'::regclass and attnum = 99);
-- more than one row
select (select attname from pg_attribute where attrelid = 'dept'::regclass and attnum > 0);
select array(select attname from pg_attribute where attrelid = 'emp'::regclass and attnum > 0 order by attnum);
select nspname, array(select a.attname::text from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = n.oid and c.relname = 'dept' and attnum > 0 order by attnum desc) from pg_namespace n where nspname = 'public';
select 'app' = any (select relname::text from pg_class), 'nope' = any (select relname::text from pg_class);
select null::int in (select attnum::int from pg_attribute where attrelid = 'dept'::regclass), 1 in (select null::int from pg_namespace), 1 not in (select null::int from pg_namespace);
select 1 in (select attnum from pg_attribute where false and attname = 'x'), null::int2 in (select attnum from pg_attribute where false);
select c.relname from pg_class c where c.relnatts = (select max(attnum) from pg_attribute a where a.attrelid = c.oid) and c.relname in ('app', 'emp') order by 1;
select x.relname from (select relname from (select relname, relkind from pg_class where relname in ('app', 'emp')) y where relkind = 'r') x order by x.relname desc;

-- aggregates
select count(*), count(distinct atttypid), min(attnum), max(attnum), sum(attnum) from pg_attribute where attrelid = 'emp'::regclass and attnum > 0;
select count(*), min(attnum), max(attname::text), sum(attnum), array_agg(attnum), string_agg(attname, ','), bool_or(attnotnull), bool_and(attnotnull) from pg_attribute where attrelid = 'emp'::regclass and attnum > 99;
select attrelid::regclass::text, count(*) from pg_attribute where attrelid in ('emp'::regclass, 'dept'::regclass) and attnum > 0 group by attrelid order by 1;
select atttypid::regtype, count(*) as n from pg_attribute where attrelid = 'app'::regclass and attnum > 0 group by 1 having count(*) > 1 order by n desc, 1;
select string_agg(attname, ', ' order by attnum desc) from pg_attribute where attrelid = 'emp'::regclass and attnum > 0;
select array_agg(attname order by attname) from pg_attribute where attrelid = 'emp'::regclass and attnum > 0;
select array_agg(distinct attlen) from pg_attribute where attrelid = 'app'::regclass and attnum > 0;
select array_agg(x) from (values (1), (null), (3)) v(x) where pg_my_temp_schema() = 0;
select count(x), count(*) from (values (1), (null), (3)) v(x) where pg_my_temp_schema() = 0;
select count(*) filter (where attnotnull), bool_or(attnotnull), bool_and(attnotnull), every(attnum > 0) from pg_attribute where attrelid = 'app'::regclass and attnum > 0;
select max(typname::text), min(typname::text) from pg_type where typcategory = 'B' and typname not like '\_%';
select attrelid::regclass::text, attnotnull, count(*) from pg_attribute where attrelid in ('emp'::regclass, 'dept'::regclass) and attnum > 0 group by 1, 2 order by 1, 2;
select sum(x) from (values (2147483647), (2147483647)) v(x) where current_schema() = 'public';
select distinct attlen from pg_attribute where attrelid = 'app'::regclass and attnum > 0 order by 1;
select distinct on (atttypid) atttypid, attname from pg_attribute where attrelid = 'emp'::regclass and attnum > 0 order by atttypid, attnum;
select max(array[attnum]) from pg_attribute where attrelid = 'emp'::regclass;
select count(distinct attname || 'x') from pg_attribute where attrelid = 'emp'::regclass and attnum > 0;

-- windows
select attname, row_number() over (order by attnum desc) from pg_attribute where attrelid = 'emp'::regclass and attnum > 0 order by 2;
select attname, row_number() over (partition by atttypid order by attnum), rank() over (order by atttypid) from pg_attribute where attrelid = 'emp'::regclass and attnum > 0 order by 1;

-- CASE
select attname, case when attnum < 3 then 'low' when attnum < 5 then 'mid' else 'high' end from pg_attribute where attrelid = 'emp'::regclass and attnum > 0 order by attnum;
select case relkind when 'r' then 'table' when 'v' then 'view' end from pg_class where relname in ('app', 'pg_tables') order by 1;
select case when null then 1 end, case when current_schema() = 'x' then 1 end, case 1 when null then 2 else 3 end;
select coalesce(null, 'a', current_schema()), nullif(current_schema(), 'public'), nullif(1, 2), greatest(1, 3, null), least(2, null, 1), greatest(null, null) from pg_namespace where nspname = 'public';
select greatest('a', 'c', 'b'), least('b'::text, current_schema()::text);
select coalesce(typarray, 0) from pg_type where typname = 'text';

-- casts and names of objects
select 'app'::regclass, 'public.app'::regclass, 'pg_catalog.pg_class'::regclass, 'information_schema.tables'::regclass, '"app"'::regclass;
select 'app'::regclass::oid = (select oid from pg_class where relname = 'app');
select 'APP'::regclass;
select 'nope'::regclass;
select 'nope.app'::regclass;
select '"APP"'::regclass;
select 'a.b.c.d'::regclass;
select ''::regclass;
select 'app.'::regclass;
select '1'::regclass, '0'::regclass, '-'::regclass, 4294967::regclass;
select 'int4'::regtype, 'integer'::regtype::oid, 'text[]'::regtype, '_text'::regtype, 'character varying(20)'::regtype, 'timestamp with time zone'::regtype, 'double precision'::regtype, 'pg_catalog.int8'::regtype, '"char"'::regtype, 'char'::regtype, 'varchar'::regtype, 'decimal'::regtype, 'int'::regtype, 'bool'::regtype;
select 'nope'::regtype;
select 'INT4'::regtype, 'Integer'::regtype, 'float'::regtype, 'real'::regtype, 'smallint'::regtype, 'timestamptz'::regtype, 'timestamp'::regtype, 'time'::regtype, 'interval'::regtype;
select '"INT4"'::regtype;
select 25::regtype, 0::regtype, 99999999::regtype, '25'::regtype, '-'::regtype;
select 'public'::regnamespace, 'pg_catalog'::regnamespace::oid, 2200::regnamespace;
select 'nope'::regnamespace;
select 'array_in'::regproc, 'pg_catalog.array_in'::regproc::oid;
select 'nope_in'::regproc;
select '5'::oid, 5::oid::int, 'pg_class'::regclass::int;
select 'x'::oid;
select oid::regclass::text, oid::regtype::text from pg_class where relname = 'pg_class';
select attrelid::regclass, atttypid::regtype from pg_attribute where attname = 'salary';
select 'text'::regtype = 25, 25 = 'text'::regtype, 'app'::regclass = 'app'::regclass::oid;
select typname::regtype from pg_type where typname = 'int4';
select to_regclass('app'), to_regclass('nope'), to_regclass(null), to_regclass('public.app'), to_regclass('APP'), to_regclass('"APP"'), to_regclass('pg_class'), to_regclass('nope.app');
select to_regclass('');
select to_regclass('app.');
select to_regclass('a.b.c.d');
select to_regclass('1'), to_regclass('-'), to_regnamespace('2200');
select to_regtype('23');
select to_regtype('int4'), to_regtype('integer[]'), to_regtype('nope'), to_regtype(null), to_regtype('numeric(10,2)'), to_regtype('pg_catalog.text'), to_regtype('public.text');
select to_regtype('');
select to_regnamespace('public'), to_regnamespace('nope'), to_regnamespace(null), to_regproc('array_in'), to_regproc('nope'), to_regrole('nope');
select pg_typeof(1), pg_typeof('a'), pg_typeof('a'::text), pg_typeof(1.5), pg_typeof(true), pg_typeof(null), pg_typeof(array[1]), pg_typeof(9999999999), pg_typeof('app'::regclass), pg_typeof(current_schema()), pg_typeof(1::int2), pg_typeof(array['a']);
select 1::int2, 1.5::int, 2.5::int, '12'::int8, 'true'::bool, 'off'::bool, 0::bool, 1::text, true::text, true::int, ' 12 '::int, current_schema()::text;
select 'x'::int, current_schema();
select ''::int, current_schema();
select 'maybe'::bool, current_schema();
select 99999::int2, current_schema();
select 3000000000::int4, current_schema();
select 'abcdef'::varchar(3), 'abc'::char(5) = 'abc', 'abcdef'::char(2), 'public'::name, current_schema()::varchar(3);
select '{1,2,NULL}'::int[], '{a,"b c",NULL,"x\"y"}'::text[], '{}'::text[], current_schema();
select '{1,x}'::int[], current_schema();
select '1 2 3'::int2vector, ('1 2 3'::int2vector)[0], ('5 6'::oidvector)[1];
select conkey, conname from pg_constraint where false;
select 1::"char", 'abc'::"char", current_schema();
select 'a'::text = 'a '::text, 'a'::name = 'a'::text, 1 = 1.0, 1 < 2.5, '2' > 1, 'b' > 'a', current_schema() = 'public';
select 'a' = 1, current_schema();
select current_schema() = 1;
select 1 + 'x', current_schema();

-- arrays
select (current_schemas(true))[1], (current_schemas(false))[1], (current_schemas(false))[2], current_schemas(false), current_schemas(true), current_schemas(null);
select array[1, 2, 3], array['a', null], array[1.5, 2], array[]::text[], array[current_schema()::text];
select (array['a', 'b', 'c'])[2], (array['a'])[0], (array['a'])[null], (array[1, 2, 3])[2:3], current_schema();
select array[1, 2] || 3, 0 || array[1], array[1] || array[2, 3], array[1, 2] || null, null || array[1], array['a'] || 'b'::text, current_schema();
select array[1, 2] @> array[1], array[1] <@ array[1, 2], array[1, 2] && array[2, 3], array[1] && array[2], array[1, 2] = array[1, 2], array[1, 2] < array[1, 3], array[1] <> array[2], current_schema();
select array[1, null] @> array[null]::int[], array[null]::int[] && array[null]::int[], current_schema();
select 1 = any (array[1, 2]), 3 = any (array[1, null]), 3 <> all (array[1, 2]), 1 = all (array[]::int[]), null = any (array[1]), 1 = any (null::int[]), 'r' = any ('{r,v}'), current_schema();
select relname from pg_class where relkind = any (array['v', 'm']) and relname in ('pg_tables', 'app');
select relname from pg_class where relname = any ('{app,emp}'::text[]) order by 1;
select array_length(array[1, 2], 1), array_length(array[]::int[], 1), array_length(array[1], 2), array_length(array[1], 0), cardinality(array[1, 2]), cardinality(array[]::int[]), array_upper(array[1, 2], 1), array_lower(array[1, 2], 1), array_upper(array[]::int[], 1), array_upper(array[1], 2), current_schema();
select array_position(array['a', 'b'], 'b'), array_position(array['a'], 'x'), array_position(array[1, null], null), array_position(null::int[], 1), current_schema();
select array_append(array[1], 2), array_append(null::int[], 2), array_append(array[1], null), array_cat(array[1], array[2]), array_cat(null::int[], array[2]), array_cat(array[1], null), array_cat(null::int[], null::int[]), current_schema();
select array_to_string(array[1, null, 3], ','), array_to_string(array[1, null, 3], ',', '*'), array_to_string(array['a', 'b'], ''), array_to_string(null::int[], ','), array_to_string(array[true, false], ','), array_to_string(array[]::text[], ','), array_to_string(array['a'], null), current_schema();
select string_to_array('a,b,,c', ','), string_to_array('', ','), string_to_array('abc', ''), string_to_array('abc', null), string_to_array(null, ','), current_schema();
select string_to_array('a,b,x', ',', 'x'), current_schema();
select unnest(array[1, 2, 3]), current_schema();
select unnest(array['a', 'b']), unnest(array[1, 2, 3]), current_schema();
select x from unnest(array[3, 1, 2]) x where current_schema() = 'public' order by x;
select x, n from unnest(array['a', 'b']) with ordinality t(x, n) where current_schema() = 'public';
select * from unnest(array[1, 2], array['a']) with ordinality as t(a, b, n) where current_schema() = 'public';
select * from unnest(array[]::int[]) where current_schema() = 'public';
select * from unnest(null::int[]) where current_schema() = 'public';
select u.x, u.n from pg_namespace n, unnest(array[n.nspname, 'x']) with ordinality u(x, n) where n.nspname = 'public';
select g from generate_series(1, 5, 2) g where current_schema() = 'public';
select g from generate_series(5, 1, -2) g where current_schema() = 'public';
select g from generate_series(1, 0) g where current_schema() = 'public';
select g from generate_series(1, null) g where current_schema() = 'public';
select g from generate_series(1, 5, 0) g where current_schema() = 'public';
select generate_series(1, 3) + 1, current_schema();
select generate_subscripts(array['a', 'b', 'c'], 1), current_schema();
select generate_subscripts(array['a', 'b'], 2), current_schema();
select s.i, (current_schemas(true))[s.i] from generate_subscripts(current_schemas(true), 1) s(i);
select (information_schema._pg_expandarray(array[7, 8])).n;
select string_to_table('a,b', ','), current_schema();
select regexp_split_to_table('a1b22c', '[0-9]+'), current_schema();
select array_remove(array[1, 2, 1], 1), array_prepend(0, array[1]), array_ndims(array[1]), current_schema();
select array_replace(array[1, 2], 2, 3), array_positions(array[1, 2, 1], 1), current_schema();
select regexp_split_to_array('a1b22c', '[0-9]+'), current_schema();

-- LATERAL
select c.relname, x.n from pg_class c cross join lateral (select count(*) as n from pg_attribute a where a.attrelid = c.oid and a.attnum > 0) x where c.relname in ('app', 'emp') order by 1;
select c.relname, x.attname from pg_class c left join lateral (select attname from pg_attribute a where a.attrelid = c.oid and a.attnum = 7) x on true where c.relname in ('app', 'dept') order by 1;
select c.relname, x.attname, x.attnum from pg_class c, lateral (select attname, attnum from pg_attribute a where a.attrelid = c.oid and attnum > 0 order by attnum desc limit 2) x where c.relname in ('app', 'dept') order by 1, 3;
select n.nspname, u from pg_namespace n cross join lateral unnest(array[n.oid::text, n.nspname::text]) u where n.nspname = 'public';
select n.nspname, u.v, u.i from pg_namespace n left join lateral unnest(string_to_array(n.nspname, '_')) with ordinality u(v, i) on u.i = 2 where n.nspname in ('public', 'pg_catalog') order by 1;

-- sets, WITH, recursion, LIMIT
select relname from pg_class where relname = 'app' union select 'app' union all select 'zzz' order by 1;
select relname from pg_class where relname in ('app', 'emp') intersect select 'emp';
select relname from pg_class where relname in ('app', 'emp') except select 'emp';
select nspname from pg_namespace where nspname = 'public' union all select nspname from pg_namespace where nspname = 'public';
select nspname from pg_namespace where nspname = 'public' intersect all select 'public';
select nspname from pg_namespace where nspname = 'public' except all select 'x';
select 1 as a, current_schema()::text as b union select 2, 'x' order by a desc;
select 1, current_schema() union select 2;
with t as (select relname, oid from pg_class where relname in ('app', 'emp')) select t.relname, count(*) from t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 group by 1 order by 1;
with a as (select oid from pg_namespace where nspname = 'public'), b as (select * from a) select count(*) from a, b;
with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select n, current_schema() from t;
with recursive t(n) as (select 1 union select n % 3 + 1 from t) select n from t where current_schema() = 'public' order by n;
with recursive p as (select oid, typname, typelem from pg_type where typname = '_int4' union all select t.oid, t.typname, t.typelem from pg_type t join p on t.oid = p.typelem) select typname from p order by 1;
select relname from pg_class where relname in ('app', 'dept', 'emp', 'empty') order by relname limit 2 offset 1;
select relname from pg_class where relname in ('app', 'dept') order by relname desc limit null;
select relname from pg_class where relname in ('app', 'dept') order by relname limit 0;
select relname from pg_class where relname = 'app' limit -1;
select relname from pg_class where relname = 'app' offset -1;
select relname as n, length(relname) as l from pg_class where relname in ('app', 'dept', 'empty') order by l desc, n;
select relname from pg_class where relname in ('app', 'dept') order by length(relname) desc;
select x from (values (1), (null), (3)) v(x) where current_schema() = 'public' order by x nulls first;
select x from (values (1), (null), (3)) v(x) where current_schema() = 'public' order by x desc;
values (current_schema(), 1), ('x', 2);

-- conditions
select relname from pg_class where relname between 'app' and 'dept' and relnamespace = 2200 order by 1;
select relname from pg_class where relname not in ('app', 'emp') and relnamespace = 'public'::regnamespace order by 1;
select relname from pg_class where (relname = 'app') is true;
select 1 is distinct from null, null is distinct from null, 1 is not distinct from 1, current_schema() is not null, (null::bool) is unknown, (null::bool) is not true;
select null and false, null or true, not null::bool, true and null, current_schema() is null;
select 5 / 2, -5 / 2, 5 % 3, -5 % 3, 2 * 3, 7 - 9, - 3, + 3, 2 ^ 3 = 8, 5 & 3, 5 | 3, 1 << 4, 16 >> 2, current_schema();
select 5 / 0, current_schema();
select 5 % 0, current_schema();
select 2147483647 + 1, current_schema();
select 1 between symmetric 3 and 0, current_schema();
select abs(-3), round(2.5), ceil(1.2), floor(1.8), mod(7, 3), current_schema();
select relname from pg_class where relname like 'em%' and relnamespace = 2200 order by 1;
select relname from pg_class where relname ilike 'EM_' and relnamespace = 2200;
select relname from pg_class where relname not like '%p%' and relnamespace = 2200 order by 1;
select 'a_b' like 'a\_b', 'axb' like 'a\_b', 'a%' like 'a#%' escape '#', 'abc' like 'a%' and current_schema() like 'p%';
select 'x' like 'x\', current_schema();
select relname from pg_class where relname ~ '^(app|emp)$' order by 1;
select relname from pg_class where relname operator(pg_catalog.~) '^(APP)$' collate pg_catalog.default;
select 'abc' ~* 'B', 'abc' !~ 'd', 'abc' !~* 'B', 'a.c' ~ 'a\.c', 'abc' ~ '^a.c$', 'a' ~ '[[:alpha:]]', 'ab12' ~ '\d{2}', current_schema();
select 'x' ~ '(', current_schema();

-- string functions
select lower('AbC'), upper('AbC'), length('abc'), char_length('äöü'), length(''), initcap('hello world'), current_schema();
select trim('  a b '), btrim('xxaxx', 'x'), ltrim('  a '), rtrim(' a  '), trim(both 'x' from 'xax'), trim(leading 'x' from 'xax'), trim(trailing from 'a  '), current_schema();
select replace('banana', 'an', 'x'), replace('aaa', '', 'x'), translate('12345', '143', 'ax'), reverse('abc'), repeat('ab', 3), lpad('5', 3, '0'), rpad('a', 3), current_schema();
select substring('hello' from 2 for 3), substring('hello', 2), substr('hello', 0, 3), substring('hello' from 'l+'), substring('foobar' from 'o(.)b'), substring('x' from 'y'), substr('hello', -1, 3), substr('hello', 2, 0), current_schema();
select substr('hello', 2, -1), current_schema();
select left('hello', 2), left('hello', -2), right('hello', 2), right('hello', -2), left('hello', 0), right('hello', 0), left('a', 5), current_schema();
select split_part('a.b.c', '.', 2), split_part('a.b', '.', 5), split_part('a.b.c', '.', -1), split_part('abc', '', 1), current_schema();
select split_part('a', '.', 0), current_schema();
select strpos('hello', 'l'), strpos('hello', ''), strpos('hello', 'x'), position('lo' in 'hello'), starts_with('hello', 'he'), current_schema();
select concat('a', null, 1, true), concat_ws(',', 'a', null, 'b'), 'a' || 1, 'a' || null, current_schema();
select regexp_replace('foobar', 'o', 'x'), regexp_replace('foobar', 'o', 'x', 'g'), regexp_replace('abc', '(b)', '[\1]'), regexp_replace('ABC', 'b', 'x', 'i'), regexp_replace('a$b', '\$', '$$'), regexp_replace('abc', 'b', '\\&'), regexp_replace('abc', 'b', '<\&>'), current_schema();
select regexp_replace('abc', 'b', 'x', 'y'), current_schema();
select regexp_match('foobar', 'o(.)b'), regexp_match('x', 'y'), current_schema();
select format('%s %I %L %%', 'a', 'B c', 'it''s'), format('%s', null), format('%L', null), format('%1$s %1$s', 'x'), format(null, 1), format('%-5s|%5s|', 'a', 'b'), current_schema();
select concat(), current_schema();
select format('%I', null), current_schema();
select format('%s'), current_schema();
select format('%x', 1), current_schema();
select quote_ident('a'), quote_ident('A b'), quote_ident('select'), quote_ident('user'), quote_ident('a"b'), quote_ident(''), quote_ident('1a'), quote_ident('a1$'), quote_ident(null), quote_ident('name'), quote_ident('text'), quote_ident('int'), quote_ident('between'), quote_ident('values');
select quote_literal('a'), quote_literal('it''s'), quote_literal('a\b'), quote_literal(1), quote_literal(null), quote_nullable(null), quote_nullable('x');
select parse_ident('a.b'), parse_ident('"A".b'), parse_ident('A.B'), parse_ident('a'), parse_ident(' a . b ');
select parse_ident('a.');
select parse_ident('');
select parse_ident('1a');
select parse_ident('a b');
select parse_ident('a b', false);
select ascii('a'), chr(97), md5('a'), current_schema();
select 'a' collate "C" < 'B', current_schema();
select json_build_object('a', 1, 'b', null, 'c', true, 'd', 'x')::text, current_schema();
select e'a\tb', 'ünïcode', U&'\0041', current_schema();

-- formatting of types
select format_type(23, null), format_type(23, -1), format_type(1043, 24), format_type(1043, -1), format_type(1042, 5), format_type(1042, null), format_type(1042, -1), format_type(1700, 655366), format_type(1700, null), format_type(0, null), format_type(99999999, null), format_type(null, null), format_type(null, 5);
select format_type(1184, 3), format_type(1114, 0), format_type(1083, 2), format_type(1266, 1), format_type(1186, -1), format_type(1560, 8), format_type(1562, 8), format_type(1562, -1), format_type(1015, 14), format_type(1231, 655366), format_type(25, 5), format_type(18, null), format_type(19, null), format_type(1560, -1), format_type(1560, null);
select typname, format_type(oid, null), format_type(oid, typtypmod) from pg_type where typtype in ('b', 'p', 'r', 'm') and typnamespace = 11 and typrelid = 0 and typcategory <> 'A' and typname not like 'pg\_%' order by 1;
select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'app'::regclass and attnum > 0 order by attnum;

-- visibility
select pg_table_is_visible('app'::regclass), pg_table_is_visible('pg_class'::regclass), pg_table_is_visible('information_schema.tables'::regclass), pg_table_is_visible(0), pg_table_is_visible(99999999), pg_table_is_visible(null);
select pg_type_is_visible(23), pg_type_is_visible(99999999), pg_type_is_visible(null), pg_type_is_visible(0);
select pg_function_is_visible('array_in'::regproc), pg_function_is_visible(99999999), pg_function_is_visible(null), pg_operator_is_visible(0), pg_collation_is_visible(100), pg_collation_is_visible(0), pg_opclass_is_visible(0), pg_conversion_is_visible(0), pg_ts_config_is_visible(0), pg_statistics_obj_is_visible(0);

-- definitions
select pg_get_viewdef('app'::regclass), pg_get_viewdef(0), pg_get_viewdef(99999999), pg_get_viewdef(null::oid), pg_get_viewdef('app'::regclass, true);
select pg_get_viewdef('app');
select pg_get_viewdef('nope');
select pg_get_indexdef(0), pg_get_indexdef(null), pg_get_indexdef('app'::regclass), pg_get_indexdef(99999999, 1, true);
select pg_get_constraintdef(0), pg_get_constraintdef(null), pg_get_constraintdef(99999999, true);
select pg_get_functiondef(0), pg_get_functiondef(null), pg_get_functiondef(99999999);
select pg_get_ruledef(0), pg_get_triggerdef(99999999), pg_get_function_result(0), pg_get_function_arguments(0), pg_get_partkeydef('app'::regclass), pg_get_statisticsobjdef(0), pg_get_function_identity_arguments(99999999), pg_get_function_arg_default(0, 1), pg_get_function_sqlbody(0);
select pg_get_expr(null, 0), pg_get_expr(adbin, adrelid) from pg_attrdef where false;
select pg_get_userbyid(10) = (select rolname from pg_roles where oid = 10), pg_get_userbyid(99999999), pg_get_userbyid(0), pg_get_userbyid(null);
select pg_get_serial_sequence('app', 'id'), pg_get_serial_sequence(null, 'id');
select pg_get_serial_sequence('nope', 'id');
select pg_get_serial_sequence('app', 'nope');
select obj_description('app'::regclass), obj_description('app'::regclass, 'pg_class'), obj_description(null, 'pg_class'), obj_description(0, 'nope'), col_description('app'::regclass, 1), col_description(0, 0), shobj_description(0, 'pg_database');

-- sizes and server
select pg_size_pretty(0::bigint), pg_size_pretty(1023::bigint), pg_size_pretty(10239::bigint), pg_size_pretty(10240::bigint), pg_size_pretty(1048576::bigint), pg_size_pretty(10485760::bigint), pg_size_pretty(123456789012::bigint), pg_size_pretty(-20000::bigint), pg_size_pretty(null::bigint);
select pg_relation_size(99999999), pg_relation_size(null), pg_total_relation_size(99999999), pg_table_size(99999999), pg_indexes_size(99999999), pg_relation_size(0);
select pg_relation_size('nope');
select pg_total_relation_size('nope');
select pg_relation_size('app', 'main') >= 0, pg_relation_size('app', 'fsm') >= 0;
select pg_relation_size('app', 'nope');
select pg_database_size('nope');
select pg_database_size(99999999);
select pg_database_size(current_database()) >= 0, pg_total_relation_size('app'::regclass) >= 0, pg_table_size('app') >= 0, pg_tablespace_size('pg_default') >= 0;
select pg_is_in_recovery(), txid_current() > 0, txid_current_if_assigned() is null or true, pg_current_xact_id()::text::int8 > 0, pg_backend_pid() > 0, pg_is_other_temp_schema(0), pg_my_temp_schema();
select txid_current() = txid_current(), pg_typeof(txid_current()), pg_typeof(pg_is_in_recovery());
select pg_encoding_to_char(6), pg_encoding_to_char(0), pg_encoding_to_char(-1), pg_encoding_to_char(null), pg_encoding_to_char(99), pg_encoding_to_char(8), pg_char_to_encoding('UTF8'), pg_char_to_encoding('utf-8'), pg_char_to_encoding('latin1'), pg_char_to_encoding('nope'), pg_client_encoding(), getdatabaseencoding();
select current_setting('nope.x', true), current_setting('server_encoding'), current_setting(null), current_setting('standard_conforming_strings');
select current_setting('nope');
select current_schema(), current_schema, current_catalog = current_database(), current_role = current_user, session_user = user;
select pg_tablespace_location(0), pg_relation_is_updatable('pg_stat_activity'::regclass, false), pg_column_is_updatable('pg_stat_activity'::regclass, 1::int2, false), pg_relation_filenode(99999999);
select pg_postmaster_start_time() < now(), pg_conf_load_time() <= now(), now() = current_timestamp, clock_timestamp() >= now(), pg_typeof(now()) where current_schema() = 'public';
select pg_cancel_backend(0);
select pg_cancel_backend(null), pg_terminate_backend(null), pg_terminate_backend(99999999), pg_terminate_backend(99999999, 5000::bigint);

-- privileges
select has_table_privilege('app', 'select'), has_table_privilege('app', 'SELECT'), has_table_privilege('app', ' select , insert') , has_table_privilege('app'::regclass, 'select'), has_table_privilege(current_user, 'app', 'select'), has_table_privilege((select oid from pg_roles where rolname = current_user), 'app'::regclass, 'select with grant option') is not null;
select has_table_privilege('nope', 'select');
select has_table_privilege('app', 'nope');
select has_table_privilege('app', '');
select has_table_privilege('app', 'usage');
select has_table_privilege('nope_user', 'app', 'select');
select has_table_privilege(99999999, 'select'), has_table_privilege(null, 'select'), has_table_privilege('app', null), has_table_privilege(0, 'select');
select has_any_column_privilege('app', 'select'), has_any_column_privilege(99999999, 'select');
select has_any_column_privilege('app', 'delete');
select has_column_privilege('app', 'id', 'select'), has_column_privilege('app', 1::int2, 'select'), has_column_privilege('app', 99::int2, 'select'), has_column_privilege(99999999, 'id', 'select');
select has_column_privilege('app', 'nope', 'select');
select has_column_privilege('nope', 'id', 'select');
select has_column_privilege('app', 'id', 'delete');
select has_schema_privilege('public', 'usage'), has_schema_privilege('pg_catalog', 'usage'), has_schema_privilege(99999999, 'usage'), has_schema_privilege(null, 'usage'), has_schema_privilege(2200, 'USAGE');
select has_schema_privilege('nope', 'usage');
select has_schema_privilege('public', 'select');
select has_database_privilege(current_database(), 'connect'), has_database_privilege(99999999, 'connect');
select has_database_privilege('nope', 'connect');
select has_database_privilege(current_database(), 'select');
select has_function_privilege('array_in(cstring,oid,integer)', 'execute'), has_function_privilege(99999999, 'execute');
select has_function_privilege('nope()', 'execute');
select has_function_privilege(99999999, 'select');
select has_type_privilege('int4', 'usage'), has_type_privilege(99999999, 'usage'), has_type_privilege('integer', 'USAGE');
select has_type_privilege('nope', 'usage');
select has_language_privilege('sql', 'usage'), has_language_privilege(99999999, 'usage');
select has_language_privilege('nope', 'usage');
select has_tablespace_privilege('pg_default', 'create') is not null, has_tablespace_privilege(99999999, 'create');
select has_tablespace_privilege('nope', 'create');
select has_sequence_privilege('nope', 'usage');
select has_sequence_privilege('app', 'usage');
select has_server_privilege('nope', 'usage');
select pg_has_role(current_user, 'usage'), pg_has_role(current_user, current_user, 'member');
select pg_has_role('nope', 'usage');
select pg_has_role(current_user, 'nope');

-- columns that are not there, and other errors
select nope from pg_class;
select c.nope from pg_class c;
select x.relname from pg_class c;
select pg_class.relname from pg_class c;
select relname from pg_class order by nope;
select relname from pg_class group by nope;
select relname, count(*) from pg_class;
select oid from pg_class a, pg_namespace b;
select 1 from pg_class where relname;
select 1 from pg_class having relname = 'a';
select nope(1) from pg_class;
select count(*) from pg_class where count(*) > 1;
select lower(1, 2), current_schema();
select pg_table_is_visible('x', 'y');
select pg_table_is_visible('x');
select relname from pg_class where relkind = 5;
select max(relname) from pg_class limit 'x';

-- whole relations that are the same everywhere
select typname, typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typelem, typarray, typinput, typoutput, typreceive, typsend, typalign, typstorage, typnotnull, typbasetype, typtypmod, typndims, typcollation from pg_type where typrelid = 0 and typelem not in (select oid from pg_type where typrelid > 0) and typnamespace = 11 order by oid;
select rngtypid::regtype, rngsubtype::regtype, rngmultitypid::regtype, rngcollation, rngcanonical::oid > 0, rngsubdiff::oid > 0 from pg_range order by 1;
select table_schema, table_name, column_name, ordinal_position, is_nullable, data_type, udt_schema, udt_name, character_maximum_length, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, column_default, is_identity, is_generated from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position;
select table_schema, table_name, table_type from information_schema.tables where table_schema = 'public' order by 2;
select schema_name from information_schema.schemata where schema_name in ('public', 'pg_catalog', 'information_schema') order by 1;
select schemaname, tablename, hasindexes, hasrules, hastriggers, rowsecurity from pg_tables where schemaname = 'public' order by 2;
select attname, atttypid, attlen, attnum, attndims, atttypmod, attbyval, attstorage, attalign, attnotnull, atthasdef, attidentity, attgenerated, attisdropped, attislocal, attinhcount, attcollation, attacl, attoptions, attcompression from pg_attribute where attrelid in ('app'::regclass, 'empty'::regclass) and attnum > 0 order by attrelid::regclass::text, attnum;
select relname, relkind, relnatts, relhasindex, relhasrules, relhastriggers, relispartition, relpersistence, relchecks, relrowsecurity, relispopulated, relreplident, reltoastrelid is null, relisshared, relhassubclass, relacl, reloptions, relpartbound from pg_class where relname in ('app', 'emp', 'dept', 'empty') order by 1;
select collname, collprovider, collencoding, collisdeterministic from pg_collation where oid in (100, 950, 951) order by oid;
select lanname, lanispl, lanpltrusted from pg_language where lanname in ('internal', 'sql') order by 1;
select amname, amtype, amhandler from pg_am where amname in ('heap', 'btree') order by 1;
select relname, attname, format_type(atttypid, atttypmod) from pg_attribute a join pg_class c on c.oid = a.attrelid where relnamespace = 11 and relname in ('pg_class', 'pg_namespace', 'pg_index', 'pg_description', 'pg_database', 'pg_stat_activity', 'pg_settings') and attnum > 0 and attname not in ('relpartbound', 'indexprs', 'indpred', 'client_addr') and atttypid in (16, 19, 20, 21, 23, 25, 26) order by 1, attnum;
select 'public' <> all (select nspname::text from pg_namespace);
select 'a' <> all (select nspname::text from pg_namespace), 'public' = any (select nspname::text from pg_namespace);
select null as a, relname from pg_class where relname = 'app' union all select not i.indisunique, 'x' from pg_index i where false union all select true, 'y' order by 2;
select * from (select null as a from pg_class where false union all select 1) x;

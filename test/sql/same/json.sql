-- JSON
select '{"a":1,"b":{"c":[1,2,"x"]}}'::jsonb -> 'a', '{"a":"t","b":null,"c":true,"d":1.5}'::jsonb ->> 'a', '{"b":null}'::jsonb ->> 'b', '{"b":null}'::jsonb -> 'b', '{"c":true}'::json ->> 'c', '{"d":1.5}'::jsonb ->> 'd', '{}'::jsonb ->> 'x', '{}'::jsonb -> 'x';
select '[1,2,3]'::jsonb -> 0, '[1,2,3]'::jsonb -> -1, '[1,2,3]'::jsonb ->> 5, '["a","b"]'::jsonb ->> 1, '{"a":1}'::jsonb -> 0, '[1]'::jsonb -> 'a', '[[1,2],[3]]'::jsonb -> 1 ->> 0;
select '{"a":{"b":[10,20,{"c":"deep"}]}}'::jsonb #>> '{a,b,1}', '{"a":{"b":[10,20,{"c":"deep"}]}}'::jsonb #>> '{a,b,2,c}', '{"a":{"1":"one"}}'::jsonb #>> '{a,1}', '{"a":1}'::jsonb #> '{a}', '{"a":1}'::jsonb #> '{z,y}', '{"a":[1,2]}'::jsonb #>> '{a,-1}';
select '{"a":1,"b":2}'::jsonb ? 'b', '{"a":1}'::jsonb ? 'z', '["x","y"]'::jsonb ? 'y', '"str"'::jsonb ? 'str', '5'::jsonb ? '5', null::jsonb ? 'a';
select '{"a":1,"b":{"c":2,"d":[1,2,3]}}'::jsonb @> '{"b":{"c":2}}', '{"a":1}'::jsonb @> '{"a":2}', '{"a":"1"}'::jsonb @> '{"a":1}', '[1,2,3]'::jsonb @> '[3,1]', '[1,2]'::jsonb @> '[5]', '{"a":[{"b":1},{"b":2}]}'::jsonb @> '{"a":[{"b":2}]}', '{"a":null}'::jsonb @> '{"a":null}', '{"a":true}'::jsonb @> '{"a":false}', '{}'::jsonb @> '{}', '{"a":1}'::jsonb @> '{"a":1.0}';
select jsonb_typeof('{"a":1}'), jsonb_typeof('[1]'::jsonb), jsonb_typeof('"x"'), jsonb_typeof('1.5'), jsonb_typeof('true'), jsonb_typeof('null'), jsonb_typeof(null), jsonb_array_length('[1,2,[3]]'), jsonb_array_length('[]'), json_array_length('[1]');
select jsonb_extract_path_text('{"a":{"b":"v"}}', 'a', 'b'), jsonb_extract_path('{"a":{"b":[1]}}', 'a', 'b', '0'), json_extract_path_text('{"a":5}', 'x');
select x from jsonb_array_elements_text('["a","b",null,3]') as x order by x;
select x -> 'n' from jsonb_array_elements('[{"n":1},{"n":2}]') x order by 1;
select k from jsonb_object_keys('{"b":1,"a":2}') k order by k;
select e.name, t from emp e, jsonb_array_elements_text('["x","y"]') t order by 1, 2;
select ('{"n":"42"}'::jsonb ->> 'n')::int + 1, ('{"f":2.5}'::jsonb ->> 'f')::float8 * 2, coalesce('{"a":1}'::jsonb ->> 'b', 'none');
select '{"a":"ü\u00e9\n\"q\""}'::jsonb ->> 'a', '{"k é":1}'::jsonb -> 'k é', '{"big":12345678901234567}'::jsonb ->> 'big', '{"neg":-3}'::jsonb ->> 'neg', '{"e":0.001}'::jsonb ->> 'e';
select '{"a":1}'::jsonb -> 'a' is null, '{"a":null}'::jsonb -> 'a' is null, '{"a":null}'::jsonb ->> 'a' is null;

select ('{"user":{"id":7,"tags":["a","b"]}}'::jsonb #>> '{user,id}')::int * 2, '{"user":{"tags":["a","b"]}}'::jsonb #>> '{user,tags,1}', jsonb_array_length('{"t":[1,2,3]}'::jsonb -> 't');
select j ->> 'k' as k, count(*), sum((j ->> 'n')::int) from (values ('{"k":"a","n":1}'::jsonb), ('{"k":"b","n":2}'), ('{"k":"a","n":3}')) v(j) group by 1 order by 1;
select k, j -> k from (select '{"a":1,"b":"x"}'::jsonb as j) t, jsonb_object_keys('{"a":1,"b":"x"}') k order by k;
select count(*) from (values ('{"a":[1,2]}'::jsonb), ('{"a":[3]}'), (null)) v(j) where j @> '{"a":[1]}';
select e #>> '{x}' as x from jsonb_array_elements('[{"x":1},{"x":null},{}]') e order by 1;
select k, jsonb_typeof(j -> k) from (select '{"a":1,"b":"x","c":[],"d":{},"e":null,"f":true}'::jsonb as j) t, jsonb_object_keys('{"a":1,"b":"x","c":[],"d":{},"e":null,"f":true}') k order by k;
select id, jsonb_typeof(case when id > 20 then '"x"'::jsonb when id > 10 then '{}'::jsonb end) from app order by id;
select '7'::jsonb -> 0, '7'::jsonb -> -1, '7'::jsonb ->> 0, '"x"'::jsonb ->> -1, 'null'::jsonb -> 0, 'null'::jsonb ->> 0, 'true'::jsonb -> 1, '7'::jsonb -> 'a', '7'::jsonb #> '{0}', '{"a":7}'::jsonb -> 'a' -> 0, '{}'::jsonb -> 0;
select '7'::json -> 0, '"x"'::json ->> -1, '{"a":7}'::json -> 'a' -> 0, '[7]'::json -> 0, '[7]'::json -> 0 -> 0, '7'::json::jsonb -> 0, '7'::jsonb::json -> 0, '[[5]]'::json #> '{0}' -> 0;
select e -> 0, e ->> -1 from jsonb_array_elements('[1,[2],"x",null,{"a":1}]') e;
select e -> 0, e ->> -1 from json_array_elements('[1,[2],"x",null,{"a":1}]') e;
select '{"a":{"b":{"c":[[1,{"d":{"e":"deep"}}]]}}}'::jsonb -> 'a' -> 'b' -> 'c' -> 0 -> 1 -> 'd' ->> 'e';
select '{"a":{"b":{"c":[[1,{"d":{"e":"deep"}}]]}}}'::jsonb #> '{a,b}' #> '{c,0}' #> '{1,d}' #>> '{e}';

select * from jsonb_array_elements_text('[1,"x",null, true]') with ordinality;
select x.value, x from jsonb_array_elements_text('["a","b",null,3]') x;
select value from jsonb_array_elements_text('["a","b",null,3]');
select t.v, t from jsonb_array_elements('[1,2]') as t(v);
select * from jsonb_each('{"a":1,"b":"x","c":null}');
select * from jsonb_each_text('{"a":1,"b":"x","c":null}') as t(k, v) where v is not null;
select id, key, value from app, json_each_text('{"a":1,"b":"x","c":null}') where id < 2;
select j.key, count(*) from (values ('{"a":1,"b":2}'::jsonb), ('{"a":null}'), (null)) v(d), jsonb_each(v.d) j group by 1 order by 1;
select j.key, j.value from (values ('{"a":1,"b":2}'::jsonb), ('{"a":null}'), (null)) v(d) left join lateral jsonb_each_text(v.d) j on true;

select jsonb_build_object('a', 1, 'b', level, 'ccc', null, 'aa', ok, 'b', ms), json_build_object('a', 1, 'b', level, 'ccc', null, 'aa', ok, 'b', ms), jsonb_build_object(), json_build_object(), jsonb_build_array(), json_build_array() from app;
select jsonb_build_array(1, 'x', true, null, level, message, p_timestamp, p_timestamp::date, timestamp '2024-01-01 01:02:03.5', array[1,2], 1.50, service), json_build_array(1, 'x"\', true, null, level, message, p_timestamp, p_timestamp::date, array[1,null], array['a','b'], 1.50, ms) from app;
select jsonb_build_object('k', jsonb_build_object('b', 1, 'a', jsonb_build_array(id::int))), json_build_object('k', json_build_array(id, ms)) from app;
select to_json(level), to_jsonb(level), to_json(id), to_jsonb(ms), to_json(ok), to_jsonb(p_timestamp), to_json(array[1,2]), to_jsonb(array['a','b']), to_json(service), to_json(null::int), to_jsonb(null::int[]), to_json(1.5) from app;
select json_agg(level order by id), jsonb_agg(id order by id desc), json_agg(service order by id), jsonb_agg(ok order by id), json_agg(ms order by id), jsonb_agg(p_timestamp order by id) filter (where id < 3), json_agg(jsonb_build_object('a', id) order by id) filter (where id < 3) from app;
select json_agg(level) from app where false;
select level, jsonb_agg(distinct service) from app group by level order by level;
select jsonb_build_object('a', 1) -> 'a', jsonb_build_object('a', level) ->> 'a' from app;
select to_json(1e20::float8), to_json(1e-7::float8), to_json('Infinity'::float8), json_build_array(-0.0::float8), jsonb_build_array(-0.0::float8);
select to_json(E'\x1b[31mred\x1b[0m \x01\x7f é 😀 \u2028 "\\/'::text), to_jsonb(E'\x1b[31m\b\t\x0b\x0c\x0e\x1f'::text), json_build_array(E'a\x02', level || E'\x03') from app;
select to_jsonb(1.7e18::float8), to_jsonb(1e-6::float8), to_jsonb(1.25e-5::float8), to_jsonb(9.99e20::float8), to_jsonb(-123456789012345678::float8), to_jsonb('Infinity'::float8), to_jsonb('-Infinity'::float8), jsonb_build_array('NaN'::float8);

-- Objects of all rows; several names at once; what is contained.
select json_object_agg(name, eid order by eid) from emp;
select jsonb_object_agg(name, eid order by eid) from emp;
select jsonb_object_agg(level, id order by id) from app;
select dept, jsonb_object_agg(name, hired) from emp group by dept order by dept;
select dept, json_object_agg(name, boss order by name desc) from emp group by dept order by dept;
select json_object_agg(s, x), jsonb_object_agg(s, x) from empty;
select jsonb_object_agg(k, v) from (values ('bb', 1), ('a', 2), ('c"c', null), ('a', 3)) t(k, v);
select jsonb_object_agg(k, v order by v desc) from (values ('a', 2), ('a', 3)) t(k, v);
select json_object_agg(eid::int, name order by eid), jsonb_object_agg(eid, salary) filter (where eid < 3) from emp;
select jsonb_object_agg(k, v) from (values ('a', array[1,2]), ('b', null)) t(k, v);
select '{"a":1,"b":2}'::jsonb ?| array['a','x'], '{"a":1,"b":2}'::jsonb ?& array['a','b'], '["a","c"]'::jsonb ?| '{b,c}', '["a"]'::jsonb ?& array['a','b'], '{"a":1}'::jsonb ?& '{}', '{"a":1}'::jsonb ?| '{}', null::jsonb ?| array['a'];
select '{"a":1}'::jsonb <@ '{"a":1,"b":2}'::jsonb, '[1,2]'::jsonb <@ '[1,2,3]'::jsonb, '{"a":2}'::jsonb <@ '{"a":1}'::jsonb;
select '{"a":1,"b":2}'::jsonb ?| array['a',null], '{"a":1}'::jsonb ?| array['z',null];
select null::jsonb -> 'a', (case when id < 99 then null::jsonb end) -> 'b' -> 'c', null::json ->> 'a' from app order by id limit 2;
select '{"\u0061":1,"a":2}'::json -> 'a', '{"a":1,"\u0061":2}'::json ->> 'a', '{"a\"b":1,"a\"b":2}'::json -> 'a"b';

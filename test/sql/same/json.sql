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

-- Functions of numbers, texts, patterns and arrays.

select log(2, 8), log(2.5, 100.0), log(10::numeric, 0.001);
select random() >= 0, random() < 1, (select count(distinct random()) from app) > 1;
select regexp_substr('foobarbaz', 'b..', 1, 2), regexp_substr('foobarbaz', 'x'), regexp_substr('fooBAR', 'bar', 1, 1, 'i'), regexp_substr('a1b22', '([a-z])([0-9]+)', 1, 2), regexp_substr(null, 'a');
select regexp_instr('foobarbaz', 'b..'), regexp_instr('é日本', '本'), regexp_instr('abc', 'x'), regexp_instr('abc', '^b'), regexp_instr(message, '[0-9]+') from app;
select to_number('12,454.8-', '99G999D9S'), to_number('1,234.56', '9,999.99'), to_number('-12.5', '99.9'), to_number('42', '999'), to_number('  7', '99'), to_number('.5', '9.9'), to_number('1234', '9999');
select scale(8.41), min_scale(8.4100), min_scale(8.000), trim_scale(8.4100), trim_scale(100.00), min_scale(100), trim_scale(-0.50), min_scale(null::numeric);
select width_bucket(2, array[1,2,3]), width_bucket(0, array[1,2,3]), width_bucket(9, array[1,2,3]), width_bucket(1, array[]::int[]), width_bucket(null::int, array[1]), width_bucket('b'::text, array['a','b','c']);
select width_bucket(now(), array['yesterday','today','tomorrow']::timestamptz[]), width_bucket(ms, array[10,20,40.5]), width_bucket(p_timestamp, array['2024-03-01','2024-03-02','2024-03-03']::timestamptz[]) from app;
select array_ndims(array[1,2]), array_ndims(array[]::int[]), array_dims(array[1,2,3]), array_dims(null::int[]), array_fill(7, array[3]), array_fill('x'::text, array[2]), array_fill(1, array[0]);
select array_position(array['a','b'], 'b'), array_positions(array['A','A','B'], 'A'), array_remove(array[1,2,3,2], 2), array_replace(array[1,2,5,4], 5, 3), array_cat(array[1,2], array[3]), trim_array(array[1,2,3], 2), cardinality(array[1,2]), array_to_string(array[1,2,null,3], ',', '*');
select bit_and(id::int), bit_or(id::int), bit_xor(id::int), bit_and(bytes::bigint) from app;
select 'alphabet' ^@ 'alph', @ -5, |/ 25.0, ||/ 27.0, @ -5.5, factorial(20), div(7, 2), div(-7.5, 2), chr(8364), ascii('€'), to_hex(-1), repeat('ab', 3);
select repeat('x', -1), chr(65), to_hex(255::bigint), starts_with('alphabet', 'alph'), overlay('Txxxxas' placing 'hom' from 2 for 4), translate('12345', '143', 'ax'), initcap('hi THOMAS'), reverse('abc€');
select string_to_table('a,b,c', ',');
select * from unnest(array[1,2], array['a','b','c']) as t(a,b);

-- Arrays compared and sorted
select a < b, a <= b, a > b, a = b from (values (array[1, 2], array[1, 3]), (array[1], array[1, 2]), (array[1, null], array[1, 2]), (array[1, null], array[1, null]), (array[]::int[], array[1]), (null, array[1])) v(a, b);
select array['a', 'b'] < array['a', 'c'], array[1.5] > array[1.25], array[true] > array[false], array[date '2024-01-01'] < array[date '2024-01-02'];
select a from (values (array[2, 1]), (array[1, null]), (array[1, 2]), (array[1]), (array[]::int[]), (null)) v(a) order by a;
select a from (values (array[2, 1]), (array[1, null]), (array[1, 2]), (array[1]), (array[]::int[]), (null)) v(a) order by a desc;
select a from (values (array[2, 1]), (array[1, null]), (array[1, 2]), (array[1]), (array[]::int[]), (null)) v(a) order by a nulls first;
select a from (values (array[2, 1]), (array[1, null]), (null)) v(a) order by a desc nulls last;
select distinct a from (values (array[2, 1]), (array[1, null]), (array[1, null]), (null)) v(a) order by a;
select a, count(*) from (values (array['x']), (array['x', 'y']), (array['x']), (null)) v(a) group by a order by a desc;
select a, rank() over (order by a) from (values (array['x']), (array['x', 'y']), (array['x']), (null)) v(a) order by 2, 1;
select distinct on (a) a, b from (values (array['x'], 1), (array['y'], 2), (array['x'], 3)) v(a, b) order by a, b desc;
select array_agg(b order by a) from (values (array['x', 'z'], 1), (array['x'], 2), (null, 3)) v(a, b);
select name from emp order by string_to_array(name, 'a');

-- Characters, exact numbers and operators that are names of functions.
select repeat('ab', 3), repeat('x', 0), repeat('x', -1), repeat(null, 2), repeat('é', 2);
select name, repeat(name, eid::int) from emp order by eid;
select ascii('a'), ascii(''), ascii('é'), ascii('✓'), ascii('😀'), ascii(null);
select ascii(message), id from app order by id limit 10;
select chr(65), chr(233), chr(10003), chr(128512), chr(null);
select chr(64 + eid::int) from emp order by eid;
select to_hex(255), to_hex(0), to_hex(-1), to_hex(1::int8 << 40), to_hex((-1)::int8), to_hex(eid::int * 1000) from emp order by eid;
select div(7.5, 2.25), div(-7.5, 2), div(9, 3), div(x, 0.7), div(x, y) from (values (8.9, 3.0), (-10.01, 3.333), (null, 1.0)) t(x, y);
select factorial(0), factorial(5), factorial(20), factorial(25), factorial(n) from generate_series(0, 12) n;
select scale(1.5), scale(1.500), scale(7), scale(x) from (values (1.25), (null)) t(x);
select @ -5, @ -2.5, |/ 16, ||/ 27, @ x, |/ (x * x) from (values (-1.5::float8), (2)) t(x);
select 'foobar' ^@ 'foo', name ^@ 'A', name from emp order by eid;
select count(*) from app where level ^@ 'e';

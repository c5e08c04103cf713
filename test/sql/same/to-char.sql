-- Numbers as text
select to_char(1234.5, '9,999.99'), to_char(-1234.5, '9,999.99'), to_char(0.1, '0.9'), to_char(0.1, '9.99'), to_char(-0.1, '99.99'), to_char(0, '9.9'), to_char(0, '999'), to_char(12, '9990999.9'), to_char(148.5, '999.999');
select to_char(-0.1, 'FM9.99'), to_char(148.5, 'FM999.999'), to_char(148.5, 'FM999.990'), to_char(485, 'FM999MI'), to_char(1, 'FM9.9'), to_char(0, 'FM9.9'), to_char(0.5, 'FM9.0'), to_char(0, 'FM9.0'), to_char(1234567, 'FM9,999,999'), to_char(0.5, 'FM0.00');
select to_char(-485, '999S'), to_char(485, '999S'), to_char(-485, '999MI'), to_char(485, '999MI'), to_char(485, 'S999'), to_char(-48, 'S999'), to_char(5, 'S09.9'), to_char(-485, 'FM999S');
select to_char(12345, '999'), to_char(-12345.6, '9,999.99'), to_char(12345, 'FM9,999'), to_char(1485, '9G999D99'), to_char(12, '00,000'), to_char(1234567, '99,99,999'), to_char(7, '0,009');
select to_char(1234.567, '$9,999.99'), to_char(99.5, 'FM990.0%'), to_char(5, '($999)'), to_char(-5, 'FM$999');
select id, to_char(ms, '999.99'), to_char(ms, 'FM990.00'), to_char(bytes, 'FM999,999,999'), to_char(bytes / 3, '9,999,990.9'), to_char(-ms, 'S99.9'), to_char(ms - 40, '90.0MI') from app order by id;
select to_char(x, '9.9'), to_char(x, '0'), to_char(x, 'FM9'), to_char(x::numeric, '9'), to_char(x::numeric, '9.9') from (values (0.5::float8), (1.5), (2.5), (-0.5), (0.05), (-0.05), (0.25), (-0.04)) v(x);
select to_char(null::float8, '9'), to_char(null::int, '9'), to_char(9223372036854775807, '9,999,999,999,999,999,999'), to_char((-9223372036854775807)::int8, 'FM9999999999999999999'), to_char(2.675::numeric, '9.99'), to_char(123.456789012345::numeric, '999.999999999999');
select level, to_char(avg(ms), 'FM999.00'), to_char(count(*), '0000'), to_char(sum(bytes), '999G999G999') from app group by level order by level;

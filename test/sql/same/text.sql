-- Text
select lpad('abc', 5), lpad('abc', 2), lpad('ü', 3, 'xy'), rpad('abc', 6, '-='), rpad('abcdef', 3), lpad(level, 7, '*'), lpad('a', 0), rpad('a', -1), lpad(null, 3) from app order by id limit 5;
select translate('12345', '143', 'ax'), translate('hello', 'l', 'L'), translate('übung', 'ü', 'u'), translate(message, 'aeiou', ''), translate(null, 'a', 'b') from app order by id;
select max(length(message)), min(length(message)), sum(length(message)), avg(length(message)) from app;
select left(message, 3) as p, count(*) from app group by p order by count(*) desc, p nulls last;
select initcap(level), upper(left(level, 1)) || substring(level from 2) from app group by level order by 1;
select replace(replace(message, ' ', '_'), '%', 'pct') from app order by id limit 10;
select trim(both '"' from '"quoted"'), length(trim(message)) from app order by id limit 5;
select split_part(message, ' ', 1) verb, count(*) from app where message like '% %' group by 1 order by 2 desc, 1;
select position('a' in message) > 0 as has_a, count(*) from app group by 1 order by 1;
select concat_ws(', ', level, service, null, 'x') from app order by id limit 6;
select md5(level), count(*) from app group by 1 order by 1;
select reverse(level), octet_length(message) from app order by id limit 8;
select starts_with(message, 'GET'), count(*) from app group by 1 order by 1;

select lpad('a', null::int, 'x'), rpad(level, nullif(id::int, 3)) from app;
select upper('ŉ ΐ ﬁ ό'), lower('ΣΊΣΥΦΟΣ İ ẞ Ⅷ'), upper(message), lower(message), upper(null), upper(concat(upper(message), 'ö', lower(level), 'abcdefghijklmnopqrstuvwxyz')) from app;
select overlay('abcdef' placing 'xx' from 2), overlay('abcdef' placing 'xx' from 2 for 3), overlay(message placing 'Ä' from 3 for 0), overlay('abc' placing 'x' from 5), overlay('abc' placing 'xyz' from 2 for -1), overlay('abc' placing 'x' from 2 for null), bit_length(message) from app;

select concat_ws(level, service, message, id::int, ok), concat_ws(service, 'a', null, 'b'), concat_ws(null, 'a'), concat_ws(',', ok, null, 5), concat_ws(level, null) from app;
select format('%s|%L|%%', level, service), format('%2$s-%1$s|%-10s|%10s', level, message, id::int, ok), format('%5s', null), format('%L', message), format('x'), format('%-6L|', null), format('%s %s %1$s %s', 'a', 'b', 'c') from app;

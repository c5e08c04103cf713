-- Regular expressions
select regexp_replace('foobarbaz', 'b..', 'X'), regexp_replace('foobarbaz', 'b..', 'X', 'g'), regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), regexp_replace('Hello', 'L', 'x', 'gi'), regexp_replace('abc', 'b', '[\&]'), regexp_replace('a\b', '\\', '/'), regexp_replace('abc', 'z', 'y');
select regexp_replace(message, '[^a-z]+', '-', 'g'), regexp_replace(message, '\s+', ' ', 'g') from app order by id;
select regexp_replace('http://www.a.com/x/y', '^https?://(?:www\.)?([^/]+)/.*$', '\1');
select regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('abc', 'b'), regexp_match('abc', 'z'), regexp_match(null, 'a'), (regexp_match('k=v', '(\w+)=(\w+)'))[2];
select regexp_match(message, '/(\w+)\.(\w+)') from app order by id;
select substring('foobar' from 'o.b'), substring('foobar' from 'o(.)b'), substring('foobar', 'z'), substring(message from '[0-9]+') from app order by id;
select regexp_split_to_array('a, b,c', ',\s*'), regexp_split_to_array(null, ',');
select word from regexp_split_to_table('the quick  fox', '\s+') as word order by 1;
select unnest(regexp_split_to_array('one two', ' ')) order by 1;
select regexp_replace('foo-bar', 'foo|bar', 'x', 'g'), regexp_replace('aaa', 'a*?', 'x'), regexp_replace('ab12', '([a-z]+)([0-9]+)', '\2\1');

select count(*) from app where message ilike '%get%' or message ~ '^\s' or message is null;
select (string_to_array('2024-03-05', '-'))[1]::int + 1, (regexp_match('v1.22', 'v(\d+)\.(\d+)'))[2];
select regexp_replace(message, '\d+', '#', 'g') as shape, count(*) from app group by shape order by 2 desc, 1 nulls last;
select substring(message from '^[A-Z]+'), count(*) from app group by 1 order by 1;
select message ~ '[0-9]{3}$', count(*) from app group by 1 order by 1;
select regexp_match('2024-03-01T10:00', '(\d{4})-(\d\d)-(\d\d)T(\d\d)');
select regexp_split_to_array('one  two', '\s'), regexp_replace('aXbXc', 'x', '', 'i'), regexp_replace('tel 123', '[^0-9]', '', 'g');

select substring(message from '[[:alpha:]]+'), regexp_replace(message, '\w+', '<\&>', 'g'), regexp_replace(message, '[^\w\s]', '_', 'g'), message ~ '\W', message ~ '^\S+$' from app;
select regexp_split_to_array('a  b c', '\s+'), 'ä_Ö1' ~ '^\w+$', 'Ö' ~ '[[:upper:]]', 'ö' ~ '[[:upper:]]', 'ö' ~* '[[:upper:]]', '語' ~* '[[:upper:]]', 'ǅ' ~ '[[:upper:]]', 'ⓐ' ~ '[[:alpha:]]', 'ö' ~ '[[:lower:]x]', '٣' ~ '\d', '٣' ~ '\w', '„' ~ '[[:punct:]]', '€' ~ '[[:punct:]]', 'é' ~ '[[:print:]]', ' ' ~ '[[:graph:]]', 'x' ~ '[^[:space:]]', ' ' ~ '\s';

select regexp_matches('foobarbequebaz', '(bar)(beque)'), 1;
select regexp_matches('foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g');
select m from regexp_matches('a1b2c3', '[0-9]', 'g') m;
select id, m[1], n from app, regexp_matches(message, '(\w)\w', 'gi') with ordinality t(m, n);
select id, regexp_matches(message, '([a-z]+) (\d+)') from app;
select m, count(*) from app, regexp_matches(message, '[A-Z]', 'g') m group by m;
select regexp_matches(null, 'a');
select regexp_split_to_array('a,b c', '\,'), regexp_split_to_array(E'a \t b', '[[:space:]]+'), regexp_split_to_array('aXbxc', '(?i)x'), regexp_count('a1(2', '[[:digit:](]');
select regexp_replace(t, '\W+', '_', 'g'), substring(t from '(\w+)$'), substring(t from '\s(\S+)'), regexp_replace(t, '[\s,]', '.', 'g') from (values ('Über die, Brücke'), ('over the, bridge'), (E'a\x0bb'), (null)) as v(t) order by 1;
select c, c ~ '[[:upper:]]' as upper, c ~ '[[:lower:]]' as lower from unnest(string_to_array('Ⅷ ⅷ ა A', ' ')) as c order by 1;
select 'ς' ilike 'Σ%', 'σ' ilike 'Σ', 'Σ' ilike 'ς', 'ſ' ilike 's', U&'\212A' ilike 'k', 'İSTANBUL' ilike 'istanbul', 'STRAẞE' ilike 'straße', 'É\_%' ilike 'é\\\_\%', null ilike 'a', 'ÄB' not ilike '_b';
select id from app where level ilike level and message ilike '%' || upper(level) || '%' or service ilike '_P%' order by id;
select 'a' ~<~ 'b', 'a' ~<=~ 'b', 'b' ~>~ 'a', 'b' ~>=~ 'b', message ~>=~ level, message ~<~ 'a' from app order by id;
select 'abc' ~~* 'A%', 'abc' !~~ 'b', 'abc' !~~* 'ABC', 'abc' ~~ 'a_c';

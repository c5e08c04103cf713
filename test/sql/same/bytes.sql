-- Bytes: literals, casts, functions, and their forms as text.

select encode('\x00ff5c61'::bytea, 'hex'), encode('\x00ff5c61', 'escape'), encode('\x', 'base64'), encode(decode(repeat('ab', 60), 'hex'), 'base64'), encode(null::bytea, 'hex');
select decode('61 62', 'hex'), decode('', 'hex'), decode('YWJ j', 'base64'), decode('ab', 'escape');
select sha224(''), encode(sha256('\x00'), 'base64'), sha384('\xff'::bytea), sha512(convert_to('é', 'UTF8'));
select '\xDEAD'::bytea, 'abc'::bytea, '\000\\x\377'::bytea, '\x'::bytea, null::bytea, array['\x01'::bytea, '\x02'];
select length('\xdead00'::bytea), octet_length('é'::bytea), bit_length('\x0000'::bytea), '\x61'::bytea || '\x62', '\x61'::bytea || null::bytea;
select '\x61'::bytea = 'a', '\x61'::bytea < '\x6100', '\xff'::bytea > '\x00', '\x61'::bytea in ('\x61', '\x62'), '\x61'::bytea between '\x60' and '\x62';
select get_byte('\x00ff'::bytea, 0), get_byte('\x00ff'::bytea, 1);
select substring('\x616263'::bytea from 2), substring('\x616263'::bytea from -1 for 3), substr('\x616263'::bytea, 2, 1), substr('\x616263'::bytea, 9);
select convert_from('\xc3a9'::bytea, 'utf8'), convert_to(message, 'UTF8') from app where message is not null;
select md5('\x00'::bytea), md5('abc'), md5(message) from app;
select to_jsonb('\x6162'::bytea), concat('\x61'::bytea, 'b'), ('\x61'::bytea)::text;
select x, count(*) from (values ('\x61'::bytea), ('a'), ('\x62')) t(x) group by x order by x desc;
select bit_count('\xff01'::bytea), bit_count('\x'::bytea);

-- Arguments that differ by row, patterns of SQL
select split_part(message, level, 1), split_part(message, '', 1), split_part(message, '', 2), split_part(message, substr(level, 1, 1), id::int % 3 + 1), split_part(message, level, -1) from app order by id;
select split_part('a,b,c', d, n) from (values (',', 2), (',', -1), (',', 9), ('', 1), ('', -1), ('', 2), (null, 1), (',b,', 2)) v(d, n);
select lpad(level, id::int, service), rpad(level, id::int % 9, service), lpad(level, 7, ''), rpad(level, 2, ''), lpad(level, -1, service) from app order by id;
select lpad('日本', n, f), rpad('日本', n, f) from (values (5, 'xy'), (1, 'é'), (0, 'a'), (-3, 'a'), (4, ''), (null, 'a'), (3, null)) v(n, f);
select trim(both level from message), ltrim(message, substr(message, 1, 2)), rtrim(level, service), btrim('éaé', 'é'), btrim(message, null) from app order by id;
select btrim(s, c), ltrim(s, c), rtrim(s, c) from (values ('xxayx', 'x'), ('日a日', '日'), ('aaa', 'a'), ('abc', ''), ('', 'x'), (null, 'x')) v(s, c);
select date_trunc(u, p_timestamp) from app, (values ('hour'), ('Day'), ('weeks'), ('month'), ('quarter'), ('year'), ('decade'), ('us'), ('milliseconds'), (null)) v(u) where id < 3;
select date_trunc('ho' || 'ur', p_timestamp) from app order by id limit 2;
select message like '%' || level || '%', level like substr(level, 1, 1) || '%', message like m escape '!' from app, (values ('%100!%%'), ('!!%'), ('G_T%'), ('%!_%'), ('%\%')) v(m) order by 1, 2, 3;
select s like p escape '#' from (values ('a%b', 'a#%b'), ('a%b', 'a#_b'), ('a_b', 'a#_b'), ('a#b', 'a##b'), ('a\b', 'a\b'), ('axb', 'a_b'), (null, 'x')) v(s, p);
select s from (values ('abc'), ('ABC'), ('aXc'), ('abcabc'), (''), (null)) v(s) where s similar to '(a|b)%c';
select s similar to 'ab_', s similar to '[a-b]+c', s similar to 'a#%c' escape '#', s not similar to '%(bc|XC)', s similar to 'a.c', s similar to '(abc){2}', s similar to '' from (values ('abc'), ('ABC'), ('a%c'), ('abcabc'), (''), ('a.c'), (null)) v(s);
select level similar to '(info|warn)', level similar to '%r%' from app order by id;
select substring('foobar' similar '%#"o_b#"%' escape '#'), substring('foobar' similar '#"o_b#"%' escape '#'), substring('abcdefg' similar 'a#"%#"g' escape '#'), substring('abc' similar '%' escape '#'), substring('foobar' from '%#"o_b#"%' for '#');
select repeat('a', 1 + 1), substr('abc', 1 + 1), round(1.2345, 1 + 1), to_char(1.5, e'9' || '.9');
select x collate "C", x collate "POSIX" from (values ('b'), ('A'), ('a'), ('é')) v(x) order by x collate "C";

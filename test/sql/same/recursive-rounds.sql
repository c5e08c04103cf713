-- WITH RECURSIVE without ALL, and many rounds
with recursive r as (select 1 as n union select n % 3 + 1 from r) select * from r order by n;
with recursive r(n) as (select 1 union select n + 1 from r where n < 10) select sum(n), count(*) from r;
with recursive g(a, b) as (values (1, 2), (2, 3), (3, 1), (3, 4), (4, null)), p(x) as (select 1 union select b from g join p on g.a = p.x) select * from p order by x;
with recursive up as (select eid, boss from emp where name = 'Eve' union select e.eid, e.boss from emp e join up on e.eid = up.boss) select * from up order by eid;
with recursive t(s, d) as (select 'a'::text, null::date union select s || 'b', date '2024-01-01' from t where length(s) < 3) select * from t order by s;
with recursive t(n) as (select eid from emp union select did from dept union select n from t) select * from t order by n;
with recursive t(n) as (select 1 union all select n + 1 from t where n < 5), u(m) as (select n from t union select m - 1 from u where m > -3) select count(*), min(m), max(m) from u;
with recursive t(n, x) as (select 1, 1.5::numeric union select n + 1, x from t where n < 4) select * from t order by n;
with recursive t(n) as (select x from empty union select n + 1 from t) select * from t;
with recursive t(n) as (select 1 union select distinct n % 4 + 1 from t, (values (1), (2)) v(k)) select a.n, b.n from t a join t b on a.n = b.n + 1 order by 1;
with recursive t(n) as (select 1 union all select n + 1 from t where n < 2500) select count(*), max(n) from t;
with recursive t(n) as (select 1 union select n + 1 from t where n < 300) select count(*), max(n) from t;
with recursive t(n) as (select 1 union all (select n + 1 from t where n < 4 limit 1)) select * from t;

-- Set operations
(select 'a' as k, 1 as v union all select 'b', 2) except select 'b', 2;
select level from app intersect (select 'info' union select 'nope') order by 1;
select * from (select 1 as x union select 2 union all select 2) t order by x desc;

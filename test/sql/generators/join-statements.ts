import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/** Joins of all kinds over NULLs and duplicates, and subqueries in every place, with NULLs in their rows. */
const tables = [
  "(values (1, 'x', 10), (2, 'y', null), (null, 'x', 30), (2, null, 40)) ",
  "(values (1, 'x', 10), (1, 'z', 20), (3, null, 30), (null, 'y', 40)) ",
  '(select eid::int, name, dept::int from emp) ',
  '(select did::int, title, (did / 10)::int from dept) ',
  "(select 1, 'x', 5 where false) ",
] as const;
const table = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      one(...tables),
      one(`${name}(a, b, c)`, `${name}(a, b, c)`, `${name}(a, x, c)`, `${name}(b, a, y)`),
    )
    .map(([rows, as]) => {
      // Columns keep their types whatever their names: the second is text.
      const names = as.replace('(b, a, y)', '(a, b, y)');
      return `${rows}${names}`;
    });
const joinWord = one('join', 'left join', 'right join', 'full join', 'inner join', 'left outer join');
const on = (left: string, right: string): fc.Arbitrary<string> =>
  one(
    `on ${left}.a = ${right}.a`,
    `on ${left}.a = ${right}.a`,
    `on ${left}.a = ${right}.a and ${left}.c > 10`,
    `on ${left}.a = ${right}.a and ${right}.a > 1`,
    `on ${left}.a = ${right}.a and ${left}.a < ${right}.a + 1`,
    `on ${left}.a < ${right}.a`,
    `on ${left}.a = ${right}.a or ${left}.a is null`,
    'on true',
    'on false',
    `on ${left}.a is not distinct from ${right}.a`,
    `on ${left}.a = ${right}.a + 1`,
    `on coalesce(${left}.a, 0) = coalesce(${right}.a, 0)`,
    `on ${left}.a = 1`,
    'using (a)',
    'using (a)',
    'using (a, b)',
    'using (c)',
    'using (a) as j',
  );
const joined = fc.oneof(
  written`${table('t')} ${joinWord} ${table('u')} ${on('t', 'u')}`,
  written`${table('t')} ${joinWord} ${table('u')} ${on('t', 'u')}`,
  written`${table('t')} natural ${joinWord} ${table('u')}`,
  written`${table('t')} cross join ${table('u')}`,
  written`${table('t')}, ${table('u')}`,
  written`${table('t')} ${joinWord} ${table('u')} ${on('t', 'u')} ${joinWord} ${table('v')} ${on('u', 'v')}`,
  written`${table('t')} ${joinWord} ${table('u')} using (a) ${joinWord} ${table('v')} using (a)`,
  written`${table('t')} ${joinWord} (${table('u')} ${joinWord} ${table('v')} ${on('u', 'v')}) ${on('t', 'u')}`,
  written`${table('t')} ${joinWord} lateral (select u.a from ${table('u')} where u.a = t.a) l on true`,
);
const shown = one(
  '*',
  't.*',
  'u.*',
  't.a, u.a',
  't.a, u.c',
  'a',
  't.a, u.a, t.c',
  'count(*)',
  'count(t.a), count(u.a)',
  'coalesce(t.a, u.a), t.c',
  'sum(t.c), max(u.a)',
  't.a is null, u.a',
  'distinct t.a, u.a',
);
const where = (name: string): fc.Arbitrary<string> =>
  one(
    '',
    '',
    '',
    ` where ${name}.a is null`,
    ` where ${name}.a = 1`,
    ` where ${name}.a is not null`,
    ` where ${name}.c > 10 or ${name}.a is null`,
    ' where t.a = u.a',
    ' where not (t.a = u.a)',
  );

const inner = fc.oneof(
  written`select u.a from ${one(...tables)}u(a, b, c)${one('', ' where u.a is not null', ' where u.c > 10', ' where u.a = t.a', ' where u.c >= t.c', ' where false', ' where u.b = t.b', ' where u.a = t.a and u.c > 10', ' where u.a < t.a')}`,
  written`select ${one('max', 'min', 'sum')}(u.a) from ${one(...tables)}u(a, b, c)${one('', ' where u.a = t.a', ' where u.b = t.b', ' where false')}`,
);
const scalar = written`select ${one('max(u.a)', 'min(u.c)', 'count(*)', 'sum(u.c)', 'avg(u.c)', 'count(u.a)', 'coalesce(max(u.a), -1)', 'max(u.a) + t.c', 'count(*) > 1', "string_agg(u.b, ',' order by u.b)", 'array_agg(u.a order by u.a)', 'bool_or(u.a = 1)')} from ${one(...tables)}u(a, b, c)${one('', ' where u.a = t.a', ' where u.b = t.b', ' where u.a = t.a and u.c > 10', ' where u.a = t.a and u.c > t.c', ' where u.a is not distinct from t.a', ' where u.a < t.a', ' where t.a = 1', ' where u.a = t.a + 1')}`;
const predicate = fc.oneof(
  written`t.a ${one('in', 'not in')} (${inner})`,
  written`${one('exists', 'not exists')} (${inner})`,
  written`t.a ${one('=', '<>', '<', '>=')} ${one('any', 'all', 'some')} (${inner})`,
  written`t.a ${one('=', '<>', '<', '>')} (${scalar.filter((text) => /select (?:max\(u\.a\)|min|count\(u|coalesce)[^+]* from/.test(text))})`,
  written`(t.a, t.c) ${one('in', 'not in')} (select u.a, u.c from ${one(...tables)}u(a, b, c)${one('', ' where u.b = t.b', ' where u.c is not null')})`,
  written`t.a ${one('in', 'not in')} (1, null)`,
  written`t.a ${one('in', 'not in')} (1, 2)`,
  written`(${scalar}) is null`,
);
const columns = ['t.a', 't.b', 't.c'] as const;

export const joinStatement: fc.Arbitrary<string> = fc.oneof(
  written`select ${shown} from ${joined}${where('t')}`,
  written`select ${shown} from ${joined}${where('u')}`,
  written`select ${shown} from ${joined}`,
  written`select * from ${one(...tables)}t(a, b, c) where ${predicate}`,
  written`select t.a, t.b from ${one(...tables)}t(a, b, c) where ${predicate} ${one('and', 'or')} ${predicate}`,
  written`select t.a from ${one(...tables)}t(a, b, c) where not (${predicate})`,
  written`select ${one(...columns)}, (${scalar}) as v from ${one(...tables)}t(a, b, c)`,
  written`select ${one(...columns)}, (${scalar}) as v, (${scalar}) as w from ${one(...tables)}t(a, b, c)`,
  written`select ${predicate} as v, count(*) from ${one(...tables)}t(a, b, c) group by 1`,
  written`select t.a, ${predicate} as v from ${one(...tables)}t(a, b, c)`,
  written`select case when ${predicate} then 'yes' else 'no' end as v from ${one(...tables)}t(a, b, c)`,
  written`select t.a, l.n from ${one(...tables)}t(a, b, c) ${one('left join', 'join', 'cross join')} lateral (select count(*) as n from ${one(...tables)}u(a, b, c) where u.a = t.a) l ${one('on true')}`.map(
    (text) => text.replace(/cross join(.*) on true/, 'cross join$1'),
  ),
  written`select count(*), (${scalar.filter((text) => !text.includes('t.'))}) as v from ${one(...tables)}t(a, b, c)`,
  written`select array(${inner} order by 1) as v from ${one(...tables)}t(a, b, c)`,
);

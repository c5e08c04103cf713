import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/**
 * Grouping sets of constants, aliases, positions and expressions, with duplicates, with and without
 * aggregates, HAVING, DISTINCT, DISTINCT ON and ORDER BY.
 */
const source = one(
  "(values (1, 'x', 1.5::float8, true), (1, 'y', null, false), (2, null, 2.5, null), (null, 'x', 2.5, true), (2, 'x', 1.5, true)) t(a, b, c, d)",
  "(values (1, 'x', 1.5::float8, true)) t(a, b, c, d)",
  '(select eid::int as a, name as b, salary as c, dept > 10 as d from emp) t',
  '(select id::int % 3 as a, level as b, ms as c, ok as d from app where id < 20) t',
  "(select 1 as a, 'x' as b, 2.5::float8 as c, true as d where false) t",
  '(select x::int as a, s as b, x as c, b as d from empty) t',
);
const keyExpression = one(
  'a',
  'b',
  'c',
  'd',
  'a',
  'b',
  'a + 1',
  'a * 2',
  '-a',
  "b || 'x'",
  'upper(b)',
  'coalesce(a, 0)',
  "coalesce(b, 'none')",
  'a is null',
  "case when a > 1 then 'big' else b end",
  "'k'::text",
  '1 + 1',
  'null::int',
  'true',
  "'k'",
  '7',
  'nullif(a, 1)',
  't.a',
  't.b',
  'a % 2',
  'c::text',
  'length(b)',
);
const alias = one('', '', ' as x', ' as y', ' as a', ' as b', ' as z');
const aggregate = one(
  'count(*)',
  'sum(a)',
  'min(b)',
  'max(c)',
  'count(distinct a)',
  'count(b)',
  'bool_or(d)',
  'sum(a) filter (where d)',
  "string_agg(b, ',' order by b)",
  'array_agg(a order by a)',
  'avg(c)',
  'sum(1)',
  "max('k'::text)",
  'count(*) filter (where a > 1)',
  'min(a + 1)',
  'sum(sum(a)) over ()',
  'count(*) over ()',
  'rank() over (order by count(*))',
);
const condition = one('a > 0', 'b is not null', 'd', 'false', 'c > 1.5', "b in ('x', 'y')");
const having = one(
  ' having count(*) > 1',
  ' having count(*) > 0',
  ' having true',
  ' having false',
  ' having max(a) is not null',
  ' having null::bool',
  ' having sum(a) > 1 or min(b) is null',
);

/** Which PostgreSQL 15 takes for the same in all rows when it sorts, also where they are NULL. */
const isFixed = ({ expression }: Key): boolean =>
  /^(?:'k'(?:::text)?|1 \+ 1|null::int|true|7)$/.test(expression);

interface Key {
  readonly expression: string;
  readonly alias: string;
}
const keys: fc.Arbitrary<readonly Key[]> = fc.array(
  fc.tuple(keyExpression, alias).map(([expression, name]) => ({ expression, alias: name })),
  { minLength: 1, maxLength: 3 },
);

/** How GROUP BY names a key: by its expression, its alias or its position. */
const spelled = (key: Key, position: number): fc.Arbitrary<string> => {
  const name = key.alias.replace(' as ', '');
  const isConstant = /^(?:'k'|7|true)$/.test(key.expression);
  return one(
    ...(isConstant ? [] : [key.expression, key.expression, `(${key.expression})`]),
    String(position),
    ...(name === '' ? [] : [name, name]),
  );
};

const groupingOf = (each: readonly Key[]): fc.Arbitrary<string> => {
  const key = fc.oneof(...each.map((one, index) => spelled(one, index + 1)));
  const list = fc.array(key, { minLength: 1, maxLength: 3 }).map((some) => some.join(', '));
  const all = fc.tuple(...each.map((one, index) => spelled(one, index + 1))).map((some) => some.join(', '));
  const set = fc.oneof(
    one('()'),
    key,
    written`(${list})`,
    written`rollup(${list})`,
    written`cube(${list})`,
    written`rollup((${list}), ${key})`,
  );
  const sets = fc.array(set, { minLength: 1, maxLength: 3 }).map((some) => some.join(', '));
  return fc.oneof(
    all,
    all,
    list,
    written`rollup(${all})`,
    written`cube(${all})`,
    written`rollup(${list})`,
    written`grouping sets (${sets})`,
    written`grouping sets (${sets}, (${all}))`,
    written`grouping sets ((${all}), ())`,
    written`${all}, grouping sets (${sets})`,
    written`${key}, rollup(${list})`,
    written`rollup(${list}), cube(${key})`,
    written`distinct rollup(${list}), rollup(${list})`,
    written`cube(${list}), ()`,
    one('()'),
  );
};

export const groupingStatement: fc.Arbitrary<string> = keys.chain((each) => {
  const names = each.map(({ expression, alias: name }) => `${expression}${name}`);
  const columns = each.filter(({ expression }) => !/^(?:'k'|7|true)$/.test(expression));
  const grouping =
    columns.length === 0
      ? []
      : [
          `grouping(${columns.map(({ expression }) => expression).join(', ')})`,
          `grouping(${columns[0]?.expression})`,
        ];
  return fc
    .record({
      shown: fc.shuffledSubarray(names, { minLength: 1 }),
      whole: fc.boolean(),
      others: fc.array(fc.oneof(aggregate, aggregate, ...grouping.map((some) => fc.constant(some))), {
        maxLength: 2,
      }),
      distinct: one('', '', '', '', 'distinct ', 'distinct on (1) ', 'distinct on (1, 2) '),
      from: source,
      where: fc.oneof(one('', '', ''), written` where ${condition}`),
      grouping: groupingOf(each),
      having: fc.oneof(one('', '', '', ''), having, ...grouping.map((some) => one(` having ${some} > 0`))),
      order: one('all', 'all', 'alias', 'none', 'limit', 'grouping'),
      inside: one('', '', '', '', 'count', 'exists'),
    })
    .map((made) => {
      const items = [...(made.whole ? names : made.shown), ...made.others];
      const hasFixed = each.some(isFixed);
      const positions = items.map((_, index) => index + 1);
      const orders: Readonly<Record<string, string>> = {
        all: ` order by ${positions.join(', ')}`,
        alias: ` order by ${made.distinct.includes('on') ? '1, 2' : (each[0]?.expression ?? '1')}`,
        none: '',
        limit: ` order by ${positions.map((position) => `${position} desc nulls last`).join(', ')} limit 3`,
        grouping: ` order by ${grouping[0] ?? 'count(*)'}, ${positions.join(', ')}`,
      };
      const isDistinctOn = made.distinct.includes('on');
      const given = isDistinctOn && items.length < 2 ? 'distinct ' : made.distinct;
      const distinct = hasFixed ? '' : given;
      const chosen = isDistinctOn ? 'all' : distinct === '' ? made.order : 'all';
      const order = hasFixed ? '' : orders[chosen];
      const query = `select ${distinct}${items.join(', ')} from ${made.from}${made.where} group by ${made.grouping}${made.having}`;
      if (made.inside === 'count') return `select count(*) from (${query}) s`;
      if (made.inside === 'exists') return `select exists (${query})`;
      return `${query}${order}`;
    });
});

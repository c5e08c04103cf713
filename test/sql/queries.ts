import * as fc from 'fast-check';

/** Random queries over the fixtures `emp` and `dept`, as SQL text, of the shapes that people write. */
const numbers = ['eid', 'dept', 'boss', 'salary'] as const;
const number = fc.constantFrom(...numbers);
const column = fc.constantFrom(...numbers, 'name', 'hired');
const bound = fc.integer({ min: -1, max: 41 });

const comparison = (alias: string) =>
  fc.oneof(
    fc
      .tuple(number, fc.constantFrom('=', '<>', '<', '>='), bound)
      .map(([a, op, b]) => `${alias}.${a} ${op} ${b}`),
    fc.tuple(number, fc.constantFrom('is null', 'is not null')).map(([a, op]) => `${alias}.${a} ${op}`),
    fc.constantFrom(
      `${alias}.name like '%a%'`,
      `${alias}.name in ('Ada', 'Bob', null)`,
      `${alias}.hired > '2020'`,
    ),
    fc.tuple(number, number).map(([a, b]) => `${alias}.${a} is distinct from ${alias}.${b}`),
  );

const condition = (alias: string) =>
  fc.oneof(
    comparison(alias),
    fc
      .tuple(comparison(alias), fc.constantFrom('and', 'or'), comparison(alias))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    comparison(alias).map((a) => `not (${a})`),
    fc
      .tuple(fc.constantFrom('in', 'not in'), comparison('x'))
      .map(([op, where]) => `${alias}.dept ${op} (select x.dept from emp x where ${where})`),
    fc
      .tuple(fc.constantFrom('in', 'not in'), comparison('x'))
      .map(
        ([op, where]) =>
          `${alias}.boss ${op} (select x.eid from emp x where x.dept = ${alias}.dept and ${where})`,
      ),
    fc
      .tuple(fc.constantFrom('exists', 'not exists'), comparison('x'))
      .map(([op, where]) => `${op} (select 1 from emp x where x.boss = ${alias}.eid and ${where})`),
    fc
      .constantFrom('avg(x.salary)', 'count(*)', 'coalesce(max(x.salary), 0)', 'min(x.eid) + 1')
      .map((item) => `${alias}.eid < (select ${item} from emp x where x.dept = ${alias}.dept)`),
  );

const aggregate = fc.oneof(
  fc
    .tuple(fc.constantFrom('sum', 'min', 'max', 'avg', 'count', 'stddev'), number)
    .map(([f, a]) => `${f}(e.${a})`),
  number.map((a) => `count(distinct e.${a})`),
  column.map((a) => `array_agg(e.${a} order by e.eid)`),
  fc
    .constantFrom('desc', 'asc nulls first')
    .map((order) => `string_agg(e.name, ',' order by e.salary ${order}, e.eid)`),
  comparison('e').map((where) => `count(*) filter (where ${where})`),
);

const source = fc.oneof(
  fc.constant('emp e'),
  comparison('y').map((where) => `(select * from emp y where ${where}) e`),
  fc
    .constantFrom('join', 'left join', 'right join', 'full join')
    .map((join) => `emp e ${join} dept d on e.dept = d.did`),
  fc.constantFrom('emp e cross join generate_series(1, 2) g', 'emp e, generate_series(1, e.eid::int) g'),
);

const plain = fc
  .tuple(
    fc.uniqueArray(column, { minLength: 1, maxLength: 3 }),
    source,
    condition('e'),
    fc.constantFrom('', 'distinct '),
  )
  .map(
    ([items, from, where, distinct]) =>
      `select ${distinct}${items.map((a) => `e.${a}`).join(', ')} from ${from} where ${where}`,
  );

const grouped = fc
  .tuple(
    fc.uniqueArray(column, { minLength: 1, maxLength: 2 }),
    fc.array(aggregate, { minLength: 1, maxLength: 3 }),
    source,
    fc.constantFrom('', 'rollup', 'cube'),
    fc.constantFrom('', ' having count(*) > 1', ' having max(e.salary) is not null'),
  )
  .map(([keys, items, from, sets, having]) => {
    const names = keys.map((key) => `e.${key}`).join(', ');
    return `select ${names}, ${items.join(', ')} from ${from} group by ${sets === '' ? names : `${sets} (${names})`}${having}`;
  });

const windowed = fc
  .tuple(
    fc.constantFrom(
      'row_number()',
      'rank()',
      'sum(e.salary)',
      'lag(e.name)',
      'first_value(e.dept)',
      'count(*)',
    ),
    fc.constantFrom('', 'partition by e.dept '),
    fc.constantFrom('e.eid', 'e.salary desc nulls last, e.eid'),
    fc.constantFrom('', ' rows between 1 preceding and current row'),
  )
  .map(([f, partition, order, frame]) => {
    const frames = /^(?:sum|count|first)/.test(f) ? frame : '';
    return `select e.eid, ${f} over (${partition}order by ${order}${frames}) as w from emp e`;
  });

const leaf = fc.oneof(plain, grouped, windowed);

/** A query, or two of them together, or one in a CTE. */
export const anyQuery = fc.oneof(
  leaf,
  fc
    .tuple(
      column,
      condition('e'),
      fc.constantFrom('union', 'union all', 'intersect', 'except'),
      condition('e'),
    )
    .map(
      ([a, first, op, second]) =>
        `select e.${a} from emp e where ${first} ${op} select e.${a} from emp e where ${second}`,
    ),
  condition('e').map(
    (where) =>
      `with w as (select * from emp e where ${where}) select a.eid, b.name from w a join w b on a.dept = b.dept`,
  ),
  fc
    .tuple(plain, fc.integer({ min: 1, max: 3 }))
    .map(([query, rows]) => `select count(*) from (${query}) q, generate_series(1, ${rows}) n`),
);

import { catalogFunctionNames } from '../../src/sql/catalog-query/catalog-functions.ts';
import { functionFamilies } from '../../src/sql/functions/function-table.ts';
import { operatorNames } from '../../src/sql/functions/operators.ts';
import { typeNames } from '../../src/sql/resolve/type-names.ts';
import { markdownTable } from '../markdown-table.ts';
import { code, referencePage } from './markdown.ts';

/** Something that PostgreSQL has and a query is refused for, by name. */
export interface Refusal {
  readonly construct: string;
  /** A query that is refused for it; over `app (level text, ms double precision)`. */
  readonly example: string;
  readonly instead: string;
}

export const refusals: readonly Refusal[] = [
  { construct: 'anything but one `SELECT`', example: 'delete from app', instead: '' },
  {
    construct:
      '`LATERAL` subqueries with aggregates, `DISTINCT` or `LIMIT` that are linked by conditions other than equalities',
    example: 'select 1 from app a, lateral (select count(*) from app b where b.ms < a.ms) x',
    instead: 'a subquery in `SELECT`',
  },
  {
    construct:
      'subqueries that refer to a column of a query two levels above, but one that the query between compares by `=` with a column of its own',
    example:
      'select 1 from app a where exists (select 1 from app b where exists (select 1 from app c where c.ms = b.ms and c.level = a.level))',
    instead: 'a join',
  },
  {
    construct: 'correlated subqueries with `GROUP BY`, `UNION`, `INTERSECT` or `EXCEPT`',
    example: 'select (select count(*) from app b where a.ms = b.ms group by level) from app a',
    instead: 'a join',
  },
  {
    construct: '`SEARCH` and `CYCLE` in `WITH RECURSIVE`, references to a later query of it',
    example:
      'with recursive r(n) as (select 1 union all select n from r) cycle n set c using p select n from r',
    instead: '`UNION` without `ALL`',
  },
  {
    construct: 'subqueries that name columns of the join in the condition of an outer join',
    example:
      'select 1 from app a left join app b on exists (select 1 from app c where c.ms = b.ms and c.level = a.level)',
    instead: 'a join',
  },
  {
    construct:
      'in windows: `EXCLUDE` of groups or ties in `ROWS` frames, in `RANGE` frames with an offset, and for `first_value`, `last_value` and `nth_value`; `RANGE` with an offset of months',
    example: 'select sum(ms) over (order by ms rows 1 preceding exclude ties) from app',
    instead: '`GROUPS`',
  },
  {
    construct: 'hypothetical-set aggregates (`rank (1) WITHIN GROUP …`)',
    example: 'select rank(1) within group (order by ms) from app',
    instead: '`count (*) FILTER (WHERE …)`',
  },
  {
    construct: '`real` and `char (n)`',
    example: 'select ms::real from app',
    instead: '`double precision`, `varchar (n)`',
  },
  {
    construct: 'arrays of arrays',
    example: 'select array[array[1]]',
    instead: '',
  },
  {
    construct: 'whole rows that are compared, sorted or grouped by, or beside outer joins',
    example: 'select distinct a from (values (1, 2)) a(x, y)',
    instead: 'the columns',
  },
  {
    construct:
      'numbers beyond `bigint` in JSON that is looked into, and `jsonb` keys with numbers such as `1.0`',
    example: "select '{\"a\":12345678901234567890123}'::jsonb -> 'a'",
    instead: 'texts',
  },
  {
    construct: '`timetz`, `bit`, `date_trunc` and `to_char` of `time`',
    example: "select '10:20'::timetz",
    instead: '`time`, `timestamptz`',
  },
  {
    construct: 'regular expressions with look-around or back references',
    example: "select level ~ '(?=x)' from app",
    instead: '',
  },
  {
    construct:
      'regular expressions in which one alternative is the beginning of another, or that mix lazy and greedy repetitions, where the text of the match is used',
    example: "select regexp_replace(level, 'a|ab', '') from app",
    instead: 'only the longer alternative',
  },
  {
    construct: 'JSON paths with filters, methods or `strict`',
    example: "select jsonb_path_query('[1]'::jsonb, '$[*] ? (@ > 1)')",
    instead: '`jsonb_array_elements` with a condition',
  },
  {
    construct: 'intervals with both days and hours as results of aggregates, `CASE` and subqueries',
    example: "select sum(p_timestamp - timestamp '2024-01-01') from app",
    instead: '`extract (epoch from …)`, `justify_interval`',
  },
  {
    construct: 'time zones other than by name, a usual abbreviation or hours',
    example: "select p_timestamp at time zone 'CET-1CEST' from app",
    instead: "`'Europe/Berlin'`",
  },
  {
    construct: '`to_char` of numbers with patterns other than `9 0 . , D G S MI FM`',
    example: "select to_char(ms, 'RN') from app",
    instead: '`round`, `lpad`',
  },
  {
    construct: '`COLLATE` with a language, `TABLESAMPLE`',
    example: 'select level collate "en-x-icu" from app',
    instead: '',
  },
];

const codes = (names: readonly string[]): string => names.map(code).join(' ');

/** `docs/reference/sql.md`: what SQL understands and what it refuses. */
export function sqlReference(): string {
  const families = Object.entries(functionFamilies).map(([family, names]) => [
    family,
    codes([...names].sort()),
  ]);
  const understood = [
    ...families,
    [
      'the catalog (queries of `pg_catalog` and `information_schema`)',
      codes([...catalogFunctionNames].sort()),
    ],
    ['operators', codes(operatorNames)],
    ['types', codes(typeNames)],
  ];
  const refused = refusals.map(({ construct, instead }) => [construct, instead]);
  return referencePage('SQL reference', 'bench/reference/sql-reference.ts', [
    'Millrace understands one `SELECT` in PostgreSQL syntax. [SQL](../query/sql.md) explains the parts that differ.',
    '## Functions, operators and types',
    markdownTable(['kind', 'names'], understood, 'text'),
    '## Refused constructs',
    'A query with one of these gets an error that names the construct, with line and column.',
    markdownTable(['construct', 'use instead'], refused, 'text'),
  ]);
}

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
    construct: '`LATERAL` subqueries that are linked by conditions other than equalities',
    example: 'select 1 from app a, lateral (select 1 from app b where b.ms < a.ms) x',
    instead: 'a join',
  },
  {
    construct: 'subqueries that refer to a query two levels above',
    example: 'select (select (select a.level) from app b where b.ms = a.ms) from app a',
    instead: 'a join',
  },
  {
    construct: 'correlated subqueries with `GROUP BY`, `UNION`, `INTERSECT` or `EXCEPT`',
    example: 'select (select count(*) from app b where a.ms = b.ms group by level) from app a',
    instead: 'a join',
  },
  {
    construct: '`WITH RECURSIVE … UNION` without `ALL`',
    example: 'with recursive r as (select 1 as n union select n from r) select n from r',
    instead: '`UNION ALL` with a condition that ends it',
  },
  {
    construct: 'outer joins without an equality',
    example: 'select 1 from app a left join app b on a.ms < b.ms',
    instead: 'a join on `true` in a subquery',
  },
  {
    construct: '`GROUPS` with an offset and `EXCLUDE` in windows',
    example: 'select sum(ms) over (order by ms groups 1 preceding) from app',
    instead: '`ROWS`',
  },
  {
    construct: '`FETCH … WITH TIES`',
    example: 'select ms from app order by ms fetch first row with ties',
    instead: '`rank ()`',
  },
  {
    construct: 'arrays of arrays, arrays in `ORDER BY`',
    example: 'select array[array[1]]',
    instead: '',
  },
  {
    construct: 'rows as values',
    example: 'select row(1, 2)',
    instead: 'the columns',
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
    construct: 'the text of JSON objects and arrays (`->>`)',
    example: "select '{}'::jsonb::text",
    instead: '`->`, which gives JSON',
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
    construct: '`COLLATE` with a language, `SIMILAR TO`, `TABLESAMPLE`',
    example: "select 1 from app where level similar to 'a'",
    instead: '`~`',
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

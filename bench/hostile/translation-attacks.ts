import { type Attack, flood, pick, repeated, sqlAttack, wrapped } from './attack.ts';

/**
 * Attacks on the translation of queries: parser, resolver, printer, and readers of literals.
 */
export const translationAttacks: readonly Attack[] = [
  // Patterns and literals: text of the client that is scanned.
  sqlAttack({
    name: 'regex-classes',
    aim: 'two ways to read `[^`: doubles with each class (functions/regex.ts)',
    sizes: [40, 40],
    codes: ['sql_unsupported', 'sql_too_complex', 'sql_too_large'],
    sql: (n) => `SELECT 'x' ~ '${'[^a]'.repeat(n)}\\1'`,
  }),
  sqlAttack({
    name: 'array-blanks',
    aim: 'blanks within the text of an array: cubic (literals.ts)',
    sizes: [6000, 6000],
    codes: ['sql_bad_value'],
    sql: (n) => `SELECT '{${' '.repeat(n)}x'::int[]`,
  }),
  sqlAttack({
    name: 'json-path-blanks',
    aim: 'the same scanner behind `#>`',
    sizes: [6000, 6000],
    codes: ['sql_bad_value'],
    sql: (n) => `SELECT text #> '{${' '.repeat(n)}x' FROM app`,
  }),
  sqlAttack({
    name: 'array-quoted-blanks',
    aim: 'blanks behind a quoted element of an array',
    sizes: [120_000, 120_000],
    codes: ['sql_bad_value', 'sql_too_large'],
    sql: (n) => `SELECT '{"a"${' '.repeat(n)}x}'::text[]`,
  }),
  sqlAttack({
    name: 'array-many',
    aim: 'an array of very many elements',
    sizes: [100_000, 100_000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT '{${repeated(n, '1', ',')}}'::int[]`,
  }),
  sqlAttack({
    name: 'interval-blanks',
    aim: 'blanks within an interval: quadratic (datetime.ts)',
    sizes: [40_000, 40_000],
    codes: ['sql_bad_value', 'sql_too_large'],
    sql: (n) => `SELECT interval 'x${' '.repeat(n)}y'`,
  }),
  sqlAttack({
    name: 'interval-units',
    aim: 'an interval of very many parts',
    sizes: [35_000, 35_000],
    sql: (n) => `SELECT interval '${'1 day '.repeat(n)}'`,
  }),
  sqlAttack({
    name: 'to-date-pattern',
    aim: 'a pattern of very many pieces (read-times.ts)',
    sizes: [20_000, 20_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT to_date('x', '${'YYYY-'.repeat(n)}')`,
  }),
  sqlAttack({
    name: 'to-date-dashes',
    aim: 'a pattern without a single unit',
    sizes: [200_000, 200_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT to_date(text, '${'-'.repeat(n)}') FROM app`,
  }),
  sqlAttack({
    name: 'to-timestamp-pattern',
    aim: 'the same for timestamps',
    sizes: [40_000, 40_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT to_timestamp(text, '${'HH24:'.repeat(n)}') FROM app`,
  }),
  sqlAttack({
    name: 'to-char-pattern',
    aim: 'a pattern for output of very many pieces (to-char.ts)',
    sizes: [40_000, 40_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT to_char(p_timestamp, '${'YYYY-'.repeat(n)}') FROM app`,
  }),
  sqlAttack({
    name: 'to-char-number',
    aim: 'a pattern of 100,000 digits',
    sizes: [100_000, 100_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT to_char(num, '${'9'.repeat(n)}') FROM app`,
  }),
  sqlAttack({
    name: 'float-digits',
    aim: 'digits that two parts of a pattern may take: quadratic (literals.ts)',
    sizes: [200_000, 200_000],
    codes: ['sql_bad_value', 'sql_too_large'],
    sql: (n) => `SELECT '${'9'.repeat(n)}x'::float8`,
  }),
  sqlAttack({
    name: 'numeric-digits',
    aim: 'the same of numeric',
    sizes: [200_000, 200_000],
    codes: ['sql_bad_value', 'sql_too_large', 'sql_out_of_range'],
    sql: (n) => `SELECT '${'9'.repeat(n)}x'::numeric`,
  }),
  sqlAttack({
    name: 'numeric-large',
    aim: "'9999…'::numeric of 100,000 digits, and 1e999999",
    sizes: [100_000, 100_000],
    codes: ['sql_out_of_range', 'sql_too_large', 'sql_bad_value'],
    times: 2,
    sql: (n, request) => (request === 0 ? `SELECT '${'9'.repeat(n)}'::numeric` : 'SELECT 1e999999'),
  }),
  sqlAttack({
    name: 'integer-digits',
    aim: 'an integer of 240,000 digits, as BigInt reads it',
    sizes: [240_000, 240_000],
    codes: ['sql_out_of_range', 'sql_too_large'],
    sql: (n) => `SELECT ${'9'.repeat(n)}`,
  }),
  sqlAttack({
    name: 'timestamp-blanks',
    aim: 'blanks and digits within dates and timestamps',
    sizes: [200_000, 200_000],
    times: 3,
    codes: ['sql_bad_value', 'sql_too_large'],
    sql: (n, request) =>
      [
        `SELECT timestamp '2024-01-01${' '.repeat(n)}x'`,
        `SELECT timestamptz '2024-01-01 00:00:00.${'1'.repeat(n)}x'`,
        `SELECT date '${'2'.repeat(n)}'`,
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'json-literal-deep',
    aim: 'JSON of 110,000 levels as a literal',
    sizes: [110_000, 110_000],
    sql: (n) => `SELECT '${wrapped(n, '[', '', ']')}'::jsonb`,
  }),
  sqlAttack({
    name: 'json-contains-deep',
    aim: '`@>` with deep JSON: each level repeats the path (functions/json.ts)',
    sizes: [20_000, 20_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT count(*) FROM app WHERE document::jsonb @> '${wrapped(n, '{"a":', '{}', '}')}'`,
  }),
  sqlAttack({
    name: 'json-contains-arrays',
    aim: '`@>` with arrays within arrays: recursion',
    sizes: [100_000, 100_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT count(*) FROM app WHERE document::jsonb @> '${wrapped(n, '[', '', ']')}'`,
  }),
  sqlAttack({
    name: 'json-path-long',
    aim: 'a path of 100,000 names: recursion',
    sizes: [100_000, 100_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_bad_value'],
    sql: (n) => `SELECT document #> '{${repeated(n, 'a', ',')}}' FROM app`,
  }),
  sqlAttack({
    name: 'json-arrows',
    aim: '190 arrows, each of which needs its value several times',
    sizes: [190, 190],
    sql: (n) => `SELECT count(document${"->'a'".repeat(n)}) FROM app`,
  }),
  sqlAttack({
    name: 'regex-broken',
    aim: 'regular expressions that JavaScript refuses',
    times: 5,
    codes: ['sql_bad_regex', 'sql_unsupported', 'sql_bad_value'],
    sql: (_, request) =>
      [
        "SELECT regexp_matches('x', 'a{2,1}')",
        "SELECT regexp_matches('x', '(?<a')",
        "SELECT regexp_matches('x', '(bar')",
        "SELECT regexp_split_to_array('x', 'a{3,2}')",
        "SELECT regexp_split_to_table('x', '[b-a]')",
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'regex-nested-repeats',
    aim: 'a{100} four times around each other: 10^8 states',
    times: 4,
    codes: ['sql_bad_regex', 'sql_unsupported', 'sql_bad_value', 'sql_too_complex', 'sql_too_large'],
    sql: (_, request) =>
      [
        "SELECT count(*) FROM app WHERE text ~ '((((a{100}){100}){100}){100})'",
        "SELECT regexp_replace(text, '((a{1,255}){1,255}){1,255}', 'x') FROM app",
        "SELECT regexp_count(text, '(?:(?:a?){255}){255}b') FROM app",
        "SELECT substring(text from '(x{0,200}){0,200}y') FROM app",
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'regex-long',
    aim: 'patterns of 200 KB of each kind',
    sizes: [60_000, 60_000],
    times: 5,
    sql: (n, request) => {
      const pattern = ['(a)', '\\w', '(((', 'a{1,', '[[:'][request] ?? '';
      return `SELECT count(*) FROM app WHERE text ~ '${pattern.repeat(n)}'`;
    },
  }),
  sqlAttack({
    name: 'like-percents',
    aim: 'LIKE with 100,000 `%`, and with none that matches',
    sizes: [100_000, 20_000],
    sql: (n) => `SELECT count(*) FROM app WHERE text LIKE '${'%a'.repeat(n)}z'`,
  }),
  sqlAttack({
    name: 'similar-to',
    aim: 'SIMILAR TO with a long pattern',
    sizes: [100_000, 20_000],
    codes: ['sql_unsupported', 'sql_too_large', 'sql_too_complex', 'sql_bad_value'],
    sql: (n) => `SELECT 'x' SIMILAR TO '${'%'.repeat(n)}'`,
  }),
  sqlAttack({
    name: 'format-string',
    aim: 'format() that names an argument 50,000 times',
    sizes: [50_000, 50_000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported'],
    sql: (n) => `SELECT format('${'%1$s'.repeat(n)}', text) FROM app`,
  }),
  sqlAttack({
    name: 'replacement',
    aim: 'a replacement of 100,000 references',
    sizes: [100_000, 100_000],
    sql: (n) => `SELECT regexp_replace(text, '(a)', '${'\\1'.repeat(n)}') FROM app LIMIT 1`,
  }),
  sqlAttack({
    name: 'escapes',
    aim: 'literals of nothing but escapes, which double twice',
    sizes: [100_000, 100_000],
    times: 3,
    sql: (n, request) =>
      [`SELECT E'${'\\\\'.repeat(n)}'`, `SELECT '${"''".repeat(n)}'`, `SELECT U&'${'\\0041'.repeat(n / 3)}'`][
        request
      ] ?? '',
  }),
  sqlAttack({
    name: 'time-zone-long',
    aim: 'a time zone of 100 KB, and 60 in a row',
    times: 2,
    sizes: [100_000, 100_000],
    sql: (n, request) =>
      request === 0
        ? `SELECT p_timestamp AT TIME ZONE '${'a'.repeat(n)}' FROM app`
        : `SELECT count(p_timestamp${" AT TIME ZONE 'Europe/Berlin'".repeat(60)}) FROM app`,
  }),
  // Constructs that multiply.
  sqlAttack({
    name: 'stars-1000',
    aim: 'SELECT *,*,… of 900 columns: expansion before the text is bounded',
    as: 'analyst',
    sizes: [1000, 1000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT ${repeated(n, '*', ',')} FROM wide`,
  }),
  sqlAttack({
    name: 'stars-10000',
    aim: 'the same, 9 million columns: heap',
    as: 'analyst',
    sizes: [10_000, 10_000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT ${repeated(n, '*', ',')} FROM wide`,
  }),
  sqlAttack({
    name: 'stars-nested',
    aim: 'SELECT *,* FROM (SELECT *,* FROM …): columns double at each level',
    as: 'analyst',
    sizes: [20, 20],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `${'SELECT *,* FROM ('.repeat(n)}SELECT * FROM wide${') x'.repeat(n)}`,
  }),
  sqlAttack({
    name: 'cte-columns',
    aim: 'a chain of CTEs, each with twice the columns of the last',
    sizes: [24, 24],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) =>
      `WITH c0 AS (SELECT num FROM app), ${repeated(n, (i) => `c${i + 1} AS (SELECT *,* FROM c${i})`, ', ')} SELECT * FROM c${n}`,
  }),
  sqlAttack({
    name: 'cte-relations',
    aim: 'a chain of CTEs, each of which reads the last twice',
    sizes: [30, 30],
    codes: ['sql_too_large', 'sql_too_complex', 'query_timeout', 'query_memory', 'sql_failed', 'overloaded'],
    sql: (n) =>
      `WITH c0 AS (SELECT num FROM app), ${repeated(n, (i) => `c${i + 1} AS (SELECT a.num FROM c${i} a, c${i} b)`, ', ')} SELECT count(*) FROM c${n}`,
  }),
  sqlAttack({
    name: 'cte-recursive-nested',
    aim: 'nested WITH RECURSIVE that recurs nowhere: resolved twice at each level (resolve/query.ts)',
    sizes: [40, 40],
    sql: (n) =>
      `${'WITH RECURSIVE r AS (('.repeat(n)}SELECT 1 AS n${') UNION ALL (SELECT 1)) SELECT n FROM r'.repeat(n)}`,
  }),
  sqlAttack({
    name: 'nullif-nested',
    aim: 'an expression that holds its argument twice, walked as a tree: 2^60 steps',
    sizes: [60, 60],
    sql: (n) => `SELECT count(${wrapped(n, 'nullif(', 'num', ',1)')}) FROM app`,
  }),
  sqlAttack({
    name: 'distinct-from-nested',
    aim: 'IS DISTINCT FROM of IS DISTINCT FROM: the same',
    sizes: [60, 60],
    sql: (n) => `SELECT count(*) FROM app WHERE ${wrapped(n, '(', 'num=1', ' IS DISTINCT FROM true)')}`,
  }),
  sqlAttack({
    name: 'not-in-nested',
    aim: 'NOT IN within NOT IN, whose third value repeats the subquery',
    sizes: [40, 40],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) =>
      `SELECT 1 FROM app WHERE ${wrapped(n, 'num NOT IN (SELECT num FROM app WHERE ', 'true', ')')}`,
  }),
  ...(
    [
      ['round', 'round(', 'num', ',1)'],
      ['split-part', 'split_part(', 'text', ",',',1)"],
      ['lpad', 'lpad(', 'text', ',10)'],
      ['power', 'power(', 'num', ',2)'],
      ['date-trunc', "date_trunc('day',", 'p_timestamp', ')'],
      ['cast', '(', 'text', ')::int::text'],
      ['case', 'CASE ', 'num', ' WHEN 1 THEN 1 END'],
      ['array-append', 'array_append(', 'ARRAY[1]', ',1)'],
    ] as const
  ).map(([name, before, middle, after]) =>
    sqlAttack({
      name: `nested-${name}`,
      aim: `${before}${before}… 90 levels: does the text of the store's query double?`,
      sizes: [90, 90],
      sql: (n) => `SELECT ${wrapped(n, before, middle, after)} FROM app LIMIT 1`,
    }),
  ),
  sqlAttack({
    name: 'array-concatenation',
    aim: 'ARRAY[1]||ARRAY[1]||…: both sides are needed twice',
    sizes: [150, 150],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT ${repeated(n, 'ARRAY[1]', '||')}`,
  }),
  sqlAttack({
    name: 'unnest-many',
    aim: 'unnest of 5,000 arrays side by side: each column names all of them (functions/sets.ts)',
    sizes: [5000, 5000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_unsupported', 'sql_unknown_function'],
    sql: (n) => `SELECT 1 FROM unnest(${repeated(n, 'ARRAY[1]', ',')})`,
  }),
  // Many of the same construct.
  sqlAttack({
    name: 'relations-5000',
    aim: 'FROM app a0, app a1, …',
    sizes: [5000, 5000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT 1 FROM ${repeated(n, (i) => `app a${i}`, ', ')}`,
  }),
  sqlAttack({
    name: 'relations-wide',
    aim: 'one name to look for in 1,000 relations of 900 columns',
    as: 'analyst',
    sizes: [1000, 1000],
    codes: ['sql_too_large', 'sql_too_complex', 'sql_ambiguous'],
    sql: (n) => `SELECT f1 FROM ${repeated(n, (i) => `wide a${i}`, ', ')}`,
  }),
  sqlAttack({
    name: 'alias-clash',
    aim: 'aliases that look like generated ones: translation starts over at each',
    sizes: [1000, 1000],
    codes: ['sql_too_large', 'sql_too_complex', 'query_timeout', 'query_memory', 'sql_failed', 'overloaded'],
    sql: (n) =>
      `SELECT ${repeated(58, (i) => `1 AS t${'_'.repeat(i)}1`, ', ')} FROM ${repeated(n, (i) => `app a${i}`, ', ')}`,
  }),
  sqlAttack({
    name: 'natural-joins',
    aim: '99 NATURAL JOINs of 900 columns',
    as: 'analyst',
    sizes: [99, 99],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT count(*) FROM wide a ${repeated(n, (i) => `NATURAL JOIN wide b${i}`, ' ')}`,
  }),
  sqlAttack({
    name: 'joins-using',
    aim: 'joins USING all of 900 columns',
    as: 'analyst',
    sizes: [20, 20],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => {
      const names = repeated(900, (i) => `f${i}`, ',');
      return `SELECT 1 FROM wide a ${repeated(n, (i) => `JOIN wide b${i} USING (${names})`, ' ')}`;
    },
  }),
  sqlAttack({
    name: 'group-keys',
    aim: 'GROUP BY num, num, … 36,000 times: the one parser and its time-out',
    sizes: [36_000, 36_000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT 1 FROM app GROUP BY ${repeated(n, 'num', ', ')}`,
  }),
  sqlAttack({
    name: 'rollup',
    aim: 'ROLLUP of 20,000 keys: all sets are made before they are counted',
    as: 'analyst',
    sizes: [20_000, 20_000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) => `SELECT 1 FROM wide GROUP BY ROLLUP(${repeated(n, (i) => `f${i % 900}`, ',')})`,
  }),
  sqlAttack({
    name: 'cubes',
    aim: 'CUBE of 30 keys, of 12, CUBEs that multiply, and 5,000 in GROUPING SETS',
    as: 'analyst',
    times: 4,
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (_, request) => {
      const cube = (keys: number): string => `CUBE(${repeated(keys, (i) => `f${i}`, ',')})`;
      const keys =
        [cube(30), cube(12), repeated(3, cube(6), ','), `GROUPING SETS(${repeated(5000, cube(6), ',')})`][
          request
        ] ?? '';
      return `SELECT 1 FROM wide GROUP BY ${keys}`;
    },
  }),
  ...(
    [
      ['addition', 'SELECT ', '1', '+', 119_000],
      ['concatenation', 'SELECT ', 'text', '||', 34_000],
      ['conjunction', 'SELECT 1 FROM app WHERE ', 'num=1', ' AND ', 23_000],
      ['disjunction', 'SELECT 1 FROM app WHERE ', "text='a''b'", ' OR ', 16_000],
      ['unions', '', 'SELECT 1', ' UNION ALL ', 12_000],
      ['values', 'VALUES ', '(1)', ',', 60_000],
      ['values-wide', 'VALUES (', '1', ',', 119_000],
      ['same-aliases', 'SELECT ', '1 AS x', ',', 34_000],
      ['unicode-names', 'SELECT ', '1 AS "é\u{1F600}ß"', ',', 12_000],
      ['dollar-quotes', 'SELECT ', '$a$x$a$', ',', 28_000],
      ['order-keys', 'SELECT num FROM app ORDER BY ', 'num+1', ',', 38_000],
      ['windows', 'SELECT ', 'sum(num) OVER (PARTITION BY level ORDER BY num)', ',', 4900],
      ['aggregates', 'SELECT ', "string_agg(text,',' ORDER BY num)", ',', 6500],
    ] as const
  ).map(([name, before, each, separator, count]) =>
    sqlAttack({
      name: `many-${name}`,
      aim: `${each}${separator}${each}${separator}… as far as the text goes`,
      sizes: [count, count],
      codes: ['sql_too_large', 'sql_too_complex', 'sql_grouping', 'sql_unsupported', 'sql_unknown_column'],
      sql: (n) => {
        const end = before.endsWith('(') ? ')' : '';
        const from =
          name === 'concatenation' || name === 'windows' || name === 'aggregates' ? ' FROM app' : '';
        return `${before}${repeated(n, each, separator)}${end}${from}`;
      },
    }),
  ),
  sqlAttack({
    name: 'in-list',
    aim: 'IN with 100,000 numbers, and with 26,000 rows',
    times: 2,
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (_, request) =>
      request === 0
        ? `SELECT 1 FROM app WHERE num IN (${repeated(100_000, '1', ',')})`
        : `SELECT 1 FROM app WHERE (num,text) IN (${repeated(26_000, "(1,'a')", ',')})`,
  }),
  sqlAttack({
    name: 'case-arms',
    aim: 'CASE with 13,000 arms of types that have to be brought together',
    sizes: [13_000, 13_000],
    codes: ['sql_too_large', 'sql_too_complex'],
    sql: (n) =>
      `SELECT CASE ${repeated(n, (i) => `WHEN num=1 THEN 1${i % 2 === 0 ? '.5' : ''}`, ' ')} END FROM app`,
  }),
  sqlAttack({
    name: 'parentheses',
    aim: 'parentheses, signs, NOTs and casts as deep as the text goes: the stack of the parser',
    times: 5,
    codes: ['sql_too_large', 'sql_too_complex', 'sql_syntax'],
    sql: (_, request) =>
      [
        `SELECT ${wrapped(120_000, '(', '1', ')')}`,
        `SELECT ${'- '.repeat(120_000)}1`,
        `SELECT ${'NOT '.repeat(60_000)}true`,
        `SELECT 1${'::int'.repeat(48_000)}`,
        `${'('.repeat(100_000)}SELECT 1${')'.repeat(100_000)}`,
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'operator-long',
    aim: 'an operator of 200,000 characters, which the lexer shortens one by one',
    sizes: [200_000, 200_000],
    codes: ['sql_syntax', 'sql_too_large', 'sql_too_complex', 'sql_unsupported'],
    sql: (n) => `SELECT 1 ${'+-'.repeat(n / 2)} 1`,
  }),
  sqlAttack({
    name: 'comments',
    aim: 'comments within comments, and `/*` within a literal',
    times: 3,
    sql: (_, request) =>
      [
        `SELECT 1 ${wrapped(60_000, '/*', '', '*/')}`,
        `SELECT '${'/*'.repeat(120_000)}'`,
        `SELECT 1 ${'--\n'.repeat(80_000)}`,
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'open-ends',
    aim: 'quotes, dollars and comments that nobody closes',
    times: 4,
    codes: ['sql_syntax', 'sql_too_large', 'sql_too_complex'],
    sql: (_, request) =>
      [
        `SELECT '${'a'.repeat(240_000)}`,
        `SELECT ${repeated(20_000, (i) => `$a${i}$`, ' ')}`,
        `SELECT /* ${'*'.repeat(240_000)}`,
        `SELECT "${'a'.repeat(240_000)}`,
      ][request] ?? '',
  }),
  sqlAttack({
    name: 'names-long',
    aim: 'names of 240 KB, and what suggests better ones',
    times: 4,
    as: 'analyst',
    codes: [
      'sql_unknown_column',
      'sql_unknown_relation',
      'sql_unknown_function',
      'sql_unsupported',
      'sql_too_large',
      'sql_syntax',
    ],
    sql: (_, request) => {
      const name = 'x'.repeat(240_000);
      return (
        [`SELECT ${name} FROM wide`, `SELECT 1 FROM ${name}`, `SELECT ${name}()`, `SELECT 1::${name}`][
          request
        ] ?? ''
      );
    },
  }),
  sqlAttack({
    name: 'names-dotted',
    aim: 'a.a.a.… of 100,000 parts',
    sizes: [100_000, 100_000],
    codes: ['sql_unsupported', 'sql_syntax', 'sql_unknown_column', 'sql_too_large', 'sql_unknown_relation'],
    sql: (n) => `SELECT ${'a.'.repeat(n)}b FROM app`,
  }),
  sqlAttack({
    name: 'catalog-cross-join',
    aim: 'information_schema.columns 30 times in one query: its rows are in the text',
    as: 'analyst',
    sizes: [30, 30],
    sql: (n) => `SELECT count(*) FROM ${repeated(n, (i) => `information_schema.columns c${i}`, ', ')}`,
  }),
  {
    name: 'too-long',
    aim: 'queries above 256 KiB, and bodies above 1 MiB',
    codes: ['sql_too_large', 'body_too_large'],
    run: (attacker) =>
      Promise.all(
        [260 * 1024, 1_000_000, 2_000_000].map((bytes) => attacker.query(`SELECT '${'x'.repeat(bytes)}'`)),
      ),
  },
  {
    name: 'range-blanks',
    aim: 'startTime of 1 MB: not bounded as the query is, and read in the main thread (time-range.ts)',
    codes: ['bad_time_range', 'bad_request'],
    run: (attacker) => {
      const send = (startTime: string, path: string, rest: object) =>
        attacker.send({
          as: 'reader',
          method: 'POST',
          path,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...rest, startTime, endTime: 'now' }),
        });
      const blanks = `1m${' '.repeat(500_000)}1m`;
      return Promise.all([
        send(blanks, '/api/v1/query', { query: 'SELECT 1 FROM app' }),
        send(blanks, '/api/v1/counts', { stream: 'app' }),
        send('1m'.repeat(450_000), '/api/v1/query', { query: 'SELECT 1 FROM app' }),
        send('1'.repeat(900_000), '/api/v1/query', { query: 'SELECT 1 FROM app' }),
      ]);
    },
  },
  {
    name: 'query-body',
    aim: 'a body of 1 MB that is no query: deep, of very many members, of very many escapes',
    run: (attacker) =>
      Promise.all(
        [
          `{"query":${wrapped(500_000, '[', '', ']')}}`,
          `{${repeated(70_000, (i) => `"a${i}":1`, ',')}}`,
          `{"query":"SELECT '${'\\u0041'.repeat(160_000)}'"}`,
          `{"query":"${'\\'.repeat(900_000)}`,
        ].map((body) =>
          attacker.send({
            as: 'reader',
            method: 'POST',
            path: '/api/v1/query',
            headers: { 'content-type': 'application/json' },
            body,
          }),
        ),
      ),
  },
  {
    name: 'explain-each',
    aim: 'what multiplies, by way of explain, which runs nothing and so is bounded by nothing else',
    run: (attacker) => {
      const texts = [
        `SELECT ${repeated(2000, '*', ',')} FROM wide`,
        `SELECT 1 FROM ${repeated(3000, (i) => `wide a${i}`, ', ')}`,
        `SELECT ${wrapped(80, 'nullif(', 'num', ',1)')} FROM app`,
        `SELECT 'x' ~ '${'[^b]'.repeat(50)}\\1'`,
      ];
      return Promise.all(
        texts.map((sql) => attacker.query(sql, { as: 'analyst', path: '/api/v1/query/explain' })),
      );
    },
  },
  {
    name: 'translations-many',
    aim: '400 different queries of 20 KB, 20 at a time: turns, and the cache of translations',
    run: (attacker, size) =>
      flood(pick([400, 6], size), 20, (index) =>
        attacker.query(`SELECT ${repeated(1500, (i) => `num+${index * 10_000 + i}`, ',')} FROM app LIMIT 0`),
      ),
  },
];

import { type Attack, flood, pick, repeated, sqlAttack } from './attack.ts';

/**
 * Attacks on the engine and on the transport of its results: queries that are short, allowed, and endless.
 */
const many = 'generate_series(1, 1000000)';
/** How a query that asks for too much may end, other than with a result. */
const bounded = [
  'query_timeout',
  'query_memory',
  'query_result_too_large',
  'sql_out_of_range',
  'sql_failed',
  'sql_bad_value',
  'sql_too_large',
  'sql_too_complex',
  'sql_unsupported',
  'overloaded',
  'queries_paused',
  'store_unavailable',
];

/** Attacks that are only a text. */
const endless: ReadonlyArray<readonly [name: string, aim: string, sql: string, fullOnly?: true]> = [
  ['cross-join', 'a cross join of 10^12 rows', `SELECT count(*) FROM ${many} a, ${many} b`],
  [
    'cross-join-dataset',
    'a cross join of a dataset with itself, thrice',
    'SELECT max(a.num + b.num * c.num) FROM app a, app b, app c',
  ],
  [
    'recursion',
    'WITH RECURSIVE without an end',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
  ],
  [
    'recursion-distinct',
    'WITH RECURSIVE without an end, whose rows are remembered',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r) SELECT count(*) FROM r',
  ],
  [
    'recursion-doubling',
    'recursion whose rows double',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT a.n + b.n FROM r a, r b) SELECT count(*) FROM r',
  ],
  [
    'recursion-wide',
    'recursion over a text that doubles',
    "WITH RECURSIVE r AS (SELECT 'x' AS t UNION ALL SELECT t || t FROM r) SELECT max(length(t)) FROM r",
  ],
  [
    'series-extreme',
    'a series with extreme bounds',
    'SELECT count(*) FROM generate_series(-9223372036854775808, 9223372036854775807)',
  ],
  [
    'series-computed',
    'a series whose bounds are computed',
    'SELECT count(*) FROM generate_series(1, (SELECT max(num) * 1000000000 FROM app)::bigint)',
  ],
  [
    'series-overflow',
    'steps that overflow',
    'SELECT count(*) FROM generate_series(9223372036854775000, 9223372036854775807, 100)',
  ],
  [
    'series-of-series',
    'a series for each row of a series',
    `SELECT count(*) FROM ${many} a, generate_series(1, 1000) b`,
  ],
  [
    'series-times',
    'microseconds of a century',
    "SELECT count(*) FROM generate_series(timestamp '1970-01-01', timestamp '2070-01-01', interval '0.000001 seconds')",
  ],
  [
    'replace-grows',
    'a text of a gigabyte by replace',
    "SELECT length(replace(lpad('', 1000000, 'x'), 'x', lpad('', 1000, 'y')))",
  ],
  [
    'replace-nested',
    'replace of replace of replace',
    "SELECT length(replace(replace(replace(lpad('', 100000, 'x'), 'x', lpad('', 10000, 'y')), 'y', lpad('', 10000, 'z')), 'z', 'zz'))",
  ],
  [
    'lpad-rows',
    'a text of a megabyte in each of a million rows',
    `SELECT max(length(lpad('x', 1000000 + a, 'y'))) FROM ${many} a`,
  ],
  ['lpad', 'a text of gigabytes by lpad', "SELECT length(lpad('x', 2147483647, 'y'))"],
  ['rpad-rows', 'rpad by a column', `SELECT sum(length(rpad('x', a, 'yz'))) FROM ${many} a`],
  [
    'md5',
    'md5 of md5 of … of a million rows',
    `SELECT max(${'md5('.repeat(60)}a::text${')'.repeat(60)}) FROM ${many} a, generate_series(1, 50) b`,
  ],
  [
    'string-agg',
    'all of a series in one text',
    `SELECT length(string_agg(lpad(a::text, 1000, 'x'), ',')) FROM ${many} a, generate_series(1, 10) b`,
  ],
  [
    'array-agg',
    'all of a series in one array',
    'SELECT array_length(array_agg(a), 1) FROM generate_series(1, 9000000) a, generate_series(1, 100) b',
  ],
  [
    'array-agg-rows',
    'arrays of arrays to the client',
    'SELECT array_agg(a) FROM generate_series(1, 3000000) a',
  ],
  [
    'percentile',
    'a percentile over 10^9',
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a * b) FROM ${many} a, generate_series(1, 1000) b`,
  ],
  [
    'sort',
    'a sort of 10^8 texts',
    `SELECT a FROM ${many} a, generate_series(1, 100) b ORDER BY md5((a * b)::text) LIMIT 1 OFFSET 99999999`,
  ],
  [
    'distinct',
    'DISTINCT of 10^8 texts',
    `SELECT count(*) FROM (SELECT DISTINCT md5((a * 1000 + b)::text) FROM ${many} a, generate_series(1, 100) b) x`,
  ],
  [
    'group',
    'GROUP BY 10^8 keys',
    `SELECT count(*) FROM (SELECT a * 1000 + b, count(*) FROM ${many} a, generate_series(1, 100) b GROUP BY 1) x`,
  ],
  [
    'count-distinct',
    'count(DISTINCT …) of 10^8',
    `SELECT count(DISTINCT a * 1000 + b) FROM ${many} a, generate_series(1, 100) b`,
  ],
  [
    'window-frame',
    'a frame of all rows for each row',
    `SELECT max(s) FROM (SELECT sum(a) OVER (ORDER BY a ROWS BETWEEN 500000 PRECEDING AND 500000 FOLLOWING) AS s FROM ${many} a) x`,
  ],
  [
    'window-partitions',
    'a window over 10^8 rows of one partition',
    `SELECT max(r) FROM (SELECT rank() OVER (ORDER BY a * b) AS r FROM ${many} a, generate_series(1, 100) b) x`,
  ],
  [
    'join-skewed',
    'a join on one value of all rows',
    `SELECT count(*) FROM ${many} a JOIN ${many} b ON a % 2 = b % 2`,
  ],
  [
    'join-non-equal',
    'a join by a comparison',
    'SELECT count(*) FROM app a JOIN app b ON a.num < b.num JOIN app c ON b.num < c.num',
  ],
  [
    'join-outer-non-equal',
    'an outer join by a comparison, of every row with every row',
    `SELECT count(*) FROM ${many} a FULL JOIN ${many} c ON true LEFT JOIN ${many} b ON a < b`,
  ],
  [
    'frames-excluded',
    'frames of all rows but one, merged of two for each row',
    `SELECT max(s) FROM (SELECT sum(a) OVER (ORDER BY a ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING EXCLUDE CURRENT ROW) s FROM ${many} a) x`,
  ],
  [
    'in-subquery',
    'IN with a set of 10^8',
    `SELECT count(*) FROM app WHERE num IN (SELECT a * 1000 + b FROM ${many} a, generate_series(1, 100) b)`,
  ],
  [
    'correlated',
    'a correlated subquery over all rows',
    'SELECT count(*) FROM app a WHERE num = (SELECT max(num) FROM app b WHERE b.level = a.level AND b.num <> a.num)',
  ],
  [
    'json-huge',
    'JSON of a million members read for each row',
    `SELECT sum(json_array_length(('[' || lpad('', 1999998, '1,') || a::text || ']')::json)) FROM ${many} a`,
  ],
  [
    'regex-rows',
    'one of the table: a regular expression that compiles to 1,000 states, 10^6 rows of 1,000 characters',
    `SELECT count(*) FROM ${many} a WHERE lpad(a::text, 1000, 'a') ~ '(a{1,100}){1,10}b'`,
  ],
  [
    'regex-count',
    'the same, counted',
    `SELECT sum(regexp_count(lpad(a::text, 1000, 'a'), 'a{1,100}a{1,100}b')) FROM ${many} a`,
  ],
  [
    'like-rows',
    'LIKE with many % over long texts',
    `SELECT count(*) FROM ${many} a WHERE lpad(a::text, 1000, 'ab') LIKE '%${'a%b%'.repeat(60)}z'`,
  ],
  [
    'array-contains',
    'containment of large arrays: n times m',
    'SELECT array_agg(a) @> array_agg(a) FROM generate_series(1, 1000000) a',
  ],
  [
    'unions',
    '150 UNION ALLs of a cross join',
    repeated(150, `SELECT count(*) FROM ${many} a`, ' UNION ALL '),
  ],
  [
    'except',
    'EXCEPT of 10^8 rows',
    `SELECT a * 1000 + b FROM ${many} a, generate_series(1, 100) b EXCEPT SELECT 1`,
  ],
  [
    'grouping-sets',
    '64 grouping sets over a million rows',
    `SELECT count(*) FROM (SELECT a % 10, a % 11, count(*) FROM ${many} a GROUP BY CUBE(a % 10, a % 11, a % 12, a % 13, a % 14, a % 15)) x`,
  ],
  [
    'constants',
    'what the engine folds before it looks at the time',
    "SELECT length(md5(lpad(md5('x'), 1000000000, 'x'))), length(md5(lpad(md5('y'), 1000000000, 'y')))",
  ],
];

/** Of those above, the ones that the tests run: as many as fit into their time, of different kinds. */
const tested: ReadonlySet<string> = new Set([
  'recursion',
  'series-extreme',
  'series-overflow',
  'series-times',
  'replace-nested',
  'lpad',
  'regex-rows',
  'array-contains',
  'cross-join',
]);

export const queryAttacks: readonly Attack[] = [
  ...endless.map(([name, aim, sql]) =>
    sqlAttack({
      name: `query-${name}`,
      aim,
      codes: bounded,
      sql: () => sql,
      ...(tested.has(name) ? {} : { fullOnly: true }),
    }),
  ),
  sqlAttack({
    name: 'regex-thrice',
    aim: 'regular expressions over blocks that take longer than a query may: the time-out is looked at between blocks',
    times: 3,
    codes: bounded,
    fullOnly: true,
    sql: (_, request) =>
      `SELECT count(*) + ${request} FROM ${many} a WHERE lpad(a::text, 1000, 'a') ~ '(a{1,100}){1,10}b'`,
  }),
  sqlAttack({
    name: 'slots',
    aim: '12 endless queries at once: do they hold all slots?',
    times: 12,
    codes: bounded,
    fullOnly: true,
    sql: (_, request) => `SELECT count(*) + ${request} FROM ${many} a, ${many} b WHERE a % 7 = b % 5`,
  }),
  sqlAttack({
    name: 'memory-together',
    aim: 'six queries that each stay below the memory that one may have',
    times: 6,
    codes: bounded,
    fullOnly: true,
    sql: (_, request) =>
      `SELECT length(string_agg(lpad(a::text, 300, 'x'), '')) + ${request} FROM ${many} a, generate_series(1, 4) b`,
  }),
  {
    name: 'slow-reader',
    aim: 'four results of a million rows to clients that do not read them',
    codes: bounded,
    run: (attacker, size) =>
      flood(pick([4, 2], size), 4, (index) =>
        attacker.query(`SELECT a, lpad(a::text, 100, 'x'), ${index} FROM ${many} a`, {
          readAfterMs: pick([4000, 300], size),
        }),
      ),
  },
  {
    name: 'large-results',
    aim: 'a million rows in each form of a result',
    codes: bounded,
    run: (attacker, size) =>
      Promise.all(
        ['json', 'ndjson', 'csv', 'arrow', 'parquet'].map((format) =>
          attacker.query(
            `SELECT a, a / 3.0 AS b, a::text AS c FROM generate_series(1, ${pick([900_000, 20_000], size)}) a`,
            {
              path: `/api/v1/query?format=${format}`,
            },
          ),
        ),
      ),
  },
  {
    name: 'leaving-at-once',
    aim: '100 clients that go away while their endless query runs',
    run: (attacker, size) =>
      flood(pick([100, 20], size), 20, (index) =>
        attacker.query(`SELECT count(*) + ${index} FROM ${many} a, ${many} b`, { leaveAfterMs: 30 }),
      ),
  },
  {
    name: 'leaving-in-result',
    aim: '30 clients that go away in the middle of a result',
    run: (attacker, size) =>
      flood(pick([30, 5], size), 10, () =>
        attacker.query(`SELECT a, lpad(a::text, 100, 'x') FROM ${many} a`, {
          leaveAfterMs: 200,
          readAfterMs: 60_000,
        }),
      ),
  },
  {
    name: 'queued-queries',
    aim: '300 queries at once, more than may wait',
    codes: bounded,
    run: (attacker, size) =>
      flood(pick([300, 120], size), 300, (index) =>
        attacker.query(`SELECT count(*) + ${index} FROM generate_series(1, 200000) a`),
      ),
  },
  {
    name: 'counts-bins',
    aim: 'counts of 250 years in as many bins as there may be, 10 at once',
    run: (attacker, size) =>
      flood(pick([40, 4], size), 10, (index) =>
        attacker.send({
          as: 'reader',
          method: 'POST',
          path: '/api/v1/counts',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            stream: 'app',
            startTime: '1970-01-01 00:00:00',
            endTime: `2219-01-01 00:00:${String(index % 60).padStart(2, '0')}`,
            numBins: 10_000,
          }),
        }),
      ),
  },
];

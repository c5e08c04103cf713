import type { Answer } from './answer.ts';
import { type Attack, flood, pick, repeated, type Size, wrapped } from './attack.ts';
import type { Attacker, Party } from './attacker.ts';

/** Attacks by live tails, which are connections without an end. */

const path = '/api/v1/logstream/app/tail';
const codes = [
  'overloaded',
  'dataset_not_found',
  'bad_request',
  'bad_json',
  'body_too_large',
  'bad_header',
  'headers_too_large',
  'forbidden',
  'sql_syntax',
  'sql_too_large',
  'sql_too_complex',
  'sql_unknown_column',
  'sql_unsupported',
  'sql_type',
  'sql_unknown_function',
  'query_timeout',
];

interface TailOptions {
  readonly as?: Party;
  readonly where?: string;
  readonly leaveAfterMs: number;
  readonly readAfterMs?: number;
}

const tail = (attacker: Attacker, { as = 'analyst', where, leaveAfterMs, readAfterMs = 0 }: TailOptions) =>
  attacker.send({
    as,
    path,
    leaveAfterMs,
    readAfterMs,
    ...(where === undefined
      ? {}
      : {
          method: 'POST' as const,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ where }),
        }),
  });

/** Rows for the tails, until they have ended. */
async function whileRowsArrive(
  attacker: Attacker,
  size: Size,
  tails: readonly Promise<Answer>[],
): Promise<readonly Answer[]> {
  const filler = 'x'.repeat(pick([5000, 50], size));
  const events = JSON.stringify(
    Array.from({ length: pick([500, 20], size) }, (_, num) => ({ level: 'info', num, text: filler })),
  );
  const sent = flood(pick([60, 4], size), 3, () => attacker.ingest(events));
  return [...(await Promise.all(tails)), ...(await sent)];
}

export const tailAttacks: readonly Attack[] = [
  {
    name: 'tails-many',
    aim: '300 live tails of a tenant that may have 16, each with a condition of its own, while rows arrive',
    codes,
    run: (attacker, size) =>
      whileRowsArrive(
        attacker,
        size,
        Array.from({ length: pick([300, 24], size) }, (_, index) =>
          tail(attacker, { where: `num % ${index + 2} = 1`, leaveAfterMs: pick([7000, 1500], size) }),
        ),
      ),
  },
  {
    name: 'tails-slow-readers',
    aim: '16 live tails that read nothing for seven seconds, while megabytes arrive',
    codes,
    run: (attacker, size) =>
      whileRowsArrive(
        attacker,
        size,
        Array.from({ length: 16 }, (_, index) =>
          tail(attacker, {
            as: index % 2 === 0 ? 'analyst' : 'admin',
            leaveAfterMs: pick([7500, 1500], size),
            readAfterMs: pick([7000, 1000], size),
          }),
        ),
      ),
  },
  {
    name: 'tails-churn',
    aim: '1,500 live tails that come and go at once',
    codes,
    run: (attacker, size) =>
      flood(pick([1500, 30], size), 30, (index) =>
        tail(attacker, {
          ...(index % 2 === 0 ? {} : { where: `num > ${index}` }),
          leaveAfterMs: 1 + (index % 40),
        }),
      ),
  },
  {
    name: 'tail-conditions',
    aim: 'conditions that are long, deep, slow, or other statements, and positions that are none',
    codes,
    run: async (attacker, size) => {
      const leaveAfterMs = pick([6000, 1500], size);
      const conditions = [
        `${wrapped(20_000, '(', 'true', ')')}`,
        repeated(20_000, (index) => `num = ${index}`, ' OR '),
        'x'.repeat(200_000),
        'true) UNION ALL SELECT * FROM app WHERE (true',
        'true; DROP TABLE app',
        'true LIMIT 1 -- ',
        `text ~ '${'(a*)*'.repeat(500)}'`,
        'num IN (SELECT a.num FROM app a, app b, app c)',
        "level = 'info' OR (SELECT count(*) FROM generate_series(1, 100000000)) > 0",
        'pg_sleep(100) IS NULL',
        `text LIKE '${'%a'.repeat(2000)}'`,
      ];
      const ids = ['x', '0'.repeat(64), '-1-1-1', `9${'9'.repeat(40)}-1-x`, 'x'.repeat(10_000), '\u00e9'];
      return Promise.all([
        ...conditions.map((where) => tail(attacker, { where, leaveAfterMs })),
        ...conditions.slice(3).map((where) => tail(attacker, { as: 'reader', where, leaveAfterMs })),
        ...ids.map((id) =>
          attacker.send({ as: 'analyst', path, headers: { 'last-event-id': id }, leaveAfterMs }),
        ),
      ]);
    },
  },
];

import type { Answer } from './answer.ts';
import { type Attack, flood, pick } from './attack.ts';
import type { Attacker, HostileRequest } from './attacker.ts';

/** Attacks by exports, whose results have no bound, and by backups. */

const exported = (
  attacker: Attacker,
  query: string,
  options: Partial<HostileRequest> = {},
): Promise<Answer> =>
  attacker.send({
    as: 'exporter',
    method: 'POST',
    path: '/api/v1/query?export=true',
    headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
    body: JSON.stringify({ query }),
    ...options,
  });

const bounded = [
  'overloaded',
  'query_timeout',
  'query_memory',
  'store_unavailable',
  'forbidden',
  'sql_failed',
  'sql_too_large',
  'sql_out_of_range',
];

export const exportAttacks: readonly Attack[] = [
  {
    name: 'export-unread',
    aim: 'exports that nobody reads, by three keys: places of exports, connections to the store',
    codes: bounded,
    run: (attacker, size) =>
      Promise.all(
        (['exporter', 'admin', 'exporter'] as const).map((as) =>
          exported(attacker, "SELECT a, lpad('', 1000, 'x') FROM generate_series(1, 9000000) a", {
            as,
            readAfterMs: pick([9000, 100], size),
            leaveAfterMs: pick([9000, 200], size),
          }),
        ),
      ),
  },
  {
    name: 'export-many',
    aim: '300 exports, 30 at a time, each left at once',
    codes: bounded,
    run: (attacker, size) =>
      flood(pick([300, 6], size), 30, (index) =>
        exported(attacker, `SELECT a + ${index} FROM generate_series(1, 3000000) a`, { leaveAfterMs: 100 }),
      ),
  },
  {
    name: 'export-sort',
    aim: 'exports that sort and group on disk',
    codes: bounded,
    run: (attacker, size) => {
      const rows = pick([9_000_000, 10_000], size);
      return Promise.all([
        exported(attacker, `SELECT md5(a::text) AS k FROM generate_series(1, ${rows}) a ORDER BY k`, {
          leaveAfterMs: pick([8000, 1000], size),
        }),
        exported(
          attacker,
          `SELECT md5(a::text) AS k, count(*) FROM generate_series(1, ${rows}) a GROUP BY 1`,
          {
            as: 'admin',
            leaveAfterMs: pick([8000, 1000], size),
          },
        ),
      ]);
    },
  },
  {
    name: 'export-cross-join',
    aim: 'an export that ends in an hour, of a join without an end',
    codes: bounded,
    run: (attacker, size) =>
      Promise.all(
        (['exporter', 'admin'] as const).map((as) =>
          exported(
            attacker,
            'SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b',
            {
              as,
              leaveAfterMs: pick([8000, 200], size),
            },
          ),
        ),
      ),
  },
  {
    name: 'export-not-allowed',
    aim: 'exports of those who may read, and not export',
    codes: ['forbidden'],
    run: (attacker, size) =>
      flood(pick([300, 10], size), 30, () => exported(attacker, 'SELECT * FROM app', { as: 'analyst' })),
  },
  {
    name: 'backup-not-allowed',
    aim: 'backups by the administrator of a tenant, of names that are paths',
    codes: ['forbidden', 'bad_backup_name', 'not_found', 'headers_too_large'],
    run: (attacker, size) => {
      const names = ['x', '..%2F..%2Fetc', '%00', '.', 'a'.repeat(10_000), 'x.incomplete'];
      return flood(pick([300, 12], size), 30, (index) =>
        attacker.send({
          as: index % 2 === 0 ? 'admin' : 'reader',
          method: index % 3 === 0 ? 'GET' : 'PUT',
          path: `/api/v1/backups/${names[index % names.length]}`,
        }),
      );
    },
  },
];

import { setTimeout as sleep } from 'node:timers/promises';
import { administer, make, remove } from './administer.ts';
import type { Answer } from './answer.ts';
import { type Attack, flood, pick, repeated, wrapped } from './attack.ts';
import type { Attacker } from './attacker.ts';

/** Attacks by the alerts of one tenant: their bodies, their queries, their number. */

const path = '/api/v1/alerts';
const codes = [
  'bad_alert',
  'bad_json',
  'bad_request',
  'body_too_large',
  'document_too_large',
  'document_changed',
  'too_many_documents',
  'overloaded',
  'not_found',
  'query_timeout',
  'query_memory',
  'sql_syntax',
  'sql_too_large',
  'sql_too_complex',
  'sql_unknown_column',
  'sql_unknown_relation',
  'sql_unsupported',
  'sql_failed',
];

const alert = (title: string, members: object = {}) => ({
  title,
  query: 'SELECT count(*) FROM app',
  queryType: 'code',
  thresholdConfig: { operator: '>', value: 0 },
  evalConfig: { rollingWindow: { evalStart: '1h' } },
  frequencySeconds: 5,
  delaySeconds: 0,
  ...members,
});
const everyRow = { thresholdConfig: null };
const listed = (attacker: Attacker) => attacker.send({ as: 'admin', path: `${path}?limit=1000` });

interface EvaluatedOptions {
  readonly atATime: number;
  readonly forMs: number;
}

/** Makes alerts, looks at them while they are evaluated, and deletes them. */
async function evaluated(
  attacker: Attacker,
  bodies: readonly object[],
  { atATime, forMs }: EvaluatedOptions,
): Promise<readonly Answer[]> {
  const made = await flood(bodies.length, atATime, (index) => make(attacker, path, bodies[index]));
  const ids = made.map(({ id }) => id).filter((id) => id !== '');
  const asked: Answer[] = [];
  for (const deadline = performance.now() + forMs; performance.now() < deadline && !attacker.isStopped; ) {
    const id = ids[asked.length % Math.max(1, ids.length)] ?? 'none';
    asked.push(await listed(attacker), await attacker.send({ as: 'admin', path: `${path}/${id}/instances` }));
    await sleep(20);
  }
  const deleted = await flood(ids.length, atATime, (index) => remove(attacker, `${path}/${ids[index]}`));
  return [...made.map(({ answer }) => answer), ...asked, ...deleted];
}

export const alertAttacks: readonly Attack[] = [
  {
    name: 'alert-bodies',
    aim: 'bodies of up to a megabyte that are no alert: deep, of 10,000 labels, tags, targets and annotations',
    codes,
    run: (attacker) => {
      const many = <T>(count: number, of: (index: number) => T) =>
        Array.from({ length: count }, (_, i) => of(i));
      const bodies: readonly unknown[] = [
        wrapped(100_000, '[', '', ']'),
        `{"title":"x","deep":${wrapped(20_000, '[', '', ']')}}`,
        `{${repeated(20_000, (i) => `"a${i}":1`, ',')}}`,
        alert('x', { annotations: Object.fromEntries(many(10_000, (i) => [`label${i}`, 'x'])) }),
        alert('x', { annotations: { a: '{{ '.repeat(80_000) } }),
        alert('x', { annotations: { a: '{{a}}'.repeat(200) } }),
        alert('x', { tags: many(20_000, (i) => `t${i}`) }),
        alert('x', { targets: many(20_000, (i) => `t${i}`) }),
        alert('x'.repeat(200_000)),
        alert('x', { query: 'SELECT '.repeat(30_000) }),
        alert('x', { query: `SELECT ${wrapped(20_000, '(', '1', ')')} FROM app` }),
        alert('x', {
          query: `SELECT ${repeated(10_000, (i) => `'v' AS label${i}`, ', ')} FROM app`,
          ...everyRow,
        }),
        alert('x', { evalConfig: { rollingWindow: { evalStart: '1m '.repeat(60_000) } } }),
        alert('x', { evalConfig: { rollingWindow: { evalStart: '9'.repeat(60_000) } } }),
        alert('x', { frequencySeconds: 1e300, forSeconds: -1, delaySeconds: 1e-300 }),
        alert('x', { thresholdConfig: { operator: '>', value: '1e400' } }),
        alert('x', { filler: 'x'.repeat(1_000_000) }),
      ];
      return Promise.all(
        bodies.flatMap((body) => [
          administer(attacker, path, body, 'POST'),
          administer(attacker, `${path}/test`, body, 'POST'),
        ]),
      );
    },
  },
  {
    name: 'alert-previews',
    aim: 'previews over a month of queries that never end, 30 at a time, and of those who leave',
    codes,
    run: (attacker, size) =>
      flood(pick([60, 6], size), 30, (index) =>
        attacker.send({
          as: 'admin',
          method: 'POST',
          path: `${path}/test?over=31d`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(alert('preview', { query: endless })),
          leaveAfterMs: index % 2 === 0 ? 100 : pick([8000, 500], size),
        }),
      ),
  },
  {
    name: 'alert-slow',
    aim: '20 alerts every five seconds whose queries never end, sort millions of rows or return all of them',
    codes,
    run: (attacker, size) => {
      const rows = pick([9_000_000, 10_000], size);
      const queries = [
        endless,
        `SELECT count(*) FROM app, (SELECT md5(a::text) AS k FROM generate_series(1, ${rows}) a ORDER BY k) s`,
        `SELECT text, num AS value, md5(text) AS more FROM app`,
        `SELECT repeat('x', 100000) AS label, count(*) FROM app GROUP BY num`,
      ];
      const bodies = Array.from({ length: pick([20, 4], size) }, (_, index) =>
        alert(`slow ${index}`, {
          query: queries[index % queries.length],
          ...(index % queries.length >= 2 ? everyRow : {}),
          maxInstances: 500,
        }),
      );
      return evaluated(attacker, bodies, { atATime: 5, forMs: pick([3000, 500], size) });
    },
  },
  {
    name: 'alert-labels',
    aim: 'alerts whose 500 instances have 30 labels of 130 characters, new ones at each evaluation',
    codes,
    run: (attacker, size) => {
      const labels = repeated(29, (i) => `lpad('', 130, 'x${i}') AS label${i}`, ', ');
      const query = `SELECT (now() || ' ' || num) AS moment, ${labels}, num AS value FROM app LIMIT 500`;
      const bodies = Array.from({ length: pick([10, 2], size) }, (_, index) =>
        alert(`labels ${index}`, { query, ...everyRow, maxInstances: 500 }),
      );
      return evaluated(attacker, bodies, { atATime: 5, forMs: pick([6000, 500], size) });
    },
  },
  {
    name: 'alert-changes',
    aim: 'one alert that is disabled, enabled, muted, evaluated and replaced, 600 times, 20 at a time',
    codes: [...codes, 'revision_changed'],
    run: async (attacker, size) => {
      const { answer, id } = await make(attacker, path, alert('changing'));
      const changed = await flood(pick([600, 15], size), 20, (index) => {
        const at = `${path}/${id}`;
        if (index % 5 === 0) return administer(attacker, at, alert(`changed ${index}`));
        if (index % 5 === 1)
          return administer(attacker, `${at}/update_notification_state`, { state: '2h' }, 'PATCH');
        if (index % 5 === 2) return administer(attacker, `${at}/evaluate_alert`, '', 'PUT');
        return administer(attacker, `${at}/${index % 5 === 3 ? 'disable' : 'enable'}`, '', 'PATCH');
      });
      const kept = await flood(pick([100, 4], size), 20, () =>
        attacker.send({ as: 'admin', path: `${path}/${id}/revisions` }),
      );
      return [answer, ...changed, ...kept, await remove(attacker, `${path}/${id}`)];
    },
  },
  // It runs last of all: the time for one attack may not suffice to delete them.
  {
    name: 'alerts-many',
    aim: '1,000 alerts every five seconds, as many as there may be, and the list of them',
    codes,
    run: (attacker, size) => {
      const bodies = Array.from({ length: pick([1010, 10], size) }, (_, index) => alert(`many ${index}`));
      return evaluated(attacker, bodies, { atATime: 50, forMs: pick([1500, 300], size) });
    },
  },
];

const endless =
  'SELECT count(*) AS value FROM app a, app b, app c WHERE a.num + b.num + c.num % 7 = 3 AND a.text < c.text';

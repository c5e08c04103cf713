import { afterAll, afterEach, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { type Attack, repeated } from '../../bench/hostile/attack.ts';
import { type AttackSetup, openAttackSetup } from '../../bench/hostile/attack-setup.ts';
import { attacks } from '../../bench/hostile/attacks.ts';
import { isAllowed } from '../../bench/hostile/judge.ts';
import { shownAnswers } from '../../bench/hostile/shown-answers.ts';
import { answers } from '../support/service/service.ts';

/**
 * The attacks of `npm run torture -- --hostile` at sizes that cost little time: each request gets an answer
 * that it may have, the process lives on, and a victim is served afterwards. How long others wait is
 * measured there and not here.
 */
/** Each request of an attack has 16 seconds for its answer. */
const attackTimeoutMs = 40_000;

let setup: AttackSetup;
beforeAll(async () => {
  setup = await openAttackSetup({ queryTimeoutMs: 1000, events: 1000 });
}, 60_000);
afterAll(() => setup?.service.dispose());

// What one attack stops is that one's failure, and not that of all that follow.
afterEach(async () => {
  const { service } = setup;
  if (service.child.exit === undefined && (await answers(`${service.url}/api/v1/liveness`, 10_000))) return;
  await service.kill();
  await service.restart();
});

/** What the victim is answered: a text that nobody has asked before, and an event. */
async function victimIsServed(asked: number): Promise<void> {
  const { url, headers } = setup.victim;
  const send = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'x-p-stream': 'app' },
      body: JSON.stringify(body),
    });
  const query = await send('/api/v1/query', {
    query: `SELECT count(*) > 0 AS found FROM app WHERE num < ${1e6 + asked}`,
  });
  expect([query.status, await query.json()]).toEqual([200, [{ found: true }]]);
  const ingest = await send('/api/v1/ingest', [{ level: 'info', num: asked }]);
  expect([ingest.status, await ingest.json()]).toMatchObject([200, { accepted: 1 }]);
  expect((await fetch(`${url}/api/v1/liveness`)).status).toBe(200);
}

let asked = 0;

async function check(attack: Attack): Promise<void> {
  onTestFailed(() => {
    process.stderr.write(`${setup.service.child.report()}\n`);
  });
  const attacker = await setup.attacker();
  const replies = await attack.run(attacker, 'small');
  attacker.end();
  expect(shownAnswers(replies.filter((answer) => !isAllowed(answer, attack)))).toBe('');
  const { codes } = attack;
  if (codes !== undefined) {
    // What is refused before anybody reads it as a request has no code, and OTLP has errors of its own.
    const others = replies.filter(({ code }) => code !== undefined && !codes.includes(code));
    expect(shownAnswers(others)).toBe('');
  }
  expect(replies.length).toBeGreaterThan(0);
  expect(setup.service.child.exit).toBe(undefined);
  asked += 1;
  await victimIsServed(asked);
}

describe.each(Object.entries(attacks))('%s', (_, some) => {
  const tested = some.filter(({ fullOnly }) => fullOnly !== true);
  test.each(tested.map((attack) => [attack.name, attack] as const))(
    '%s',
    (_, attack) => check(attack),
    attackTimeoutMs,
  );
});

test('attacks have names of their own, and say what they go after', () => {
  const all = Object.values(attacks).flat();
  expect(all.length).toBeGreaterThan(75);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.filter(({ aim }) => aim === '' || aim.includes('\n'))).toEqual([]);
});

test('the slots of queries are as many as before', async () => {
  const attacker = await setup.attacker();
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) => attacker.query(`SELECT ${repeated(10, `${index}`, ', ')}`)),
  );
  attacker.end();
  expect(shownAnswers(replies)).toBe('8 x 200');
});

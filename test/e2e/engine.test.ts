import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../src/limits/limits.ts';
import { enginePid, isGone } from '../support/lib/child.ts';
import { seededRandom } from '../support/lib/random.ts';
import { testSeed } from '../support/lib/seed.ts';
import { readStored } from '../support/service/numbered-batches.ts';
import { compareBatches } from '../support/service/sent-and-stored.ts';
import { authorization, Service } from '../support/service/service.ts';
import { startSenders } from '../support/service/steady-senders.ts';

const engineOf = (service: Service): number => enginePid(join(service.dataDir, 'store'));

async function start(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const service = await Service.start({ env });
  onTestFinished(() => service.dispose());
  return service;
}

/**
 * Minutes of work for one core during which the engine does not notice a cancellation: the pattern has more
 * states than RE2 caches, so each row takes a millisecond, and a block has 16,384. The text is made within
 * the query timeout of this test.
 */
const hex = Array.from({ length: 32 }, (_, index) => `md5((a + ${index})::text)`).join(' || ');
const endless = `SELECT count(*) FROM generate_series(1, 100000) a WHERE (${hex}) ~ '[0-7].{250}x'`;

const ask = (service: Service, query: string): Promise<Response> =>
  fetch(`${service.url}/api/v1/query`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });

test('SIGKILL to the engine under load loses nothing that was acknowledged and doubles nothing', async () => {
  const rounds = 5;
  const seed = testSeed;
  const random = seededRandom(seed);
  const service = await start({ MILLRACE_FLUSH_INTERVAL_MS: '100' });
  const senders = startSenders(service, random);
  for (let round = 0; round < rounds; round += 1) {
    const before = engineOf(service);
    const wanted = senders.acknowledgedRows + 500;
    while (senders.acknowledgedRows < wanted && !senders.failed) await sleep(20);
    await sleep(random.integer(0, 300));
    process.kill(before, 'SIGKILL');
    // Between two engines there is none.
    await expect.poll(() => ![before, Number.NaN].includes(engineOf(service))).toBe(true);
  }
  await senders.stop();
  await service.drained();
  const { problems } = compareBatches(senders.sent, await readStored(service));
  expect(problems, `seed ${seed}`).toEqual([]);
  expect(await service.metric('millrace_engine_restarts_total')).toBeGreaterThanOrEqual(rounds);
}, 240_000);

test('a query that does not stop is answered at its time-out, and ends with the engine', async () => {
  const service = await start({ MILLRACE_QUERY_TIMEOUT_MS: '2000' });
  expect(await service.ingest('app', [{ there: true }])).toBe(1);
  await service.drained();
  const before = engineOf(service);
  const stuck = await ask(service, endless);
  expect([stuck.status, await stuck.json()]).toEqual([
    408,
    expect.objectContaining({ code: 'query_timeout' }),
  ]);
  expect(isGone(before)).toBe(false);
  await expect.poll(() => isGone(before)).toBe(true);
  await expect.poll(() => service.metric('millrace_store_up')).toBe(1);
  const refused = await ask(service, 'SELECT 1');
  expect([refused.status, await refused.json()]).toEqual([
    429,
    expect.objectContaining({ code: 'queries_paused' }),
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // Statements of the service itself continue.
  expect(await service.ingest('app', [{ there: true }])).toBe(1);
  await service.drained();
});

test('SIGTERM ends the service in its time while queries do not stop', async () => {
  const service = await start();
  const engine = engineOf(service);
  const queries = Array.from({ length: 3 }, () => ask(service, endless).catch(() => undefined));
  await sleep(2000);
  const exit = await service.child.stop(
    'SIGTERM',
    limits.shutdownRequestsMs + limits.shutdownDrainMs + 20_000,
  );
  expect(exit, service.child.report()).toEqual({ code: 0, signal: null });
  expect(isGone(engine)).toBe(true);
  await Promise.all(queries);
});

test('the engine ends with a service that is killed, and the next one opens its directory', async () => {
  const service = await start();
  expect(await service.ingest('app', [{ there: true }])).toBe(1);
  const engine = engineOf(service);
  void ask(service, endless).catch(() => undefined);
  await sleep(1000);
  // Only the service's process, as the kernel does when memory is short.
  process.kill(service.child.pid, 'SIGKILL');
  await expect.poll(() => isGone(engine)).toBe(true);
  await service.child.ended();
  await service.restart();
  await service.drained();
  const [row] = await service.query('SELECT count(*) AS n FROM app');
  expect(Number(row?.['n'])).toBe(1);
});

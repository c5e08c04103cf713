import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Random, seededRandom } from '../support/lib/random.ts';
import { testSeed } from '../support/lib/seed.ts';
import { readStored, sendBatch } from '../support/service/numbered-batches.ts';
import { compareBatches, type SentBatch } from '../support/service/sent-and-stored.ts';
import { authorization, Service, type ServiceClient, UnexpectedReply } from '../support/service/service.ts';

const multiTenant = { MILLRACE_MULTI_TENANT: 'true' };

/** Of all tests but the last, each with tenants of its own. */
let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { ...multiTenant, MILLRACE_FLUSH_INTERVAL_MS: '100' } });
}, 60_000);
afterAll(() => service?.dispose());

async function administer(method: string, tenant: string, at = service): Promise<void> {
  const reply = await fetch(`${at.url}/api/v1/tenants/${tenant}`, {
    method,
    headers: { authorization },
  });
  expect([method, tenant, reply.status]).toEqual([method, tenant, 200]);
}

/**
 * Those of these tenants, in all their lives, that the embedded engine has databases of, as its own files
 * say.
 */
const databases = (tenants: readonly string[], at = service): string[] =>
  readdirSync(join(at.dataDir, 'store/engine/metadata'))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => decodeURIComponent(name.slice(0, -'.sql'.length)))
    .filter((name) => tenants.some((tenant) => name === `t_${tenant}` || name.startsWith(`t_${tenant}.`)))
    .sort();

interface Sender {
  readonly client: ServiceClient;
  readonly sent: SentBatch[];
}

/** Waits for that many more batches of each kind to be acknowledged. */
async function acknowledged({ sent }: Sender, count: number): Promise<void> {
  const from = sent.length;
  for (const kind of ['events', 'samples']) {
    const more = () => sent.slice(from).filter((batch) => batch.kind === kind && batch.acknowledged).length;
    while (more() < count) await sleep(20);
  }
}

/** Sends on three connections until told to stop; a request that got no answer then is no failure. */
async function sendUntil(stopped: () => boolean, { client, sent }: Sender, random: Random): Promise<void> {
  const sendOn = async (kind: SentBatch['kind']): Promise<void> => {
    while (!stopped()) {
      const batch: SentBatch = {
        kind,
        number: sent.length,
        rows: random.integer(1, 100),
        acknowledged: false,
      };
      sent.push(batch);
      try {
        await sendBatch(client, batch);
        batch.acknowledged = true;
      } catch (error) {
        if (error instanceof UnexpectedReply && error.status === 503) await sleep(20);
        else if (!stopped() || error instanceof UnexpectedReply) throw error;
      }
    }
  };
  await Promise.all([sendOn('events'), sendOn('events'), sendOn('samples')]);
}

test('SIGKILL under load leaves each tenant its own rows, all that were acknowledged, in datasets of equal names', async () => {
  const seed = testSeed;
  const random = seededRandom(seed);
  const tenants = ['acme', 'globex'];
  for (const tenant of tenants) await administer('PUT', tenant);
  const senders = tenants.map((tenant): Sender => ({ client: service.within(tenant), sent: [] }));
  for (let round = 0; round < 2; round += 1) {
    let killed = false;
    const sending = senders.map((sender) => sendUntil(() => killed, sender, random));
    await Promise.all(senders.map((sender) => acknowledged(sender, 3)));
    await sleep(random.integer(0, 1000));
    killed = true;
    await service.kill();
    await Promise.all(sending);
    await service.restart();
  }
  await service.drained();
  for (const { client, sent } of senders) {
    const { problems, lostRows, duplicatedRows } = compareBatches(sent, await readStored(client));
    expect({ problems, lostRows, duplicatedRows }, `seed ${seed}`).toEqual({
      problems: [],
      lostRows: 0,
      duplicatedRows: 0,
    });
  }
  expect(databases(tenants)).toEqual(['t_acme', 't_globex']);
}, 180_000);

test('a tenant deleted under load is gone, another one is not touched, and its name starts empty', async () => {
  for (const tenant of ['initech', 'hooli']) await administer('PUT', tenant);
  const random = seededRandom(7);
  const [initech, hooli] = ['initech', 'hooli'].map(
    (tenant): Sender => ({ client: service.within(tenant), sent: [] }),
  ) as [Sender, Sender];
  let stopped = false;
  const deleted = sendUntil(() => stopped, initech, random).catch((error: unknown) => error);
  const kept = sendUntil(() => stopped, hooli, random);
  await Promise.all([acknowledged(initech, 10), acknowledged(hooli, 10)]);
  await administer('DELETE', 'initech');
  // Who sends to it is told that it is not there, and nothing worse.
  expect(await deleted).toMatchObject({ status: 404, body: expect.stringContaining('tenant_not_found') });
  await administer('PUT', 'initech');
  await acknowledged(hooli, 3);
  stopped = true;
  await kept;
  await service.drained();
  expect(compareBatches(hooli.sent, await readStored(hooli.client)).problems).toEqual([]);

  const unknown = service.within('initech').query('SELECT count(*) FROM numbered_events');
  await expect(unknown).rejects.toMatchObject({ body: expect.stringContaining('sql_unknown_relation') });
  // The series of these samples were known to the decoders, and the bodies to the window of repetitions.
  const again: SentBatch[] = initech.sent
    .filter((batch) => batch.acknowledged)
    .slice(0, 20)
    .map((batch) => ({ ...batch, acknowledged: false }));
  for (const batch of again) {
    await sendBatch(initech.client, batch, { keyed: true });
    batch.acknowledged = true;
  }
  await service.drained();
  expect(compareBatches(again, await readStored(initech.client)).problems).toEqual([]);
  expect(databases(['initech', 'hooli'])).toEqual(['t_hooli', 't_initech.2']);
  expect(service.child.stderr).not.toContain('"level":"error"');
}, 120_000);

test('each tenant has an audit relation of its own', async () => {
  const count = 'SELECT code, count(*) AS n FROM millrace_audit WHERE audit = $$denied$$ GROUP BY code';
  for (const tenant of ['acorp', 'bcorp']) {
    await administer('PUT', tenant);
    const headers = { 'x-p-tenant': tenant, 'x-api-key': 'guess' };
    // More of them for acorp, and beyond what is said in a second.
    for (let guess = 0; guess < (tenant === 'acorp' ? 40 : 3); guess += 1) {
      expect((await fetch(`${service.url}/api/v1/users`, { headers })).status).toBe(401);
    }
  }
  const [acorp, bcorp] = [service.within('acorp'), service.within('bcorp')];
  const three = [{ code: 'unauthenticated', n: 3 }];
  await expect.poll(() => bcorp.query(count).catch(() => [])).toEqual(three);
  await service.drained();
  expect(await bcorp.query('SELECT max(left_out) AS n FROM millrace_audit')).toEqual([{ n: 0 }]);
  expect(await bcorp.query('SELECT DISTINCT target FROM millrace_audit')).toEqual([{ target: '' }]);
  const [own] = await acorp.query(count);
  expect(own?.['n']).toBeGreaterThanOrEqual(20);
  const made =
    "SELECT target FROM millrace_audit WHERE audit = 'tenant.create' AND target LIKE '%corp' ORDER BY target";
  expect(await service.within('default').query(made)).toEqual([{ target: 'acorp' }, { target: 'bcorp' }]);
}, 60_000);

test('what waits in the log of a deleted tenant goes with it, across a SIGKILL', async () => {
  // Long enough for nothing to be stored before the kill.
  const service = await Service.start({ env: { ...multiTenant, MILLRACE_FLUSH_INTERVAL_MS: '60000' } });
  onTestFinished(() => service.dispose());
  for (const tenant of ['acme', 'globex']) await administer('PUT', tenant, service);
  const [acme, globex] = [service.within('acme'), service.within('globex')];
  await acme.ingest('app', [{ of: 'the first acme' }], 'key');
  await globex.ingest('app', [{ of: 'globex' }]);
  await administer('DELETE', 'acme', service);
  await administer('PUT', 'acme', service);
  await acme.ingest('app', [{ of: 'the second acme' }], 'key');
  expect(await service.metric('millrace_store_inserted_rows_total')).toBe(0);
  await service.kill();
  await service.restart();
  await service.drained();
  expect(await acme.query('SELECT "of" FROM app')).toEqual([{ of: 'the second acme' }]);
  expect(await globex.query('SELECT "of" FROM app')).toEqual([{ of: 'globex' }]);
  // And four of the audit relation, about what was done to tenants.
  expect(await service.metric('millrace_store_inserted_rows_total')).toBe(2 + 4);
  expect(databases(['acme', 'globex'], service)).toEqual(['t_acme.2', 't_globex']);
}, 60_000);

import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/limits/limits.ts';
import { ClickHouseServer } from '../support/clickhouse/clickhouse-server.ts';
import { WebhookReceiver } from '../support/http/webhook-receiver.ts';
import { authorization, Service } from '../support/service/service.ts';

let server: ClickHouseServer;
let receiver: WebhookReceiver;
let nodes: readonly Service[];
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  server = await ClickHouseServer.start();
  const env = {
    MILLRACE_CLICKHOUSE_URL: server.url,
    MILLRACE_SECRET: 'the same on all nodes, and long enough',
    MILLRACE_TARGET_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  nodes = await Promise.all([Service.start({ env }), Service.start({ env })]);
}, 120_000);
afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.dispose()));
  await server?.dispose();
  await receiver?.stop();
});

async function ok<T>(at: Service, method: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(`${at.url}/api/v1${path}`, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  expect([reply.status, text]).toEqual([200, text]);
  return (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as T;
}

const frequencyMs = limits.alertFrequencyMs[0];

/** When a node last evaluated the alert, if it is the one that does. */
async function evaluatedAt(at: Service, id: string): Promise<number | undefined> {
  const { lastEvaluation } = await ok<{ lastEvaluation?: { at: string } }>(
    at,
    'GET',
    `/alerts/${id}/instances`,
  );
  return lastEvaluation && Date.parse(lastEvaluation.at);
}

it('of several nodes one evaluates, and another one goes on when it is killed', async () => {
  const [one, two] = nodes;
  if (one === undefined || two === undefined) throw new Error('BUG: two nodes were started');
  await one.ingest('app', [{ n: 1 }]);
  await one.drained();
  const target = await ok<{ id: string }>(one, 'POST', '/targets', {
    name: 'hook',
    type: 'webhook',
    endpoint: receiver.url,
  });
  const { id } = await ok<{ id: string }>(one, 'POST', '/alerts', {
    title: 'Shared',
    query: 'SELECT count(*) FROM app',
    queryType: 'code',
    thresholdConfig: { operator: '>', value: 0 },
    evalConfig: { rollingWindow: { evalStart: '1d' } },
    frequencySeconds: frequencyMs / 1000,
    delaySeconds: 0,
    targets: [target.id],
  });
  const evaluating = async () => {
    const times = await Promise.all([one, two].map((node) => evaluatedAt(node, id)));
    return times.filter((time) => time !== undefined).length;
  };
  await expect.poll(evaluating).toBe(1);
  await expect.poll(() => receiver.about('Shared').length).toBe(1);
  const holder = (await evaluatedAt(one, id)) === undefined ? two : one;
  const other = holder === one ? two : one;
  // The one that does not evaluate shows the same state.
  await expect
    .poll(async () => (await ok<{ state: string }>(other, 'GET', `/alerts/${id}`)).state)
    .toBe('triggered');
  // What one node changes, the other one knows within moments: also what becomes of it.
  await ok(other, 'PATCH', `/alerts/${id}/disable`);
  await expect.poll(() => receiver.about('Shared').at(-1)?.body.status).toBe('resolved');
  await ok(other, 'PATCH', `/alerts/${id}/enable`);
  await expect.poll(() => receiver.about('Shared').at(-1)?.body.status).toBe('firing');
  const told = receiver.about('Shared').length;
  const lastMs = (await evaluatedAt(holder, id)) ?? 0;
  await holder.kill();
  await expect.poll(() => evaluatedAt(other, id), { timeout: 120_000 }).toBeGreaterThan(lastMs);
  const history = await ok<{ to: string; fingerprint?: string }[]>(other, 'GET', `/alerts/${id}/history`);
  expect(history.filter(({ fingerprint }) => fingerprint !== undefined).map(({ to }) => to)).toEqual([
    'firing',
    'inactive',
    'firing',
  ]);
  // It still fires, so there is nothing new to tell.
  expect(receiver.about('Shared')).toHaveLength(told);
  expect(new Set(receiver.received.map((each) => each.id)).size).toBe(receiver.received.length);
  // The new one goes on, and gives the lease back at its end: a third process need not wait.
  const takenMs = (await evaluatedAt(other, id)) ?? 0;
  await expect.poll(() => evaluatedAt(other, id)).toBeGreaterThan(takenMs);
  await holder.restart();
  await other.stop();
  await expect.poll(() => evaluatedAt(holder, id), { timeout: 120_000 }).toBeGreaterThan(takenMs);
}, 300_000);

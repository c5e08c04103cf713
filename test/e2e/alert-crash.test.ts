import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../support/notifications/receiver.ts';
import { authorization, Service } from '../support/service/service.ts';
import { administer } from '../support/service/tail-client.ts';

/**
 * What is promised of each transition of an alert: its target is told at least once, with one id, whoever is
 * killed or answers badly meanwhile.
 */

let service: Service;
beforeAll(async () => {
  service = await Service.start({
    env: { MILLRACE_TARGET_ALLOWED_NETWORKS: '127.0.0.0/8', MILLRACE_FLUSH_INTERVAL_MS: '100' },
  });
}, 120_000);
afterAll(() => service?.dispose());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver?.close());

const ok = (reply: ServerResponse): void => void reply.end('ok');
const send = <T>(method: string, path: string, body?: unknown) =>
  administer<T>(service.url, method, `/api/v1${path}`, body);

interface Delivery {
  readonly id: string;
  readonly status: 'waiting' | 'failed' | 'delivered';
  readonly notificationStatus: 'firing' | 'resolved';
  readonly tries: number;
  readonly lastTryAt?: string;
  readonly nextTryAt?: string;
  readonly lastError?: { readonly code: string; readonly status?: number };
}

/** An alert that fires while its dataset has an odd number of rows, with a target of its own. */
interface Watched {
  readonly id: string;
  /** One more row changes its state. */
  flip(): Promise<void>;
  deliveries(): Promise<readonly Delivery[]>;
  /** The transitions of its instance, in order. */
  transitions(): Promise<readonly string[]>;
}

async function watch(name: string): Promise<Watched> {
  const flip = async () => void (await service.ingest(name, [{ n: 1 }]));
  await flip();
  await service.drained();
  const target = await send<{ id: string }>('POST', '/targets', {
    name,
    type: 'webhook',
    endpoint: receiver.url,
  });
  const { id } = await send<{ id: string }>('POST', '/alerts', {
    title: name,
    query: `SELECT count(*) % 2 AS value FROM "${name}"`,
    queryType: 'code',
    thresholdConfig: { operator: '=', value: 1 },
    evalConfig: { rollingWindow: { evalStart: '1d' } },
    frequencySeconds: 5,
    delaySeconds: 0,
    targets: [target.id],
  });
  interface Transition {
    readonly to: string;
    readonly fingerprint?: string;
  }
  return {
    id,
    flip,
    deliveries: async () =>
      JSON.parse(await send<string>('GET', `/targets/${target.id}/deliveries`)) as Delivery[],
    transitions: async () =>
      (JSON.parse(await send<string>('GET', `/alerts/${id}/history`)) as Transition[])
        .filter(({ fingerprint }) => fingerprint !== undefined)
        .map(({ to }) => to)
        .toReversed(),
  };
}

/** What arrived, in order: the id and what it tells. */
const told = ({ received }: Receiver) =>
  received.map(({ headers, body }) => ({
    id: String(headers['webhook-id']),
    status: (JSON.parse(body) as { status: string }).status,
  }));
const arrived = (count: number) =>
  expect.poll(() => receiver.received.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(count);
const outcomes = async ({ deliveries }: Watched) =>
  (await deliveries()).map(({ status, notificationStatus }) => `${notificationStatus} ${status}`);

describe('the service is killed', () => {
  it('between the change of an alert and the reply to its notification', async () => {
    receiver.answer = () => {};
    const alert = await watch('stalled');
    for (const [index, transition] of ['firing', 'resolved'].entries()) {
      const before = receiver.received.length;
      if (index > 0) await alert.flip();
      await arrived(before + 1);
      const first = told(receiver)[before];
      expect(first?.status).toBe(transition);
      await service.kill();
      // What came of a notification that nobody answered can only be told by another try.
      expect(receiver.received).toHaveLength(before + 1);
      await service.restart();
      await arrived(before + 2);
      expect(told(receiver)[before + 1]).toEqual(first);
      // Killed while it tries again: the id stays.
      await service.kill();
      receiver.answer = ok;
      await service.restart();
      await arrived(before + 3);
      expect(told(receiver)[before + 2]).toEqual(first);
      await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toContain(`${transition} delivered`);
      receiver.answer = () => {};
    }
    expect(await alert.transitions()).toEqual(['firing', 'inactive']);
    expect(new Set(told(receiver).map(({ id, status }) => `${status} ${id}`)).size).toBe(2);
    expect(new Set(told(receiver).map(({ id }) => id)).size).toBe(2);
  }, 400_000);

  it('while the receiver is down: what was never sent is sent', async () => {
    const alert = await watch('unsent');
    const port = Number(new URL(receiver.url).port);
    await receiver.close();
    await expect
      .poll(async () => (await alert.deliveries())[0]?.lastError?.code, { timeout: 120_000 })
      .toBe('target_unreachable');
    const [waiting] = await alert.deliveries();
    expect([waiting?.status, waiting?.notificationStatus]).toEqual(['waiting', 'firing']);
    await service.kill();
    receiver = await startReceiver(port);
    await service.restart();
    await arrived(1);
    await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toEqual(['firing delivered']);
    expect(told(receiver)).toEqual([{ id: waiting?.id, status: 'firing' }]);
    expect(await alert.transitions()).toEqual(['firing']);
  }, 400_000);
});

describe('the receiver', () => {
  it('dies before its reply, and is back later', async () => {
    const port = Number(new URL(receiver.url).port);
    const died = new Promise<void>((resolve) => {
      receiver.answer = () => void receiver.close().then(resolve);
    });
    const alert = await watch('died');
    await died;
    const [first] = told(receiver);
    await expect
      .poll(async () => (await alert.deliveries())[0]?.tries, { timeout: 120_000 })
      .toBeGreaterThan(0);
    receiver = await startReceiver(port);
    await arrived(1);
    await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toEqual(['firing delivered']);
    expect(told(receiver)).toEqual([first]);
  }, 300_000);

  it('answers 500 twice and then 200', async () => {
    receiver.answer = (reply) => {
      reply.writeHead(receiver.received.length <= 2 ? 500 : 200).end();
    };
    const alert = await watch('failing');
    await arrived(1);
    await expect.poll(async () => (await alert.deliveries())[0]?.lastError?.status).toBe(500);
    await arrived(3);
    await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toEqual(['firing delivered']);
    expect((await alert.deliveries())[0]?.tries).toBe(3);
    expect(told(receiver)).toHaveLength(3);
    expect(new Set(told(receiver).map(({ id }) => id)).size).toBe(1);
  }, 300_000);

  it('answers 429 and says when to come back', async () => {
    const retryAfterSeconds = 12;
    receiver.answer = (reply) => {
      if (receiver.received.length > 1) reply.end('ok');
      else reply.writeHead(429, { 'retry-after': String(retryAfterSeconds) }).end();
    };
    const alert = await watch('busy');
    await expect
      .poll(async () => (await alert.deliveries())[0]?.lastError?.status, { timeout: 120_000 })
      .toBe(429);
    const [waiting] = await alert.deliveries();
    const pauseMs = Date.parse(waiting?.nextTryAt ?? '') - Date.parse(waiting?.lastTryAt ?? '');
    expect(pauseMs).toBeGreaterThanOrEqual(retryAfterSeconds * 1000);
    await arrived(2);
    await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toEqual(['firing delivered']);
    expect(told(receiver)).toEqual([told(receiver)[0], told(receiver)[0]]);
    expect(told(receiver)[0]?.id).toBe(waiting?.id);
  }, 300_000);

  it('answers 400, which is final: it is repeated when somebody asks for it, under its id', async () => {
    receiver.answer = (reply) => void reply.writeHead(400).end();
    const alert = await watch('final');
    await expect.poll(() => outcomes(alert), { timeout: 120_000 }).toEqual(['firing failed']);
    receiver.answer = ok;
    const [failed] = await alert.deliveries();
    const reply = await fetch(`${service.url}/api/v1/deliveries/${failed?.id}/retry`, {
      method: 'POST',
      headers: { authorization },
    });
    expect(reply.status).toBe(202);
    await expect.poll(() => outcomes(alert), { timeout: 60_000 }).toEqual(['firing delivered']);
    expect(told(receiver).map(({ id }) => id)).toEqual([failed?.id, failed?.id]);
  }, 300_000);
});

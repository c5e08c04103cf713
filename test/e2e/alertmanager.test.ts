import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { type Receiver, startReceiver } from '../support/notifications/receiver.ts';
import {
  sampleInstance,
  sampleNotification,
  senderTo,
} from '../support/notifications/sample-notifications.ts';
import { Alertmanager, alertmanagerProblem } from '../support/peers/alertmanager.ts';

sayIfSkipped('notifications to the real Alertmanager', alertmanagerProblem);

/** What Alertmanager tells its own receivers: the form that webhooks of this service have as well. */
interface Told {
  readonly version: string;
  readonly status: string;
  readonly alerts: ReadonlyArray<{ status: string; labels: Record<string, string> }>;
}

describe.skipIf(alertmanagerProblem !== undefined)('the real Alertmanager', () => {
  let receiver: Receiver;
  let one: Alertmanager;
  let other: Alertmanager;
  beforeAll(async () => {
    receiver = await startReceiver();
    one = await Alertmanager.start(receiver.url);
    other = await Alertmanager.start(receiver.url);
  });
  afterAll(async () => {
    await one?.dispose();
    await other?.dispose();
    await receiver?.close();
  });

  const told = (): readonly Told[] => receiver.received.map(({ body }) => JSON.parse(body) as Told);

  it('takes what fires at each address, tells it, and tells the end of the same alert', async () => {
    const send = senderTo({ name: 'am', type: 'alertManager', endpoints: [one.url, other.url] });
    const startsAtMs = Date.now() - 1000;
    const a = sampleInstance('a', { startsAtMs });
    const b = sampleInstance('b', { startsAtMs, annotations: { summary: 'line\nbreak' } });
    const nowMs = Date.now();
    expect(await send(sampleNotification('firing', [a, b]), { nowMs })).toEqual({ kind: 'delivered' });

    for (const each of [one, other]) {
      await expect.poll(async () => [...(await each.firing()).keys()].sort()).toEqual(['a', 'b']);
      const listed = (await each.firing()).get('a');
      expect(listed).toMatchObject({
        labels: { alertname: 'High <load> & more', severity: 'high', alert_id: '01JALERT', k8s_pod: 'p' },
        generatorURL: 'https://logs.example.com/api/v1/alerts/01JALERT',
      });
      expect(Date.parse(listed?.startsAt ?? '')).toBe(startsAtMs);
      expect(Date.parse(listed?.endsAt ?? '')).toBe(nowMs + 240_000);
    }
    // Told again, it is the same alert, which ends later.
    await send(sampleNotification('firing', [a, b]), { nowMs: nowMs + 60_000 });
    await expect
      .poll(async () => Date.parse((await one.firing()).get('a')?.endsAt ?? ''))
      .toBe(nowMs + 300_000);
    expect((await one.firing()).size).toBe(2);

    const endsAtMs = Date.now();
    const resolved = [{ ...a, status: 'resolved' as const, endsAtMs }];
    expect(await send(sampleNotification('resolved', resolved))).toEqual({ kind: 'delivered' });
    await expect.poll(async () => [...(await one.firing()).keys()]).toEqual(['b']);
    await expect
      .poll(() =>
        told().flatMap(({ alerts }) => alerts.map(({ status, labels }) => `${status} ${labels['host']}`)),
      )
      .toEqual(expect.arrayContaining(['firing a', 'firing b', 'resolved a']));
  });

  it('is given the form that it gives to its own receivers', async () => {
    const send = senderTo({ name: 'am', type: 'alertManager', endpoint: one.url });
    await send(sampleNotification('firing', [sampleInstance('c', { startsAtMs: Date.now() })]));
    await expect.poll(() => told().length).toBeGreaterThan(0);
    const [theirs = {}] = told();
    const ours = senderTo({ name: 'hook', type: 'webhook', endpoint: `${receiver.url}/ours` });
    await ours(sampleNotification('firing'));
    const body = receiver.received.find(({ path }) => path === '/ours')?.body ?? '';
    expect(Object.keys(JSON.parse(body) as Told).sort()).toEqual(Object.keys(theirs).sort());
  });

  it('refuses what is no alert for good, and is tried again when it is gone', async () => {
    const send = senderTo({ name: 'am', type: 'alertManager', endpoint: other.url });
    const backwards = sampleInstance('d', { status: 'resolved', endsAtMs: Date.UTC(2020, 0, 1) });
    expect(await send(sampleNotification('resolved', [backwards]))).toMatchObject({
      kind: 'failed',
      error: { status: 400 },
    });
    await other.dispose();
    expect(await send(sampleNotification('firing'))).toMatchObject({ kind: 'retry' });
  });
});

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { AlertBody } from '../../../src/alerts/alert-document.ts';
import { AlertEngine, type EngineNotifications } from '../../../src/alerts/alert-engine.ts';
import { AlertStates } from '../../../src/alerts/alert-states.ts';
import { EngineLease } from '../../../src/alerts/engine-lease.ts';
import { type EvaluationOutcome, isActive } from '../../../src/alerts/instance-states.ts';
import { DocumentStore } from '../../../src/documents/document-store.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { Delivery } from '../../../src/notifications/notification-state.ts';
import { MemoryLog } from '../../support/alerts/memory-log.ts';
import { ManualTimers } from '../../support/lib/manual-timers.ts';

const minute = 60_000;
const root = { kind: 'root', name: 'admin', tenant: 'default', privileges: [] } as const;
const caller = { principal: root, tenant: 'default' };

const body = (members: Partial<AlertBody> = {}): AlertBody => ({
  title: 'High',
  query: 'SELECT host, count(*) FROM app GROUP BY host',
  evalConfig: { rollingWindow: { evalStart: '5m', evalFrequency: 1 } },
  thresholdConfig: { operator: '>', value: 1 },
  targets: ['T1'],
  datasets: ['app'],
  runsAs: { kind: 'root', name: 'admin' },
  isDisabled: false,
  notificationState: 'notify',
  ...members,
});

/** What the query finds: hosts over the threshold; undefined: it fails. */
type Found = readonly string[] | undefined;

const world = () => {
  const log = new MemoryLog();
  const timers = new ManualTimers();
  return {
    log,
    timers,
    found: [] as Found,
    evaluations: [] as Array<readonly [node: string, atMs: number]>,
    /** Whether evaluations last until they are cancelled. */
    isEndless: false,
    cancelled: [] as string[],
  };
};
type World = ReturnType<typeof world>;

/** One node: all but the query and the sending is real. */
async function node(from: World, name: string, isShared = true) {
  const { log, timers } = from;
  const metrics = createMetrics();
  const documents = new DocumentStore({ log: log.asLog, hasEnded: () => false, clock: timers, metrics });
  await documents.refresh();
  const states = new AlertStates(log.asLog);
  const offered: Delivery[] = [];
  /** What the log says of an alert when one of its deliveries is offered. */
  const writtenFirst: boolean[] = [];
  const notifications: EngineNotifications = {
    targetsOf: (_, ids) => ids.map((id) => ({ id, type: 'webhook' as const })),
    silencer: async () => () => false,
    nextSilenceChangeMs: () => undefined,
    offer: (_, delivery) => {
      writtenFirst.push(
        log.entries.some(({ kind, value }) => kind === 'alertState' && value.includes(delivery.id)),
      );
      offered.push(delivery);
      return true;
    },
    repeat: () => {},
    forget: () => {},
  };
  const engine = new AlertEngine({
    documents,
    states,
    lease: new EngineLease({ log: log.asLog, node: name, isShared, clock: timers }),
    evaluator: {
      evaluate: async ({ atMs }, signal): Promise<EvaluationOutcome> => {
        from.evaluations.push([name, atMs]);
        if (from.isEndless) {
          await new Promise<void>((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          from.cancelled.push(String((signal.reason as Error).message));
          throw signal.reason;
        }
        if (from.found === undefined) return { kind: 'failed', code: 'query_timeout', message: 'slow' };
        const observations = from.found.map((host) => ({
          labels: { host },
          annotations: {},
          value: 2,
          finding: 'holds' as const,
        }));
        return { kind: 'rows', observations };
      },
    },
    notifications,
    hasEnded: () => false,
    isShared,
    clock: timers,
    metrics,
    log: pino({ level: 'silent' }),
  });
  engine.start();
  await timers.rest();
  const ids = () => [...new Set(offered.map(({ id }) => id))];
  return { engine, documents, states, offered, writtenFirst, ids };
}

const make = async ({ documents }: Awaited<ReturnType<typeof node>>, members: Partial<AlertBody> = {}) => {
  const { id } = await documents.create(caller, 'alert', body(members));
  return { tenant: 'default', id };
};

const stateEntries = ({ log }: World) => log.entries.filter(({ kind }) => kind === 'alertState');

describe('the engine', () => {
  it('writes a transition and its notification in one entry, before it is sent', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = ['x', 'y'];
    const key = await make(one);
    await all.timers.pass(2000);
    expect(one.engine.stateOf(key).instances.map(({ labels, status }) => [labels['host'], status])).toEqual([
      ['x', 'firing'],
      ['y', 'firing'],
    ]);
    expect(stateEntries(all)).toHaveLength(1);
    expect(one.writtenFirst.every(Boolean)).toBe(true);
    expect(one.offered[0]?.notification).toMatchObject({ status: 'firing', alerts: [{}, {}] });
    await one.engine.delivered(key, one.ids()[0] ?? '', { kind: 'delivered' });
    // From here on nothing changes, and nothing is written.
    const entries = stateEntries(all).length;
    await all.timers.pass(30 * minute);
    expect(all.evaluations.length).toBeGreaterThanOrEqual(30);
    expect(stateEntries(all)).toHaveLength(entries);
    expect(one.ids()).toHaveLength(1);
  });

  it('evaluates at multiples of the frequency plus an offset, each time once', async () => {
    const all = world();
    const one = await node(all, 'a');
    await make(one);
    await all.timers.pass(10 * minute + 2000);
    const times = all.evaluations.map(([, atMs]) => atMs);
    expect(new Set(times).size).toBe(times.length);
    expect(new Set(times.map((atMs) => atMs % minute)).size).toBe(1);
    expect(times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))).toEqual(
      times.slice(1).map(() => minute),
    );
    expect(times.length).toBeGreaterThanOrEqual(10);
  });

  it('after a crash between the entry and the sending sends what is in the entry, with its id', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = ['x'];
    const key = await make(one);
    await all.timers.pass(2000);
    const sent = one.ids();
    expect(sent).toHaveLength(1);
    // The same node in a new process. The old one does nothing any more.
    all.log.isDown = true;
    await one.engine.stop();
    all.log.isDown = false;
    const again = await node(all, 'a');
    await all.timers.pass(2000);
    expect(again.ids()).toEqual(sent);
    expect(again.engine.stateOf(key).instances).toMatchObject([{ status: 'firing' }]);
  });

  it('sends nothing of what it cannot write, and finds it again when the store is back', async () => {
    const all = world();
    const one = await node(all, 'a', false);
    const key = await make(one);
    await all.timers.pass(2 * minute);
    all.found = ['x'];
    all.log.isDown = true;
    await all.timers.pass(5 * minute);
    expect(one.offered).toEqual([]);
    all.log.isDown = false;
    await all.timers.pass(minute + 2000);
    expect(one.ids()).toHaveLength(1);
    expect(one.engine.stateOf(key).instances).toMatchObject([{ status: 'firing' }]);
  });

  it('reads a state again whose write may have taken effect: one transition is one notification', async () => {
    const all = world();
    const one = await node(all, 'a', false);
    const key = await make(one);
    await all.timers.pass(2 * minute);
    all.found = ['x'];
    all.log.losesReplies = true;
    await all.timers.pass(3 * minute);
    all.log.losesReplies = false;
    await all.timers.pass(2 * minute);
    expect(one.ids()).toHaveLength(1);
    const { history } = one.engine.stateOf(key);
    expect(history.filter(({ fingerprint }) => fingerprint !== undefined)).toHaveLength(1);
  });

  it('is one of several nodes; another one goes on within the term, and nothing is evaluated twice', async () => {
    const all = world();
    const one = await node(all, 'a');
    const two = await node(all, 'b');
    all.found = ['x'];
    const key = await make(one);
    await two.documents.refresh();
    await all.timers.pass(3 * minute);
    const holders = new Set(all.evaluations.map(([name]) => name));
    expect(holders.size).toBe(1);
    const [holder, other] = holders.has('a') ? [one, two] : [two, one];
    expect(other.engine.stateOf(key).instances).toMatchObject([{ status: 'firing' }]);
    await holder.engine.delivered(key, holder.ids()[0] ?? '', { kind: 'delivered' });
    // It ends without giving the lease back, as if it had been killed.
    all.log.isDown = true;
    await holder.engine.stop();
    all.log.isDown = false;
    const before = all.evaluations.length;
    await all.timers.pass(limits.alertEngineTermMs * 1.05 + 3000 + minute);
    expect(all.evaluations.length).toBeGreaterThan(before);
    expect(new Set(all.evaluations.map(([, atMs]) => atMs)).size).toBe(all.evaluations.length);
    // It still fires: there is nothing to tell.
    expect(other.offered).toEqual([]);
    expect(other.engine.stateOf(key).history.filter(({ fingerprint }) => fingerprint)).toHaveLength(1);
  });

  it('takes over at once from a node that ends', async () => {
    const all = world();
    const one = await node(all, 'a');
    await make(one);
    await all.timers.pass(3000);
    const two = await node(all, 'b');
    await one.engine.stop();
    const before = all.evaluations.length;
    await all.timers.pass(minute + 2000);
    expect(all.evaluations.slice(before).map(([name]) => name)).toContain('b');
    expect(two.engine.size).toBe(1);
  });

  it('cancels the evaluation of what is changed, disabled or deleted', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.isEndless = true;
    const key = await make(one);
    await all.timers.pass(1000);
    const update = (members: Partial<AlertBody>) =>
      one.documents.update(caller, 'alert', key.id, (now) => ({ ...now.body, ...members }));
    expect([all.evaluations.length, all.cancelled.length]).toEqual([1, 0]);
    await update({ title: 'Other' });
    await all.timers.pass(1000);
    // It is evaluated as it is now.
    expect([all.evaluations.length, all.cancelled.length]).toEqual([2, 1]);
    await update({ isDisabled: true });
    await all.timers.pass(1000);
    expect([all.evaluations.length, all.cancelled.length]).toEqual([2, 2]);
    await update({ isDisabled: false });
    await all.timers.pass(1000);
    expect([all.evaluations.length, all.cancelled.length]).toEqual([3, 2]);
    await one.documents.delete(caller, 'alert', key.id);
    await all.timers.pass(1000);
    expect([all.evaluations.length, all.cancelled]).toEqual([3, Array(3).fill('the alert was changed')]);
    const left = await make(one);
    await all.timers.pass(1000);
    await one.engine.stop();
    expect(all.cancelled.slice(3)).toEqual(['the service is shutting down']);
    expect(left.id).not.toBe(key.id);
  });

  it('tells the end of what is disabled or deleted at once, and forgets a deleted one when that is sent', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = ['x'];
    const [disabled, deleted] = [await make(one), await make(one, { title: 'Other' })];
    await all.timers.pass(3000);
    for (const delivery of one.offered.splice(0)) {
      const key = delivery.notification.alert.id === disabled.id ? disabled : deleted;
      await one.engine.delivered(key, delivery.id, { kind: 'delivered' });
    }
    one.offered.length = 0;
    await one.documents.update(caller, 'alert', disabled.id, (now) => ({ ...now.body, isDisabled: true }));
    await one.documents.delete(caller, 'alert', deleted.id);
    await all.timers.pass(1000);
    expect(one.offered.map(({ notification }) => notification.status)).toEqual(['resolved', 'resolved']);
    expect(one.states.has(deleted)).toBe(true);
    for (const delivery of one.offered) {
      const key = delivery.notification.alert.id === disabled.id ? disabled : deleted;
      await one.engine.delivered(key, delivery.id, { kind: 'delivered' });
    }
    expect([one.states.has(disabled), one.states.has(deleted)]).toEqual([true, false]);
    const before = all.evaluations.length;
    await all.timers.pass(10 * minute);
    expect(all.evaluations).toHaveLength(before);
    expect(one.engine.stateOf(disabled).instances.filter(isActive)).toEqual([]);
  });

  it('keeps a muted alert silent, and tells what still fires when that is over', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = ['x'];
    const until = new Date(all.timers.nowMicros() / 1000 + 10 * minute).toISOString();
    await make(one, { notificationState: { mute: until } });
    await all.timers.pass(9 * minute);
    expect(one.offered).toEqual([]);
    await all.timers.pass(2 * minute);
    expect(one.ids()).toHaveLength(1);
  });

  it('lets a failed delivery be tried again from whatever node', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = ['x'];
    const key = await make(one);
    await all.timers.pass(3000);
    const [id = ''] = one.ids();
    const error = { code: 'target_refused', message: 'no' } as const;
    await one.engine.delivered(key, id, { kind: 'failed', error });
    one.offered.length = 0;
    const two = await node(all, 'b');
    await all.timers.pass(2000);
    expect(await two.engine.retryDelivery(key, 'another')).toBe('not_found');
    expect(await two.engine.retryDelivery(key, id)).toBe('retried');
    await all.timers.pass(2000);
    expect(one.ids()).toEqual([id]);
    expect(two.offered).toEqual([]);
  });

  it('after a pause evaluates once', async () => {
    const all = world();
    const one = await node(all, 'a', false);
    await make(one, { forSeconds: 600 });
    all.found = ['x'];
    await all.timers.pass(2 * minute);
    await one.engine.stop();
    all.timers.advance(3 * 60 * minute);
    const before = all.evaluations.length;
    const again = await node(all, 'a', false);
    await all.timers.pass(1500);
    expect(all.evaluations).toHaveLength(before + 1);
    // The hours in between do not count for the ten minutes.
    const pending = again.states
      .keys()
      .map((key) => again.engine.stateOf(key).instances.map(({ status }) => status));
    expect(pending).toEqual([['pending']]);
    await all.timers.pass(12 * minute);
    expect(again.ids()).toHaveLength(1);
  });

  it('tells that an alert cannot be evaluated, and goes on with the others', async () => {
    const all = world();
    const one = await node(all, 'a');
    all.found = undefined;
    const key = await make(one);
    await all.timers.pass(3 * minute);
    expect(one.engine.stateOf(key).problem).toMatchObject({ code: 'query_timeout', message: 'slow' });
    expect(stateEntries(all)).toHaveLength(1);
    all.found = [];
    await all.timers.pass(2 * minute);
    expect(one.engine.stateOf(key).problem).toBeUndefined();
  });
});

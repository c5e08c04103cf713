import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import type { DeliveryOutcome } from '../../../src/notifications/delivery-outcome.ts';
import { DeliveryQueue, type OfferedDelivery } from '../../../src/notifications/delivery-queue.ts';
import type { TargetType } from '../../../src/notifications/notification.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

/** A clock whose timers fire when it is moved. */
class TimedClock extends ManualClock {
  #timers: Array<{ atMs: number; action: () => void }> = [];

  async turn(): Promise<void> {}

  random(): number {
    return 0;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { atMs: this.monotonicMs() + ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.advance(Math.min(50, ms - passed));
      const due = this.#timers.filter(({ atMs }) => atMs <= this.monotonicMs());
      this.#timers = this.#timers.filter(({ atMs }) => atMs > this.monotonicMs());
      for (const { action } of due) action();
    }
  }
}

const queues: DeliveryQueue[] = [];
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.stop();
});

/** A queue whose tries end when the test says so. */
function harness() {
  const clock = new TimedClock();
  const begun: string[] = [];
  const outcomes: string[] = [];
  const ends = new Map<string, (outcome: DeliveryOutcome) => void>();
  const queue = new DeliveryQueue({
    clock,
    send: (tenant, { id }, signal) =>
      new Promise((resolve) => {
        begun.push(`${tenant} ${id}`);
        ends.set(id, resolve);
        const error = { code: 'target_unreachable', message: 'stopped' } as const;
        signal.addEventListener('abort', () => resolve({ kind: 'retry', error }));
      }),
  });
  queues.push(queue);
  const offer = (id: string, some: Partial<OfferedDelivery> & { targetType?: TargetType } = {}): boolean =>
    queue.offer({
      tenant: 'a',
      alertId: id,
      targetId: `target of ${id}`,
      targetType: 'webhook',
      id,
      notification: {
        alert: { id, title: '', severity: 'low', datasets: [], intervalMs: 0 },
        status: 'firing',
        alerts: [],
        truncatedAlerts: 0,
      },
      notBeforeMs: clock.nowMicros() / 1000,
      isRepeat: false,
      onOutcome: ({ kind }) => outcomes.push(`${id} ${kind}`),
      ...some,
    });
  const end = async (id: string) => {
    ends.get(id)?.({ kind: 'delivered' });
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { clock, queue, begun, outcomes, offer, end };
}

describe('the queue of deliveries', () => {
  it('tries a delivery once, and tells the outcome', async () => {
    const { queue, begun, outcomes, offer, end } = harness();
    expect(offer('d1')).toBe(true);
    expect(offer('d1')).toBe(true);
    expect(begun).toEqual(['a d1']);
    await end('d1');
    expect(outcomes).toEqual(['d1 delivered']);
    expect(queue.size).toBe(0);
  });

  it('waits for the time of a delivery', () => {
    const { clock, begun, offer } = harness();
    offer('d1', { notBeforeMs: clock.nowMicros() / 1000 + 700_000 });
    clock.pass(699_000);
    expect(begun).toEqual([]);
    clock.pass(1000);
    expect(begun).toEqual(['a d1']);
  });

  it('tries one of a group at a time, and of those that wait the newest', async () => {
    const { begun, outcomes, offer, end } = harness();
    const group = { alertId: 'x', targetId: 'y' };
    for (const id of ['d1', 'd2', 'd3']) offer(id, group);
    expect(begun).toEqual(['a d1']);
    await end('d1');
    expect(begun).toEqual(['a d1', 'a d3']);
    await end('d3');
    expect(outcomes).toEqual(['d1 delivered', 'd3 delivered']);
  });

  it('lets a repeat give way to what is recorded', async () => {
    const { begun, offer, end, clock } = harness();
    const group = { alertId: 'x', targetId: 'y', notBeforeMs: clock.nowMicros() / 1000 + 100 };
    offer('d1', group);
    offer('r1', { ...group, isRepeat: true });
    clock.pass(100);
    expect(begun).toEqual(['a d1']);
    offer('r2', { ...group, isRepeat: true });
    await end('d1');
    expect(begun).toEqual(['a d1']);
    offer('r3', { ...group, isRepeat: true, notBeforeMs: clock.nowMicros() / 1000 + 100 });
    offer('d2', group);
    expect(begun).toEqual(['a d1', 'a d2']);
  });

  it('bounds the tries of a tenant, so that others are served', async () => {
    const { begun, offer, end } = harness();
    for (let index = 0; index < limits.maxRunningDeliveriesOfTenant + 2; index += 1) offer(`a${index}`);
    offer('b1', { tenant: 'b' });
    expect(begun).toHaveLength(limits.maxRunningDeliveriesOfTenant + 1);
    expect(begun.at(-1)).toBe('b b1');
    await end('a0');
    expect(begun.at(-1)).toBe(`a a${limits.maxRunningDeliveriesOfTenant}`);
  });

  it('bounds the tries at one target', async () => {
    const { clock, begun, offer, end } = harness();
    for (let index = 0; index < limits.maxRunningDeliveriesOfTarget + 1; index += 1)
      offer(`d${index}`, { targetId: 'y' });
    offer('other');
    expect(begun).toHaveLength(limits.maxRunningDeliveriesOfTarget + 1);
    expect(begun.at(-1)).toBe('a other');
    await end('d0');
    clock.pass(limits.targetPollMs);
    expect(begun.at(-1)).toBe(`a d${limits.maxRunningDeliveriesOfTarget}`);
  });

  it('sends one message a second to a target of Slack', async () => {
    const { clock, begun, offer, end } = harness();
    for (const id of ['d1', 'd2', 'd3']) offer(id, { targetId: 'y', targetType: 'slack' });
    expect(begun).toEqual(['a d1']);
    await end('d1');
    clock.pass(950);
    expect(begun).toEqual(['a d1']);
    clock.pass(50);
    expect(begun).toHaveLength(2);
    clock.pass(950);
    expect(begun).toHaveLength(2);
    clock.pass(50);
    expect(begun).toHaveLength(3);
  });

  it('has a bound, and takes more when there is room again', async () => {
    const { queue, offer, end } = harness();
    for (let index = 0; index < limits.maxQueuedDeliveries; index += 1) expect(offer(`d${index}`)).toBe(true);
    expect(offer('more')).toBe(false);
    await end('d0');
    expect(offer('more')).toBe(true);
    expect(queue.size).toBe(limits.maxQueuedDeliveries);
  });

  it('forgets what waits of an alert', async () => {
    const { clock, queue, begun, offer, end } = harness();
    const later = { alertId: 'x', notBeforeMs: clock.nowMicros() / 1000 + 100 };
    offer('d1', { ...later, targetId: 'y' });
    offer('d2', { alertId: 'x', targetId: 'z' });
    queue.forget('a', 'x');
    clock.pass(200);
    expect(begun).toEqual(['a d2']);
    await end('d2');
    expect(queue.size).toBe(0);
  });

  it('ends without outcomes of what was not delivered, and takes nothing more', async () => {
    const { queue, begun, outcomes, offer } = harness();
    offer('d1');
    await queue.stop();
    expect(begun).toEqual(['a d1']);
    expect(outcomes).toEqual([]);
    expect(offer('d2')).toBe(false);
  });
});

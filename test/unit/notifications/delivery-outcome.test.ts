import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { deliveryOutcome, retryFailedDelivery } from '../../../src/notifications/delivery-outcome.ts';
import {
  type Delivery,
  emptyNotificationState,
  type NotificationState,
} from '../../../src/notifications/notification-state.ts';

const nowMs = Date.UTC(2026, 0, 5, 12);
const error = { code: 'target_status' as const, message: 'status 503', status: 503 };
const dayMs = 24 * 3_600_000;

const delivery = (id: string, status: Delivery['status'] = 'waiting'): Delivery => ({
  id,
  targetId: 'page',
  status,
  createdAtMs: nowMs,
  tries: 0,
  failuresInRow: 0,
  nextTryAtMs: nowMs,
  retryUntilMs: nowMs + dayMs,
  notification: {
    alert: { id: 'A', title: 'Load', severity: 'low', datasets: [], intervalMs: 60_000 },
    status: 'firing',
    alerts: [],
    truncatedAlerts: 0,
  },
});

const having = (...deliveries: Delivery[]): NotificationState => ({ ...emptyNotificationState, deliveries });

/** Repeats a try at its time until it is not retried any more. @returns the times after the first, in ms */
function untilFailed(afterMs?: number): number[] {
  let state = having(delivery('d'));
  const times: number[] = [];
  for (;;) {
    const [waiting] = state.deliveries;
    if (waiting?.status !== 'waiting') return times;
    times.push(waiting.nextTryAtMs - nowMs);
    const outcome = { kind: 'retry' as const, error, ...(afterMs === undefined ? {} : { afterMs }) };
    state = deliveryOutcome(state, 'd', outcome, waiting.nextTryAtMs, () => 0);
  }
}

describe('the outcome of a try', () => {
  it('is repeated for a day with pauses that double up to a bound', () => {
    const times = untilFailed();
    expect(times.slice(0, 5)).toEqual([0, 5000, 15_000, 35_000, 75_000]);
    expect(times.at(-1)).toBeGreaterThan(dayMs - limits.maxDeliveryPauseMs);
    expect(times.at(-1)).toBeLessThanOrEqual(dayMs);
  });

  it('waits as long as the receiver asks for, up to a bound', () => {
    expect(untilFailed(120_000).slice(0, 3)).toEqual([0, 120_000, 240_000]);
    expect(untilFailed(dayMs * 7).slice(0, 3)).toEqual([0, 3_600_000, 7_200_000]);
  });

  it('waits up to a quarter less by chance', () => {
    const state = deliveryOutcome(having(delivery('d')), 'd', { kind: 'retry', error }, nowMs, () => 1);
    expect(state.deliveries[0]?.nextTryAtMs).toBe(nowMs + 3750);
  });

  it('records the last error, its time and the number of tries', () => {
    const long = { ...error, message: 'x'.repeat(10_000) };
    const state = deliveryOutcome(
      having(delivery('d')),
      'd',
      { kind: 'failed', error: long },
      nowMs + 7,
      () => 0,
    );
    expect(state.deliveries[0]).toMatchObject({
      status: 'failed',
      tries: 1,
      lastTryAtMs: nowMs + 7,
      lastError: { code: 'target_status' as const, status: 503 },
    });
    expect(state.deliveries[0]?.lastError?.message).toHaveLength(limits.maxDeliveryErrorLength);
  });

  it('lists what arrived, and forgets the oldest', () => {
    let state: NotificationState = emptyNotificationState;
    for (let index = 0; index < limits.maxDeliveredEntries + 2; index += 1) {
      const waiting = { ...state, deliveries: [delivery(`d${index}`)] };
      state = deliveryOutcome(waiting, `d${index}`, { kind: 'delivered' }, nowMs + index, () => 0);
    }
    expect(state.deliveries).toEqual([]);
    expect(state.delivered).toHaveLength(limits.maxDeliveredEntries);
    expect(state.delivered[0]).toMatchObject({ id: 'd2', deliveredAtMs: nowMs + 2, tries: 1 });
  });

  it('keeps the last failed deliveries', () => {
    const failed = Array.from({ length: limits.maxFailedDeliveries }, (_, index) =>
      delivery(`f${index}`, 'failed'),
    );
    const state = deliveryOutcome(
      having(...failed, delivery('d')),
      'd',
      { kind: 'failed', error },
      nowMs,
      () => 0,
    );
    expect(state.deliveries.map(({ id }) => id)).toEqual([...failed.slice(1).map(({ id }) => id), 'd']);
  });

  it('changes nothing if the delivery was replaced meanwhile, or has failed', () => {
    const state = having(delivery('newer'), delivery('old', 'failed'));
    expect(deliveryOutcome(state, 'd', { kind: 'delivered' }, nowMs, () => 0)).toBe(state);
    expect(deliveryOutcome(state, 'old', { kind: 'delivered' }, nowMs, () => 0)).toBe(state);
  });

  it('counts the repeat interval from an arrival that took several tries', () => {
    const group = { targetId: 'page', firstTickMs: nowMs, told: ['a'], notifiedAtMs: nowMs };
    const arrived = (tries: number) =>
      deliveryOutcome(
        { ...having({ ...delivery('d'), tries }), groups: [group] },
        'd',
        { kind: 'delivered' },
        nowMs + 1000,
        () => 0,
      ).groups[0]?.notifiedAtMs;
    expect(arrived(0)).toBe(nowMs);
    expect(arrived(3)).toBe(nowMs + 1000);
  });
});

describe('repeating a failed delivery', () => {
  it('lets it wait again under its id, for another day', () => {
    const laterMs = nowMs + 3 * dayMs;
    expect(
      retryFailedDelivery(having({ ...delivery('d', 'failed'), tries: 9, failuresInRow: 9 }), 'd', laterMs),
    ).toMatchObject({
      deliveries: [
        { id: 'd', status: 'waiting', tries: 9, nextTryAtMs: laterMs, retryUntilMs: laterMs + dayMs },
      ],
    });
  });

  it('is refused for what is unknown or waits, and while a newer one waits', () => {
    const state = having(delivery('d', 'failed'), delivery('newer'));
    expect(retryFailedDelivery(state, 'x', nowMs)).toBe('not_found');
    expect(retryFailedDelivery(state, 'newer', nowMs)).toBe('not_found');
    expect(retryFailedDelivery(state, 'd', nowMs)).toBe('newer_waits');
  });
});

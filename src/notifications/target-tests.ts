import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Multiset } from '../lib/multiset.ts';
import { ulid } from '../lib/ulid.ts';
import { limits } from '../limits/limits.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { type AlertSummary, type Notification, notificationLabels, type TargetType } from './notification.ts';

/**
 * Sends a notification of a made-up alert to a target, so that somebody can see whether it arrives.
 *
 * Each test is a group of its own in the queue of deliveries, whose room is for the notifications of all
 * tenants. So a tenant has few of them at the same time, those whose client has left among them.
 */
export class TargetTests {
  readonly #running = new Multiset();
  readonly #queue: DeliveryQueue;
  readonly #clock: Clock;

  constructor(queue: DeliveryQueue, clock: Clock) {
    this.#queue = queue;
    this.#clock = clock;
  }

  /**
   * Tries once. Where an alert stays open until it is resolved, it is resolved afterwards.
   * @throws AppError `overloaded`
   */
  async run(tenant: string, targetId: string, targetType: TargetType): Promise<DeliveryOutcome> {
    if (this.#running.get(tenant) >= limits.maxTargetTestsPerTenant) {
      const reason = `${limits.maxTargetTestsPerTenant} tests of targets of your tenant are running; no more can at the same time`;
      throw new AppError('overloaded', reason);
    }
    this.#running.add(tenant);
    try {
      return await this.#run(tenant, targetId, targetType);
    } finally {
      this.#running.remove(tenant);
    }
  }

  async #run(tenant: string, targetId: string, targetType: TargetType): Promise<DeliveryOutcome> {
    const nowMs = Math.floor(this.#clock.nowMicros() / 1000);
    const alertId = `test-${ulid(nowMs)}`;
    const offer = (status: Notification['status'], onOutcome: (outcome: DeliveryOutcome) => void) =>
      this.#queue.offer({
        tenant,
        alertId,
        targetId,
        targetType,
        id: ulid(nowMs),
        notification: testNotification(alertId, status, nowMs),
        notBeforeMs: nowMs,
        isRepeat: false,
        onOutcome,
      });
    const outcome = await new Promise<DeliveryOutcome>((resolve, reject) => {
      if (offer('firing', resolve)) return;
      reject(new AppError('overloaded', 'too many notifications wait to be sent'));
    });
    const staysOpen = targetType === 'pagerduty' || targetType === 'alertManager';
    if (outcome.kind === 'delivered' && staysOpen) offer('resolved', () => {});
    return outcome;
  }
}

function testNotification(alertId: string, status: Notification['status'], nowMs: number): Notification {
  const alert: AlertSummary = {
    id: alertId,
    title: 'Test of a target',
    severity: 'low',
    datasets: [],
    condition: 'somebody tests this target; there is nothing to do',
    intervalMs: 60_000,
  };
  return {
    alert,
    status,
    alerts: [
      {
        fingerprint: '0000000000000000',
        labels: notificationLabels(alert, {}),
        annotations: {},
        status,
        startsAtMs: nowMs,
        ...(status === 'resolved' ? { endsAtMs: nowMs } : {}),
      },
    ],
    truncatedAlerts: 0,
  };
}

import type { AlertSummary } from './notification.ts';
import type { DeliveredEntry, Delivery, DeliveryError, NotificationState } from './notification-state.ts';

/** The records of alerts, as far as deliveries are concerned. Who evaluates alerts keeps them. */
export interface DeliveryRecords {
  /** What is recorded of deliveries, for each alert of the tenant. */
  statesOf(
    tenant: string,
  ): ReadonlyArray<{ readonly alert: Pick<AlertSummary, 'id' | 'title'>; readonly state: NotificationState }>;
  /** Lets a failed delivery wait again (`retryFailedDelivery`), and writes it. */
  retry(tenant: string, deliveryId: string): Promise<'retried' | 'not_found' | 'newer_waits'>;
}

/** A delivery as replies show it: never what the target answered. */
export interface ShownDelivery {
  readonly id: string;
  readonly alertId: string;
  readonly alertTitle: string;
  readonly status: 'waiting' | 'failed' | 'delivered';
  readonly notificationStatus: 'firing' | 'resolved';
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly tries: number;
  readonly lastTryAt?: string;
  readonly nextTryAt?: string;
  readonly deliveredAt?: string;
  readonly lastError?: DeliveryError;
}

/** The deliveries to a target, newest first. */
export function deliveriesOf(
  records: DeliveryRecords,
  tenant: string,
  targetId: string,
): readonly ShownDelivery[] {
  return records
    .statesOf(tenant)
    .flatMap(({ alert, state }) => {
      const about = { alertId: alert.id, alertTitle: alert.title };
      const isMine = (each: { readonly targetId: string }) => each.targetId === targetId;
      return [
        ...state.deliveries.filter(isMine).map((each) => ({ ...about, ...shownDelivery(each) })),
        ...state.delivered.filter(isMine).map((each) => ({ ...about, ...shownEntry(each) })),
      ];
    })
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
}

const iso = (ms: number): string => new Date(ms).toISOString();

function shownDelivery(delivery: Delivery) {
  const { id, status, tries, lastTryAtMs, lastError, nextTryAtMs, notification, createdAtMs } = delivery;
  return {
    id,
    status,
    notificationStatus: notification.status,
    createdAt: iso(createdAtMs),
    tries,
    ...(lastTryAtMs === undefined ? {} : { lastTryAt: iso(lastTryAtMs) }),
    ...(status === 'waiting' ? { nextTryAt: iso(nextTryAtMs) } : {}),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

const shownEntry = ({ id, tries, createdAtMs, deliveredAtMs, notificationStatus }: DeliveredEntry) => ({
  id,
  status: 'delivered' as const,
  notificationStatus,
  createdAt: iso(createdAtMs),
  tries,
  deliveredAt: iso(deliveredAtMs),
});

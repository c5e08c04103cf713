/** What the outcome of a try makes of the deliveries of an alert (`notification-state.ts`). Pure. */

import { backoffMs } from '../lib/backoff.ts';
import { limits } from '../limits/limits.ts';
import type { DeliveredEntry, Delivery, DeliveryError, NotificationState } from './notification-state.ts';

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  /** It may succeed later. `afterMs` is what the receiver asks for (`Retry-After`). */
  | { readonly kind: 'retry'; readonly afterMs?: number; readonly error: DeliveryError }
  /** It can never succeed. */
  | { readonly kind: 'failed'; readonly error: DeliveryError };

/**
 * Records the outcome of a try. A delivery that was replaced in the meantime is not known any more: its
 * outcome changes nothing.
 * @param random a number in [0, 1), for the jitter
 * @returns the same object if nothing changed
 */
export function deliveryOutcome(
  state: NotificationState,
  deliveryId: string,
  outcome: DeliveryOutcome,
  nowMs: number,
  random: () => number,
): NotificationState {
  const tried = state.deliveries.find(({ id, status }) => id === deliveryId && status === 'waiting');
  if (tried === undefined) return state;
  if (outcome.kind === 'delivered') return withDelivered(state, tried, nowMs);
  const { message, ...rest } = outcome.error;
  const failed: Delivery = {
    ...tried,
    tries: tried.tries + 1,
    failuresInRow: tried.failuresInRow + 1,
    lastTryAtMs: nowMs,
    lastError: { ...rest, message: message.slice(0, limits.maxDeliveryErrorLength) },
  };
  if (outcome.kind === 'failed') return withFailed(state, failed);
  const pauseMs = backoffMs(tried.failuresInRow, limits.minDeliveryPauseMs, limits.maxDeliveryPauseMs, {
    random,
  });
  const askedMs = Math.min(outcome.afterMs ?? 0, limits.maxRetryAfterMs);
  const nextTryAtMs = nowMs + Math.ceil(Math.max(pauseMs, askedMs));
  return nextTryAtMs > tried.retryUntilMs
    ? withFailed(state, failed)
    : replaceDelivery(state, { ...failed, nextTryAtMs });
}

/**
 * Lets a failed delivery wait again, under its old id, for another day.
 * @returns why it cannot: there is no such failed one, or a newer one of its group waits and tells more
 */
export function retryFailedDelivery(
  state: NotificationState,
  deliveryId: string,
  nowMs: number,
): NotificationState | 'not_found' | 'newer_waits' {
  const failed = state.deliveries.find(({ id, status }) => id === deliveryId && status === 'failed');
  if (failed === undefined) return 'not_found';
  const isWaiting = ({ status, targetId }: Delivery) => status === 'waiting' && targetId === failed.targetId;
  if (state.deliveries.some(isWaiting)) return 'newer_waits';
  return replaceDelivery(state, {
    ...failed,
    status: 'waiting',
    failuresInRow: 0,
    nextTryAtMs: nowMs,
    retryUntilMs: nowMs + limits.deliveryRetryMs,
  });
}

const replaceDelivery = (state: NotificationState, delivery: Delivery): NotificationState => ({
  ...state,
  deliveries: state.deliveries.map((each) => (each.id === delivery.id ? delivery : each)),
});

/** Keeps it as failed, and forgets the oldest failed ones beyond the bound. */
function withFailed(state: NotificationState, failed: Delivery): NotificationState {
  const others = state.deliveries.filter(({ id }) => id !== failed.id);
  const failedOnes = others.filter(({ status }) => status === 'failed');
  return {
    ...state,
    deliveries: [
      ...others.filter(({ status }) => status === 'waiting'),
      ...[...failedOnes, { ...failed, status: 'failed' as const }].slice(-limits.maxFailedDeliveries),
    ],
  };
}

function withDelivered(state: NotificationState, tried: Delivery, nowMs: number): NotificationState {
  const { id, targetId, createdAtMs, notification } = tried;
  const entry: DeliveredEntry = {
    id,
    targetId,
    createdAtMs,
    deliveredAtMs: nowMs,
    tries: tried.tries + 1,
    notificationStatus: notification.status,
  };
  return {
    ...state,
    // What arrived late is repeated later.
    groups: state.groups.map((group) =>
      group.targetId === targetId && tried.tries > 0 ? { ...group, notifiedAtMs: nowMs } : group,
    ),
    deliveries: state.deliveries.filter((each) => each.id !== id),
    delivered: [...state.delivered, entry].slice(-limits.maxDeliveredEntries),
  };
}

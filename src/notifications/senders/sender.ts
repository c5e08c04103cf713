import type { AddressGuard } from '../address-guard.ts';
import type { DeliveryOutcome } from '../delivery-outcome.ts';
import type { Notification } from '../notification.ts';
import type { Target } from '../target-body.ts';
import type { RequestTimeouts } from '../target-request.ts';

/** A notification on its way to one target. */
export interface OutgoingNotification {
  /** Of the delivery: the same for all tries. */
  readonly id: string;
  readonly targetId: string;
  readonly notification: Notification;
  /** The time of this try. */
  readonly nowMs: number;
}

/** What senders share. */
export interface SenderContext {
  readonly guard: AddressGuard;
  /** Where people reach the service, for links; undefined: there are none. */
  readonly externalUrl: string | undefined;
  readonly timeouts?: RequestTimeouts;
}

/**
 * Tries once to send a notification to a target.
 * @param signal ends it
 * @throws AppError what the target or the way to it refuses: the code decides whether it is tried again
 */
export type Sender = (
  context: SenderContext,
  target: Target,
  outgoing: OutgoingNotification,
  signal: AbortSignal,
) => Promise<DeliveryOutcome>;

/** Where the alert can be looked at; undefined without `externalUrl`. */
export const alertUrl = ({ externalUrl }: SenderContext, { alert }: Notification): string | undefined =>
  externalUrl === undefined ? undefined : `${externalUrl}/api/v1/alerts/${alert.id}`;

/** Identifies the group of an alert at a target for as long as both exist. */
export const groupKeyOf = ({ targetId, notification }: OutgoingNotification): string =>
  `${notification.alert.id}/${targetId}`;

export const isoTime = (ms: number): string => new Date(ms).toISOString();

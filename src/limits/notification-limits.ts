/** The part of `limits` for targets, silences and notifications. */

const secondsMs = 1000;
const minutesMs = 60 * secondsMs;
const hoursMs = 60 * minutesMs;

export const notificationLimits = {
  // What an alert remembers of its notifications ----------------------------------------------------------
  /**
   * Instances that one notification lists; the rest is counted. A message with more is read by nobody, and the
   * record of the alert holds a copy for each target until it is delivered.
   */
  maxAlertsPerNotification: 100,
  /**
   * Instances of an alert that have ended and that a target must still be told of. Above it the oldest are
   * forgotten. Only a query with new labels at each evaluation comes near.
   */
  maxEndedInstances: 1000,
  /** Failed deliveries of an alert that are kept, to be looked at and repeated. */
  maxFailedDeliveries: 20,
  /** Delivered notifications of an alert that are listed, without their content. */
  maxDeliveredEntries: 20,
  /** Characters of an error in the record of a delivery. */
  maxDeliveryErrorLength: 500,

  // Tries -------------------------------------------------------------------------------------------------
  /** How long a delivery is tried before it is kept as failed. */
  deliveryRetryMs: 24 * hoursMs,
  /** The pause after the first failed try, and the longest; each doubles the one before. */
  minDeliveryPauseMs: 5 * secondsMs,
  maxDeliveryPauseMs: 5 * minutesMs,
  /** The longest `Retry-After` that is obeyed. */
  maxRetryAfterMs: 1 * hoursMs,
  /** How long Alertmanager is told of an instance that has ended; Prometheus does the same. */
  resolvedResendMs: 15 * minutesMs,
} as const;

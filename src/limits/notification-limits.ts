/** The part of `limits` for targets, silences and notifications. */

const KiB = 1024;
const secondsMs = 1000;
const minutesMs = 60 * secondsMs;
const hoursMs = 60 * minutesMs;

export const notificationLimits = {
  // What an alert remembers of its notifications -----------------------------------------------------------
  /**
   * Instances that one notification lists; the rest is counted. A message with more is read by nobody, and
   * the record of the alert holds a copy for each target until it is delivered.
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

  // Tries --------------------------------------------------------------------------------------------------
  /** How long a delivery is tried before it is kept as failed. */
  deliveryRetryMs: 24 * hoursMs,
  /** The pause after the first failed try, and the longest; each doubles the one before. */
  minDeliveryPauseMs: 5 * secondsMs,
  maxDeliveryPauseMs: 5 * minutesMs,
  /** The longest `Retry-After` that is obeyed. */
  maxRetryAfterMs: 1 * hoursMs,
  /** How long Alertmanager is told of an instance that has ended; Prometheus does the same. */
  resolvedResendMs: 15 * minutesMs,

  // Queue --------------------------------------------------------------------------------------------------
  /** Groups (an alert at a target) with a delivery to try; those of more alerts wait in their records. */
  maxQueuedDeliveries: 10_000,
  /**
   * Tries at the same time, of all tenants, of one and at one target. Each has a connection, and the slowest
   * takes `targetRequestMs`.
   */
  maxRunningDeliveries: 64,
  maxRunningDeliveriesOfTenant: 16,
  maxRunningDeliveriesOfTarget: 4,
  /** Tests of targets that a tenant has in the queue: half of what it can try at a time. */
  maxTargetTestsPerTenant: 8,
  /** How soon a delivery looks again whether its target has become free. */
  targetPollMs: 250,
  /** Slack takes one message a second for each webhook. */
  slackIntervalMs: 1 * secondsMs,

  // Requests to targets ------------------------------------------------------------------------------------
  /** How long a name may take to be resolved, a connection to be made, and all of a request. */
  targetResolveMs: 5 * secondsMs,
  targetConnectMs: 3 * secondsMs,
  targetRequestMs: 30 * secondsMs,
  /** Addresses of a name that are tried. */
  maxTargetAddresses: 16,
  /** How much of a reply is read: Slack's and PagerDuty's words fit in. */
  maxTargetReplyBytes: 4 * KiB,
  maxTargetReplyHeaderBytes: 16 * KiB,
  /** Connections to the operator's mail server. */
  maxMailConnections: 4,

  // Messages -----------------------------------------------------------------------------------------------
  /** Slack takes 3,000 characters in a section, and 50 blocks. A line may grow fivefold by escaping. */
  maxSlackTitleLength: 200,
  maxSlackLineLength: 1000,
  maxSlackSectionLength: 3000,
  maxSlackSections: 20,
  /** PagerDuty takes 1,024 characters in a summary, and 512 kB in all. */
  maxPagerdutySummaryLength: 1024,
  maxPagerdutyDetailsLength: 100_000,
  maxMailSubjectLength: 200,

  // Targets and silences -----------------------------------------------------------------------------------
  /** The body of a request. */
  maxTargetBodyBytes: 64 * KiB,
  maxTargetNameLength: 200,
  maxTargetUrlLength: 2000,
  /** URLs of the replicas of an Alertmanager. */
  maxTargetEndpoints: 10,
  maxTargetSecretLength: 1000,
  maxTargetHeaderLength: 4 * KiB,
  maxTargetHeaders: 50,
  /** Secrets that a webhook is signed with: the current one, and those before and after it. */
  maxSigningSecrets: 4,
  maxEmailRecipients: 50,
  maxEmailAddressLength: 254,
  maxMatchersPerSilence: 20,
  /** Names and values of labels in a matcher. */
  maxLabelLength: 1000,
  maxSilenceCommentLength: 2000,
  /** How long a silence that has ended is listed; Alertmanager keeps them as long. */
  endedSilenceKeptMs: 5 * 24 * hoursMs,
  maxSilencesRemovedAtOnce: 20,
  /**
   * The regular expressions of a silence together, with their repetitions written out (`expressionSize`):
   * compiling takes RE2 up to 10 ms, and a value of 500 characters up to 20 ms. A UUID takes 350.
   */
  maxSilenceExpressionSize: 500,
  /**
   * Steps of matching (`stepsOf`) before other work gets a turn: 0.1 us each, and one match more, which is
   * 250,000 at most.
   */
  silenceStepsPerSlice: 20_000,
} as const;

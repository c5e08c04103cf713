const KiB = 1024;
const MiB = 1024 * KiB;

/** Bounds on alerts. */
export const alertLimits = {
  /** The body of an alert as somebody sends it: a query, and what is around it. */
  maxAlertBodyBytes: 256 * KiB,
  maxAlertTitleLength: 256,
  /** Tags of an alert, and the length of each. */
  maxAlertTags: 50,
  maxAlertTagLength: 100,
  /** Targets of an alert. Each is told of each change. */
  maxAlertTargets: 20,
  /** Annotations of an alert, and the length of a template and of what is made of it. */
  maxAlertAnnotations: 20,
  maxAnnotationLength: 1000,
  /** Members that nobody here knows. */
  maxOtherAlertMembers: 10,
  /** How often an alert can be evaluated, in milliseconds: each time is a query. */
  alertFrequencyMs: [5000, 7 * 24 * 3_600_000],
  /** How far an evaluation looks back, in milliseconds. */
  alertWindowMs: [1000, 31 * 24 * 3_600_000],
  /** The longest `forSeconds` and `keepFiringSeconds`. */
  maxAlertHoldMs: 7 * 24 * 3_600_000,
  /** Notifications of what has not changed, and their default, which is Alertmanager's. */
  maxAlertRepeatMinutes: 31 * 24 * 60,
  defaultAlertRepeatMinutes: 240,
  maxAlertGroupWaitMs: 3_600_000,
  /**
   * By how much an evaluation looks less far than now, for rows that are on their way: an acknowledged row is
   * in the store after a second or two, unless its dataset is one of many that get few.
   */
  defaultAlertDelayMs: 5000,
  maxAlertDelayMs: 24 * 3_600_000,
  /** Evaluations of one frequency are spread over this time, so that they do not all come at once. */
  maxAlertOffsetMs: 60_000,
  /**
   * Instances that one alert can have, and how many it has unless it says so: each can be told to somebody.
   */
  maxInstancesPerAlert: 500,
  defaultInstancesPerAlert: 100,
  /** Rows and bytes of the result of an alert's query. Above it the evaluation fails. */
  maxAlertRows: 2000,
  maxAlertResultBytes: 1 * MiB,
  /** Labels of an instance, the length of a value, and of all of them. */
  maxInstanceLabels: 30,
  maxInstanceLabelLength: 500,
  maxInstanceLabelsLength: 4000,
  /** How long an instance that has ended is kept, and is told again as resolved; the same as Prometheus'. */
  resolvedRetentionMs: 15 * 60_000,
  /** Transitions that are kept of an alert. */
  maxAlertTransitions: 100,
  /** The length of the state of an alert in the metadata log; older transitions make room. */
  maxAlertStateLength: 512 * KiB,
  /** Evaluations at a time: they leave connections of the store to people who wait. */
  maxParallelEvaluations: 2,
  /** Evaluations that wait, of all tenants. One that finds no room is late. */
  maxWaitingEvaluations: 20_000,
  /** Tries of one evaluation, where the failure may pass, and the pauses between them. */
  maxEvaluationTries: 3,
  evaluationRetryMinMs: 500,
  evaluationRetryMaxMs: 5000,
  /** How soon a notification that found no room is offered again. */
  alertOfferRetryMs: 5000,
  /** How often the engine looks for what is due, at most and at least. */
  alertTickMs: [20, 1000],
  /** What one request for a preview may evaluate, and how long it may take. */
  maxPreviewEvaluations: 1000,
  previewTimeoutMs: 30_000,
  maxPreviewMs: 31 * 24 * 3_600_000,
  /** Firings in the reply to a preview, the earliest ones. */
  maxPreviewFirings: 1000,
  /** Previews that wait or run, of all tenants. */
  maxWaitingPreviews: 100,
  /** A list of alerts in one reply. */
  maxListedAlerts: 1000,
  defaultListedAlerts: 100,
  /** How long the node that evaluates may do so without renewing that, and how often it does. */
  alertEngineTermMs: 15_000,
  alertEngineRenewalMs: 5000,
  /** Where no other node can evaluate, its renewal only tells how long the service was down. */
  alertEngineHeartbeatMs: 60_000,
} as const;

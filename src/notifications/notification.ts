/** What a notification says, whatever service it goes to. */

/** One instance of an alert as notifications see it. */
export interface Notifiable {
  /** Identifies the instance within its alert: a hash of its labels. */
  readonly fingerprint: string;
  /** With those that `notificationLabels` adds once the instance is in a notification. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: 'firing' | 'resolved';
  /** When it began to fire. */
  readonly startsAtMs: number;
  /** When it ended, of a resolved one. */
  readonly endsAtMs?: number;
  readonly value?: number;
}

export type AlertSeverity = 'critical' | 'high' | 'medium' | 'low';

/** The alert that a notification is about. */
export interface AlertSummary {
  readonly id: string;
  readonly title: string;
  readonly severity: AlertSeverity;
  readonly datasets: readonly string[];
  /** For people: what is compared, such as `> 5`. */
  readonly condition?: string;
  /** The text of the query. */
  readonly query?: string;
  /** How often it is evaluated. Alertmanager is told that an instance ends after four times this. */
  readonly intervalMs: number;
}

/** The content of a delivery. It never changes: a receiver may drop what has an id that it knows. */
export interface Notification {
  readonly alert: AlertSummary;
  /** `firing` while one of the group's instances fires. */
  readonly status: 'firing' | 'resolved';
  /**
   * Firing ones first; at most `limits.maxAlertsPerNotification`, except for targets of the type
   * `alertManager`.
   */
  readonly alerts: readonly Notifiable[];
  /** Instances beyond those in `alerts`. */
  readonly truncatedAlerts: number;
}

export const targetTypes = ['webhook', 'slack', 'alertManager', 'pagerduty', 'email'] as const;
export type TargetType = (typeof targetTypes)[number];

/**
 * The labels of an instance as targets and silences see them: its own with `alertname`, `severity` and
 * `alert_id`. They are the identity of an alert in Alertmanager, so they hold no state and no value. A label
 * of the instance that has such a name is kept as `exported_…`, as Prometheus does it; empty labels vanish.
 */
export function notificationLabels(
  alert: AlertSummary,
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const added: Record<string, string> = {
    alertname: alert.title,
    severity: alert.severity,
    alert_id: alert.id,
  };
  const entries = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [Object.hasOwn(added, name) ? `exported_${name}` : name, value] as const);
  return Object.fromEntries([...entries, ...Object.entries(added)]);
}

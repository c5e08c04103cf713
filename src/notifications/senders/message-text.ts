import type { Notifiable, Notification } from '../notification.ts';
import { isoTime } from './sender.ts';

/** Notifications as text for people: subjects, lines and summaries. */

/** `[FIRING:2] High load`, as Alertmanager's templates begin. */
export function titleOf({ alert, status, alerts, truncatedAlerts }: Notification): string {
  const count = status === 'firing' ? `:${firingCount({ alerts, truncatedAlerts })}` : '';
  return `[${status.toUpperCase()}${count}] ${oneLine(alert.title)}`;
}

/** Firing ones come first, so if one that has resolved is listed, all that fire are. */
function firingCount({ alerts, truncatedAlerts }: Pick<Notification, 'alerts' | 'truncatedAlerts'>): number {
  const firing = alerts.filter(({ status }) => status === 'firing').length;
  return firing === alerts.length ? firing + truncatedAlerts : firing;
}

/** What holds for all instances: severity, dataset, condition, query, one line each. */
export function detailLines({ alert }: Notification): readonly string[] {
  return [
    `Severity: ${alert.severity}`,
    ...(alert.datasets.length === 0 ? [] : [`Dataset: ${alert.datasets.join(', ')}`]),
    ...(alert.condition === undefined ? [] : [`Condition: ${oneLine(alert.condition)}`]),
    ...(alert.query === undefined ? [] : [`Query: ${oneLine(alert.query)}`]),
  ];
}

/** Labels that every notification of the alert has say nothing about one of its instances. */
const commonNames: ReadonlySet<string> = new Set(['alertname', 'severity', 'alert_id']);

/** `host=a, zone=1: value 97, firing since 2026-01-31T12:00:00.000Z` */
export function instanceLine({ labels, value, status, startsAtMs, endsAtMs }: Notifiable): string {
  const own = Object.entries(labels)
    .filter(([name]) => !commonNames.has(name))
    .map(([name, text]) => `${name}=${text}`)
    .join(', ');
  const shown = value === undefined ? '' : `value ${value}, `;
  const time =
    status === 'firing'
      ? `firing since ${isoTime(startsAtMs)}`
      : `resolved at ${isoTime(endsAtMs ?? startsAtMs)}`;
  return oneLine(`${own === '' ? '' : `${own}: `}${shown}${time}`);
}

/** All instances that are listed, with the annotations of each, and how many more there are. */
export function instanceLines({ alerts, truncatedAlerts }: Notification): readonly string[] {
  const lines = alerts.flatMap((each) => [
    `- ${instanceLine(each)}`,
    ...Object.entries(each.annotations).map(([name, text]) => `  ${name}: ${oneLine(text)}`),
  ]);
  return truncatedAlerts === 0 ? lines : [...lines, `and ${truncatedAlerts} more`];
}

/** Text of tenants has no line breaks or control characters in a subject, a header or a list. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** At most so many UTF-16 code units, without half a character at the end. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

import { pino } from 'pino';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { AddressGuard } from '../../../src/notifications/address-guard.ts';
import {
  type AlertSummary,
  type Notifiable,
  type Notification,
  notificationLabels,
} from '../../../src/notifications/notification.ts';
import type { EmailSender } from '../../../src/notifications/senders/email-sender.ts';
import type { OutgoingNotification } from '../../../src/notifications/senders/sender.ts';
import { type TargetRequestBody, targetOf } from '../../../src/notifications/target-body.ts';
import type { RequestTimeouts } from '../../../src/notifications/target-request.ts';
import { TargetSender } from '../../../src/notifications/target-sender.ts';

export const sampleAlert: AlertSummary = {
  id: '01JALERT',
  title: 'High <load> & more',
  severity: 'high',
  datasets: ['app'],
  condition: '> 5',
  query: 'select host, count(*) as value\nfrom app group by host',
  intervalMs: 60_000,
};

export const sampleInstance = (host: string, some: Partial<Notifiable> = {}): Notifiable => ({
  fingerprint: `fp-${host}`,
  labels: notificationLabels(sampleAlert, { host, 'k8s.pod': 'p' }),
  annotations: { summary: `${host} is loaded` },
  status: 'firing',
  startsAtMs: Date.UTC(2026, 0, 31, 12),
  value: 7.5,
  ...some,
});

export const sampleNotification = (
  status: Notification['status'],
  alerts: readonly Notifiable[] = [sampleInstance('a', { status })],
): Notification => ({ alert: sampleAlert, status, alerts, truncatedAlerts: 0 });

/** Sends notifications to one target, with the loopback interface allowed. */
export function senderTo(
  request: TargetRequestBody,
  { email, timeouts }: { readonly email?: EmailSender; readonly timeouts?: RequestTimeouts } = {},
) {
  const target = targetOf(request);
  const guard = new AddressGuard(parseNetworks('127.0.0.1'));
  const context = { guard, externalUrl: 'https://logs.example.com', ...(timeouts && { timeouts }) };
  const sender = new TargetSender({ open: () => target }, context, email, pino({ level: 'silent' }));
  return (notification: Notification, some: Partial<OutgoingNotification> = {}) =>
    sender.send(
      'default',
      { id: '01JDELIVERY', targetId: '01JTARGET', notification, nowMs: Date.now(), ...some },
      new AbortController().signal,
    );
}

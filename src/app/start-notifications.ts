import type { SecretBox } from '../auth/secret-box.ts';
import type { NotificationConfig } from '../config/notification-options.ts';
import type { DocumentStore } from '../documents/document-store.ts';
import { liveGauge } from '../lib/live-gauge.ts';
import { AddressGuard, type Resolver, systemResolver } from '../notifications/address-guard.ts';
import { DeliveryQueue } from '../notifications/delivery-queue.ts';
import { EmailSender } from '../notifications/senders/email-sender.ts';
import { Silences } from '../notifications/silences.ts';
import { TargetSender } from '../notifications/target-sender.ts';
import { TargetTests } from '../notifications/target-tests.ts';
import { Targets } from '../notifications/targets.ts';
import type { AppContext } from './app-context.ts';

interface NotificationParts {
  readonly documents: DocumentStore;
  readonly box: SecretBox;
  /** That of the system unless given. */
  readonly resolve?: Resolver;
}

/** Targets, silences, and the queue in which notifications go to targets. Alerts put them in. */
export function startNotifications(
  { clock, metrics, log }: Pick<AppContext, 'clock' | 'metrics' | 'log'>,
  { targetAllowedNetworks, smtpUrl, smtpFrom, smtpDomains, publicUrl }: NotificationConfig,
  { documents, box, resolve = systemResolver }: NotificationParts,
) {
  const guard = new AddressGuard(targetAllowedNetworks?.networks, resolve);
  const emailPolicy = { hasServer: smtpUrl !== undefined, domains: smtpDomains };
  const email =
    smtpUrl === undefined || smtpFrom === undefined
      ? undefined
      : new EmailSender({ url: smtpUrl, from: smtpFrom }, emailPolicy);
  const targets = new Targets({ documents, box, guard, email: emailPolicy, clock });
  const sender = new TargetSender(targets, { guard, externalUrl: publicUrl }, email, log);
  const queue = new DeliveryQueue({
    send: (tenant, outgoing, signal) => sender.send(tenant, outgoing, signal),
    clock,
    onTried: (type, outcome, seconds) => {
      metrics.notifications.inc({ type, outcome });
      metrics.notificationDuration.observe({ type }, seconds);
    },
  });
  liveGauge(
    {
      name: 'millrace_notification_queue_groups',
      help: 'Groups (an alert at a target) with a notification that waits for its next try, or is being sent.',
      registers: [metrics.registry],
    },
    () => queue.size,
  );
  return {
    targets,
    silences: new Silences(documents, clock),
    queue,
    tests: new TargetTests(queue, clock),
    policy: {
      allowPrivate: false,
      allowedDomains: [...(smtpDomains ?? [])],
      allowedCidrs: targetAllowedNetworks?.texts ?? [],
      deniedDomains: [],
      deniedCidrs: [],
      allowInvalidTls: true,
    },
    stop: async () => {
      await queue.stop();
      email?.close();
    },
  };
}

import { createHmac } from 'node:crypto';
import type { Notifiable } from '../notification.ts';
import { readUrl, signingKey } from '../target-body.ts';
import { outcomeOfReply, postToTarget } from '../target-request.ts';
import {
  alertUrl,
  groupKeyOf,
  isoTime,
  type OutgoingNotification,
  type Sender,
  type SenderContext,
} from './sender.ts';

/**
 * A webhook: the JSON of Alertmanager's (prometheus.io/docs/alerting/latest/configuration/#webhook_config),
 * and `value` in each alert. With a signing secret the request is signed as standardwebhooks.com describes
 * it.
 */
export const sendWebhook: Sender = async (context, { settings, secrets }, outgoing, signal) => {
  const [endpoint = ''] = secrets.endpoints;
  const body = JSON.stringify(webhookBody(context, settings.name, outgoing));
  const reply = await postToTarget(
    context.guard,
    {
      url: readUrl(endpoint),
      headers: { ...secrets.headers, ...signatureHeaders(outgoing, secrets.signingSecrets, body) },
      body,
      skipTlsCheck: settings.skipTlsCheck,
      mustBeListed: false,
    },
    signal,
    context.timeouts,
  );
  return outcomeOfReply(reply);
};

export function webhookBody(context: SenderContext, receiver: string, outgoing: OutgoingNotification) {
  const { notification } = outgoing;
  const { alert, alerts, status, truncatedAlerts } = notification;
  return {
    version: '4',
    groupKey: groupKeyOf(outgoing),
    truncatedAlerts,
    status,
    receiver,
    groupLabels: { alertname: alert.title, alert_id: alert.id },
    commonLabels: commonEntries(alerts.map(({ labels }) => labels)),
    commonAnnotations: commonEntries(alerts.map(({ annotations }) => annotations)),
    externalURL: context.externalUrl ?? '',
    alerts: alerts.map((each) => ({
      status: each.status,
      labels: each.labels,
      annotations: each.annotations,
      startsAt: isoTime(each.startsAtMs),
      endsAt: each.status === 'firing' ? noTime : isoTime(endOf(each)),
      generatorURL: alertUrl(context, notification) ?? '',
      fingerprint: each.fingerprint,
      ...(each.value === undefined ? {} : { value: each.value }),
    })),
  };
}

/** Go's zero time, which Alertmanager sends for what has not ended. */
const noTime = '0001-01-01T00:00:00Z';

const endOf = ({ endsAtMs, startsAtMs }: Notifiable): number => endsAtMs ?? startsAtMs;

type Texts = Readonly<Record<string, string>>;

/** The entries that all objects have. */
function commonEntries([first = {}, ...others]: readonly Texts[]): Texts {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) =>
      others.every((each) => Object.hasOwn(each, name) && each[name] === value),
    ),
  );
}

/**
 * Headers of a signed webhook: an id that stays the same when the request is repeated, the time of this try
 * in seconds, and a signature for each secret, so that a receiver can change its secret without a gap.
 * Without a secret the id is sent alone.
 */
export function signatureHeaders(
  { id, nowMs }: Pick<OutgoingNotification, 'id' | 'nowMs'>,
  secrets: readonly string[],
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  if (secrets.length === 0) return { 'webhook-id': id, 'webhook-timestamp': timestamp };
  const sign = (secret: string) =>
    `v1,${createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}

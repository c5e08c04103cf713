import { limits } from '../../limits/limits.ts';
import type { AlertSeverity } from '../notification.ts';
import { isServiceUrl, readUrl } from '../target-body.ts';
import { outcomeOfReply, postToTarget } from '../target-request.ts';
import { instanceLines, shortened, titleOf } from './message-text.ts';
import {
  alertUrl,
  groupKeyOf,
  type OutgoingNotification,
  type Sender,
  type SenderContext,
} from './sender.ts';

/**
 * PagerDuty's Events API v2 (developer.pagerduty.com/docs/events-api-v2): one incident for a group, which is
 * triggered, updated and resolved under the same key.
 */
export const sendToPagerduty: Sender = async (context, { secrets }, outgoing, signal) => {
  const [endpoint = ''] = secrets.endpoints;
  const url = readUrl(endpoint);
  const reply = await postToTarget(
    context.guard,
    {
      url,
      headers: {},
      body: JSON.stringify(pagerdutyEvent(context, secrets.routingKey ?? '', outgoing)),
      skipTlsCheck: false,
      mustBeListed: isServiceUrl('pagerduty', url) === false,
    },
    signal,
    context.timeouts,
  );
  return outcomeOfReply(reply);
};

const severities: Readonly<Record<AlertSeverity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
};

export function pagerdutyEvent(context: SenderContext, routingKey: string, outgoing: OutgoingNotification) {
  const { notification } = outgoing;
  const { alert, status, alerts } = notification;
  const base = { routing_key: routingKey, dedup_key: groupKeyOf(outgoing) };
  if (status === 'resolved') return { ...base, event_action: 'resolve' };
  const link = alertUrl(context, notification);
  const [first] = alerts;
  const instances = instanceLines(notification).join('\n');
  return {
    ...base,
    event_action: 'trigger',
    payload: {
      summary: shortened(titleOf(notification), limits.maxPagerdutySummaryLength),
      source: alert.datasets.join(', ') || 'millrace',
      severity: severities[alert.severity],
      ...(first === undefined ? {} : { timestamp: new Date(first.startsAtMs).toISOString() }),
      group: alert.id,
      class: shortened(alert.title, limits.maxPagerdutySummaryLength),
      custom_details: {
        instances: shortened(instances, limits.maxPagerdutyDetailsLength),
        ...(alert.condition === undefined ? {} : { condition: alert.condition }),
        ...(alert.query === undefined
          ? {}
          : { query: shortened(alert.query, limits.maxPagerdutyDetailsLength) }),
      },
    },
    client: 'Millrace',
    ...(link === undefined ? {} : { client_url: link }),
  };
}

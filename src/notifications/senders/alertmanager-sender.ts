import type { DeliveryOutcome } from '../delivery-outcome.ts';
import type { Notifiable } from '../notification.ts';
import { readUrl } from '../target-body.ts';
import { outcomeOfError, outcomeOfReply, postToTarget } from '../target-request.ts';
import { alertUrl, isoTime, type OutgoingNotification, type Sender, type SenderContext } from './sender.ts';

const apiPath = '/api/v2/alerts';
/** Prometheus sends each alert again after a minute at the earliest. */
const minResendMs = 60_000;
/** It is over when nothing was heard of it for so many times that. */
const missedResends = 4;

/**
 * Alertmanager's API (github.com/prometheus/alertmanager, api/v2/openapi.yaml), as Prometheus uses it: each
 * replica is told by itself, since they do not tell each other of alerts. It is delivered if one took it: the
 * others get the same with the next evaluation.
 */
export const sendToAlertmanager: Sender = async (context, { settings, secrets }, outgoing, signal) => {
  const body = JSON.stringify(alertmanagerAlerts(context, outgoing));
  const { username, skipTlsCheck } = settings;
  const credentials = `${username ?? ''}:${secrets.password ?? ''}`;
  const headers =
    username === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const send = async (endpoint: string): Promise<DeliveryOutcome> => {
    const url = apiUrl(endpoint);
    try {
      const request = { url, headers, body, skipTlsCheck, mustBeListed: false };
      return outcomeOfReply(await postToTarget(context.guard, request, signal, context.timeouts));
    } catch (error) {
      return outcomeOfError(error);
    }
  };
  const outcomes = await Promise.all(secrets.endpoints.map(send));
  const best = ['delivered', 'retry', 'failed']
    .map((kind) => outcomes.find((outcome) => outcome.kind === kind))
    .find((outcome) => outcome !== undefined);
  return best ?? { kind: 'failed', error: { code: 'bad_target', message: 'the target has no endpoint' } };
};

/** A URL without a path is that of an Alertmanager; any other one is taken as it is. */
function apiUrl(endpoint: string): URL {
  const url = readUrl(endpoint);
  if (url.pathname === '/') url.pathname = apiPath;
  return url;
}

/** As Prometheus sends them: what fires ends by itself if nothing more is heard of it. */
export function alertmanagerAlerts(context: SenderContext, { notification, nowMs }: OutgoingNotification) {
  const validMs = missedResends * Math.max(notification.alert.intervalMs, minResendMs);
  const endOf = ({ status, endsAtMs, startsAtMs }: Notifiable) =>
    status === 'firing' ? nowMs + validMs : (endsAtMs ?? startsAtMs);
  const generatorURL = alertUrl(context, notification);
  return notification.alerts.map((each) => ({
    labels: withValidNames(each.labels),
    annotations: withValidNames(each.annotations),
    startsAt: isoTime(each.startsAtMs),
    endsAt: isoTime(endOf(each)),
    ...(generatorURL === undefined ? {} : { generatorURL }),
  }));
}

/** Alertmanager before 0.28, and its classic mode, take letters, digits and underscores in names. */
const withValidNames = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name.replaceAll(/[^A-Za-z0-9_]|^(?=[0-9])/g, '_'), value]),
  );

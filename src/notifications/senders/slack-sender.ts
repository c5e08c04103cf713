import { limits } from '../../limits/limits.ts';
import type { Notification } from '../notification.ts';
import { isServiceUrl, readUrl } from '../target-body.ts';
import { outcomeOfReply, postToTarget } from '../target-request.ts';
import { detailLines, instanceLines, shortened, titleOf } from './message-text.ts';
import { alertUrl, type Sender } from './sender.ts';

/** An incoming webhook of Slack (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). */
export const sendSlack: Sender = async (context, { settings, secrets }, { notification }, signal) => {
  const [endpoint = ''] = secrets.endpoints;
  const url = readUrl(endpoint);
  const reply = await postToTarget(
    context.guard,
    {
      url,
      headers: {},
      body: JSON.stringify(slackMessage(notification, alertUrl(context, notification))),
      skipTlsCheck: settings.skipTlsCheck,
      mustBeListed: isServiceUrl('slack', url) === false,
    },
    signal,
    context.timeouts,
  );
  const { status, text } = reply;
  const name = text.trim();
  if (status === 200 && name !== 'ok') {
    const message = 'the target answered with status 200 and not with the "ok" of Slack';
    return { kind: 'retry', error: { code: 'target_status', message, status } };
  }
  const outcome = outcomeOfReply(reply);
  if (outcome.kind === 'delivered' || !knownErrors.has(name)) return outcome;
  const message = `Slack answered with status ${status} ${name}`;
  return { ...outcome, error: { ...outcome.error, message } };
};

/** Errors of Slack's that tell the tenant what to do. Anything else in the reply is not shown. */
const knownErrors: ReadonlySet<string> = new Set([
  'invalid_payload',
  'invalid_blocks',
  'no_text',
  'no_service',
  'no_service_id',
  'no_team',
  'team_disabled',
  'user_not_found',
  'channel_not_found',
  'channel_is_archived',
  'action_prohibited',
  'posting_to_general_channel_denied',
  'invalid_token',
  'too_many_attachments',
  'rollup_error',
  'rate_limited',
]);

/** Control characters of Slack's markup; nothing else needs escaping. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param link where the alert can be looked at */
export function slackMessage(notification: Notification, link: string | undefined) {
  const title = titleOf(notification);
  const heading = escaped(shortened(title, limits.maxSlackTitleLength));
  const linked = link === undefined ? `*${heading}*` : `*<${link}|${heading}>*`;
  const details = packed(detailLines(notification).map(escaped));
  const instances = packed(instanceLines(notification).map(escaped));
  const sections = [[linked], ...details, ...instances];
  return {
    text: heading,
    blocks: sections
      .slice(0, limits.maxSlackSections)
      .map((lines) => ({ type: 'section', text: { type: 'mrkdwn', text: lines.join('\n') } })),
  };
}

const line = (text: string): string => shortened(text, limits.maxSlackLineLength);

/** Lines put together into sections of the length that Slack takes. */
function packed(lines: readonly string[]): string[][] {
  const sections: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const each of lines.map(line)) {
    length += each.length + 1;
    if (length > limits.maxSlackSectionLength) {
      sections.push([]);
      length = each.length + 1;
    }
    sections.at(-1)?.push(each);
  }
  return sections;
}

import { createTransport, type Transporter } from 'nodemailer';
import { errorText } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import type { DeliveryOutcome } from '../delivery-outcome.ts';
import { type EmailPolicy, requireMailAllowed } from '../email-policy.ts';
import { detailLines, instanceLines, shortened, titleOf } from './message-text.ts';
import {
  alertUrl,
  groupKeyOf,
  type OutgoingNotification,
  type Sender,
  type SenderContext,
} from './sender.ts';

/** The mail server of the operator's configuration. */
export interface MailServer {
  /** `smtp://user:password@host:587` or `smtps://host:465`. */
  readonly url: URL;
  /** The sender's address. */
  readonly from: string;
}

/** E-mail through the operator's mail server, over connections that are kept. */
export class EmailSender {
  readonly #from: string;
  readonly #policy: EmailPolicy;
  readonly #transport: Transporter;

  constructor({ url, from }: MailServer, policy: EmailPolicy) {
    this.#from = from;
    this.#policy = policy;
    this.#transport = createTransport(transportOptions(url));
  }

  close(): void {
    this.#transport.close();
  }

  readonly send: Sender = async (context, { settings }, outgoing): Promise<DeliveryOutcome> => {
    requireMailAllowed(settings.recipients, this.#policy);
    try {
      await this.#transport.sendMail(mailOf(context, this.#from, settings.recipients, outgoing));
      return { kind: 'delivered' };
    } catch (error) {
      return outcomeOfMailError(error);
    }
  };
}

/** Plain text goes out only to a port that is none of those for submission with TLS. */
function transportOptions(url: URL) {
  const isImplicitTls = url.protocol === 'smtps:';
  const port = url.port === '' ? (isImplicitTls ? 465 : 587) : Number(url.port);
  const user = decodeURIComponent(url.username);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    secure: isImplicitTls,
    // A password is not sent in clear, whatever the server offers.
    requireTLS: !isImplicitTls && (port === 587 || user !== ''),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    pool: true,
    maxConnections: limits.maxMailConnections,
    connectionTimeout: limits.targetConnectMs,
    greetingTimeout: limits.targetRequestMs,
    socketTimeout: limits.targetRequestMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
}

/**
 * The fixed id lets mail systems drop a repeat; `References` puts all mail about one alert into one thread.
 */
export function mailOf(
  context: SenderContext,
  from: string,
  recipients: readonly string[],
  outgoing: OutgoingNotification,
) {
  const { notification, id } = outgoing;
  const domain = /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? 'millrace.invalid';
  const thread = `<${groupKeyOf(outgoing).replace('/', '.')}@${domain}>`;
  const link = alertUrl(context, notification);
  return {
    from,
    to: [...recipients],
    subject: shortened(titleOf(notification), limits.maxMailSubjectLength),
    text: [
      titleOf(notification),
      '',
      ...detailLines(notification),
      '',
      ...instanceLines(notification),
      ...(link === undefined ? [] : ['', link]),
      '',
    ].join('\n'),
    messageId: `<${id}@${domain}>`,
    references: [thread],
    inReplyTo: thread,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

/** A mail server's 5xx is final, unless it is about the operator's password: that gets mended. */
function outcomeOfMailError(error: unknown): DeliveryOutcome {
  const { responseCode, code } = Object(error) as { responseCode?: unknown; code?: unknown };
  const status = typeof responseCode === 'number' ? responseCode : undefined;
  const isFinal = status !== undefined && status >= 500 && code !== 'EAUTH';
  const message =
    status === undefined
      ? `the mail server cannot be used: ${typeof code === 'string' ? code : errorText(error)}`
      : code === 'EAUTH'
        ? 'the mail server does not take the configured user and password'
        : `the mail server answered with ${status}`;
  return {
    kind: isFinal ? 'failed' : 'retry',
    error: { code: 'target_status', message, ...(status === undefined ? {} : { status }) },
  };
}

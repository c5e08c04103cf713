import { type Networks, parseNetworks } from '../lib/ip-address.ts';
import { oidcOptions } from './oidc-options.ts';
import { ConfigError, type Option, type OptionTexts, readOption } from './option.ts';

/** Where notifications of alerts may go, and how mail is sent. */
export interface NotificationConfig {
  /** Networks that targets may be in though they are private or special; undefined: none. */
  readonly targetAllowedNetworks: AllowedNetworks | undefined;
  /** The mail server; undefined: no mail is sent. */
  readonly smtpUrl: URL | undefined;
  /** The sender of mail; undefined without a mail server. */
  readonly smtpFrom: string | undefined;
  /** Domains that mail may go to, in lower case; undefined: any. */
  readonly smtpDomains: ReadonlySet<string> | undefined;
  /** For links in notifications; undefined: they have none. */
  readonly publicUrl: string | undefined;
}

export interface AllowedNetworks {
  readonly networks: Networks;
  /** As they were written. */
  readonly texts: readonly string[];
}

function parseAllowed(text: string): AllowedNetworks | undefined {
  const networks = parseNetworks(text);
  return networks && { networks, texts: text.split(',').map((each) => each.trim()) };
}

function parseMailUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined;
  return url.search === '' && url.hash === '' && /^\/?$/.test(url.pathname) && isDecodable(url)
    ? url
    : undefined;
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

const domain = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/;

function parseDomains(text: string): ReadonlySet<string> | undefined {
  const domains = text.split(',').map((each) => each.trim().toLowerCase());
  return domains.every((each) => domain.test(each)) ? new Set(domains) : undefined;
}

export const notificationOptions = {
  targetAllowedNetworks: {
    env: 'MILLRACE_TARGET_ALLOWED_NETWORKS',
    meaning:
      'networks that targets of notifications may be in though they are private or local; without it tenants can send to public addresses only',
    fallback: undefined,
    parse: parseAllowed,
    allowed: 'addresses and networks, separated by commas, such as 10.1.2.0/24, fd00:1::/32',
  },
  smtpUrl: {
    env: 'MILLRACE_SMTP_URL',
    meaning: 'the mail server for notifications by e-mail; none are sent if it is not set',
    fallback: undefined,
    secret: true,
    parse: parseMailUrl,
    allowed: 'smtps://user:password@host or smtp://user:password@host:port, with port 465 and 587 by default',
  },
  smtpFrom: {
    env: 'MILLRACE_SMTP_FROM',
    meaning: 'the sender of notifications by e-mail',
    fallback: undefined,
    parse: (text) => (/^[^\s@<>,;"\p{Cc}]{1,64}@[A-Za-z0-9.-]{1,190}$/u.test(text) ? text : undefined),
    allowed: 'an address, such as alerts@example.com',
  },
  smtpDomains: {
    env: 'MILLRACE_SMTP_DOMAINS',
    meaning: 'domains that notifications by e-mail may go to; any if it is not set',
    fallback: undefined,
    parse: parseDomains,
    allowed: 'domains, separated by commas, such as example.com, example.org',
  },
} as const satisfies Readonly<Record<string, Option<unknown>>>;

/** @throws ConfigError */
export function readNotificationOptions(texts: OptionTexts): NotificationConfig {
  const url = readOption(notificationOptions.smtpUrl, texts);
  const from = readOption(notificationOptions.smtpFrom, texts);
  if ((url === undefined) !== (from === undefined)) {
    const { smtpUrl, smtpFrom } = notificationOptions;
    throw new ConfigError(`${smtpUrl.env} and ${smtpFrom.env} belong together; one of them is missing`);
  }
  return {
    targetAllowedNetworks: readOption<AllowedNetworks>(notificationOptions.targetAllowedNetworks, texts),
    smtpUrl: url,
    smtpFrom: from,
    smtpDomains: readOption<ReadonlySet<string>>(notificationOptions.smtpDomains, texts),
    publicUrl: readOption(oidcOptions.publicOrigin, texts),
  };
}

import { parseOrigin } from '../lib/option-values.ts';
import { ConfigError, flagOf, needOption, type Option, type OptionTexts, readOption } from './option.ts';

/** What the commands that ask a running service are told: where it is, and who asks. */
export interface ClientConfig {
  /** Undefined: the service of the data directory. */
  readonly url: string | undefined;
  /** An API key. */
  readonly key: string | undefined;
  /** `name:password` */
  readonly user: string | undefined;
  readonly tenant: string | undefined;
  readonly format: OutputFormat;
}

export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'arrow', 'parquet'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Options of the commands that ask a running service. */
export const clientOptions = {
  url: {
    env: 'MILLRACE_URL',
    meaning: 'the service that a command asks; the one of the data directory if it is not set',
    fallback: undefined,
    parse: parseOrigin,
    allowed: 'a URL without path, such as https://logs.example.com',
  },
  key: {
    env: 'MILLRACE_KEY',
    meaning: 'the API key that a command uses',
    fallback: undefined,
    secret: true,
    parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? text : undefined),
    allowed: 'a key as the service gave it',
  },
  user: {
    env: 'MILLRACE_USER',
    meaning:
      'the user that a command is for; without user and key, the administrator of the data directory, if the URL is not set',
    fallback: undefined,
    secret: true,
    parse: (text) => (/^[^:\p{Cc}]+:[^\p{Cc}]+$/u.test(text) ? text : undefined),
    allowed: 'name:password',
  },
  tenant: {
    env: 'MILLRACE_TENANT',
    meaning: 'the tenant that a command is about, in multi-tenant mode',
    fallback: undefined,
    parse: (text) => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : undefined),
    allowed: 'the name of a tenant',
  },
  format: {
    env: 'MILLRACE_FORMAT',
    meaning: 'how millrace query prints its result',
    fallback: 'table',
    parse: (text) => outputFormats.find((format) => format === text),
    allowed: outputFormats.join(', '),
  },
} as const satisfies { readonly [K in keyof ClientConfig]: Option<NonNullable<ClientConfig[K]>> };

/** Their flags: the service itself takes none of them. */
export const clientFlags: ReadonlySet<string> = new Set(
  Object.values(clientOptions).map(({ env }) => flagOf(env)),
);

/** @throws ConfigError */
export function readClient(texts: OptionTexts): ClientConfig {
  const config = {
    url: readOption(clientOptions.url, texts),
    key: readOption(clientOptions.key, texts),
    user: readOption(clientOptions.user, texts),
    tenant: readOption(clientOptions.tenant, texts),
    format: needOption<OutputFormat>(clientOptions.format, texts),
  };
  if (config.key !== undefined && config.user !== undefined)
    throw new ConfigError(
      `${clientOptions.key.env} and ${clientOptions.user.env} are both set; set one of them`,
    );
  return config;
}

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type ClickHouseAddress, clickHouseUrlSyntax, parseClickHouseUrl } from '../lib/clickhouse-url.ts';
import { closestNames } from '../lib/closest-names.ts';
import { splitCommandLine } from '../lib/command-line.ts';
import { type Networks, parseNetworks } from '../lib/ip-address.ts';
import { type LogLevel, logLevels } from '../lib/log.ts';
import { type Address, boolean, byteCount, integer, parseAddress } from '../lib/option-values.ts';
import { collectLate, compileLate } from '../lib/v8-tuning.ts';
import { limits } from '../limits/limits.ts';
import { type ApiConfig, apiOptions, readApiOptions } from './api-options.ts';
import { type ClientConfig, clientFlags, clientOptions, readClient } from './client-options.ts';
import { type CommandName, commandHelp, commandNames } from './command-help.ts';
import { type EngineConfig, readEngine } from './engine-options.ts';
import { type ListenerConfig, listenerOptions, readListener } from './listener-options.ts';
import { defaultQueryMemoryBytes, defaultTotalQueryMemoryBytes } from './memory.ts';
import {
  type NotificationConfig,
  notificationOptions,
  readNotificationOptions,
} from './notification-options.ts';
import { type OidcConfig, oidcOptions, readOidc } from './oidc-options.ts';
import { type OperationConfig, operationOptions, readOperation } from './operation-options.ts';
import {
  ConfigError,
  fileOf,
  flagOf,
  needOption,
  type Option,
  type OptionTexts,
  readOption,
  variablesOf,
} from './option.ts';
import { type PgwireConfig, pgwireOptions, readPgwire } from './pgwire-options.ts';
import { type QuotaConfig, quotaOptions, readQuotas } from './quota-options.ts';
import { checkVariables } from './unknown-variables.ts';

/**
 * The only reader of the environment and the command line. All other code is given values.
 *
 * Each option is one row of `options`: its environment variable (from which the flag is made), its meaning,
 * its default, and how its text is parsed. `--help` is printed from the same rows.
 */
export interface Config
  extends QuotaConfig,
    OperationConfig,
    ApiConfig,
    EngineConfig,
    PgwireConfig,
    ListenerConfig,
    NotificationConfig {
  readonly httpAddr: Address;
  /** The networks of trusted reverse proxies; undefined if there are none. */
  readonly trustedProxies: Networks | undefined;
  readonly dataDir: string;
  readonly adminUsername: string;
  /** Undefined: generated at the first start and kept in the data directory. */
  readonly adminPassword: string | undefined;
  /** The file that it was read from; undefined: none. */
  readonly adminPasswordFile: string | undefined;
  /** Undefined: generated at the first start and kept in the data directory. */
  readonly secret: string | undefined;
  /** Undefined: the embedded engine. */
  readonly clickhouseUrl: ClickHouseAddress | undefined;
  readonly multiTenant: boolean;
  /** How long this node trusts its copy of users, keys and roles while it cannot read the store. */
  readonly identityLeaseMs: number;
  readonly workers: number;
  readonly flushIntervalMs: number;
  readonly walMaxBytes: number;
  readonly replayWindowMs: number;
  readonly maxBodyBytes: number;
  readonly queryTimeoutMs: number;
  /** Of a query whose result may have any size. */
  readonly exportTimeoutMs: number;
  readonly queryMaxMemoryBytes: number;
  /** CPU time for the translation of one query. */
  readonly sqlTranslationCpuMs: number;
  readonly queryMaxTotalMemoryBytes: number;
  readonly logLevel: LogLevel;
  /** Undefined: no identity provider. */
  readonly oidc: OidcConfig | undefined;
}

/** The command of the command line. */
export type Command =
  | { readonly name: 'serve'; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly name: 'dead'; readonly action: DeadAction; readonly config: Config }
  | { readonly name: 'query'; readonly sql: string; readonly client: ClientConfig; readonly config: Config }
  | { readonly name: 'health'; readonly client: ClientConfig; readonly config: Config }
  | {
      readonly name: 'backup';
      readonly backup: string | undefined;
      readonly client: ClientConfig;
      readonly config: Config;
    }
  | { readonly name: 'restore'; readonly backup: string; readonly config: Config }
  | { readonly name: 'help'; readonly of: CommandName | undefined }
  | { readonly name: 'version' };

/** What to do with dead letters: rows that the store rejected permanently. */
export type DeadAction =
  | { readonly verb: 'list' }
  | { readonly verb: 'retry' | 'drop'; readonly names: readonly string[] | 'all' };

const options = {
  httpAddr: {
    env: 'MILLRACE_HTTP_ADDR',
    meaning: 'where the HTTP API listens',
    fallback: '127.0.0.1:8000',
    parse: parseAddress,
    allowed: 'host:port, such as 0.0.0.0:8000 or [::1]:8000; port 0 picks a free port',
  },
  trustedProxies: {
    env: 'MILLRACE_TRUSTED_PROXIES',
    meaning: 'reverse proxies whose X-Forwarded-For or Forwarded header is trusted',
    fallback: undefined,
    parse: parseNetworks,
    allowed: 'addresses and networks, separated by commas, such as 10.0.0.0/8, 2001:db8::/32',
  },
  dataDir: {
    env: 'MILLRACE_DATA_DIR',
    meaning: 'the directory of the log, the embedded store and the administrator password',
    fallback: './data',
    parse: (text) => (text === '' ? undefined : resolve(text)),
    allowed: 'a path',
  },
  adminUsername: {
    env: 'MILLRACE_ADMIN_USERNAME',
    meaning: 'the name of the administrator',
    fallback: 'admin',
    parse: (text) => (/^[^\s:\p{Cc}]{1,64}$/u.test(text) ? text : undefined),
    allowed: '1 to 64 characters without ":" or white space',
  },
  adminPassword: {
    env: 'MILLRACE_ADMIN_PASSWORD',
    meaning: 'the password of the administrator; generated at the first start if it is not set',
    fallback: undefined,
    fallbackShown: 'made at the first start',
    secret: true,
    parse: (text) => (text.length >= 8 && text.length <= 256 ? text : undefined),
    allowed: '8 to 256 characters',
  },
  secret: {
    env: 'MILLRACE_SECRET',
    meaning: 'the secret that encrypts API keys; generated at the first start if it is not set',
    fallback: undefined,
    fallbackShown: 'made at the first start',
    secret: true,
    parse: (text) => (text.length >= 32 && text.length <= 1024 ? text : undefined),
    allowed: '32 to 1024 characters that nobody can guess, such as the output of openssl rand -base64 32',
  },
  clickhouseUrl: {
    env: 'MILLRACE_CLICKHOUSE_URL',
    meaning: 'the ClickHouse server to store data in; the embedded engine if it is not set',
    fallback: undefined,
    secret: true,
    parse: parseClickHouseUrl,
    allowed: clickHouseUrlSyntax,
  },
  multiTenant: {
    env: 'MILLRACE_MULTI_TENANT',
    meaning: 'multi-tenant mode, in which each request names its tenant in X-P-Tenant',
    fallback: 'false',
    parse: boolean,
    allowed: 'true, false',
  },
  identityLeaseMs: {
    env: 'MILLRACE_IDENTITY_LEASE_MS',
    meaning:
      'how long users and keys stay valid while the ClickHouse server does not answer, in milliseconds; the same on all nodes that share it',
    fallback: String(limits.identityLeaseMs),
    parse: integer(3000, 86_400_000),
    allowed: 'a number of milliseconds from 3000 to 86400000',
  },
  workers: {
    env: 'MILLRACE_WORKERS',
    meaning: 'decoding threads; one more thread decodes short bodies only',
    fallback: String(Math.max(1, Math.min(16, availableParallelism() - 1))),
    fallbackShown: 'one less than the cores, 1 to 16',
    parse: integer(1, 64),
    allowed: 'a number from 1 to 64',
  },
  flushIntervalMs: {
    env: 'MILLRACE_FLUSH_INTERVAL_MS',
    meaning: 'how long acknowledged data may wait before it is inserted, in milliseconds',
    fallback: String(limits.walSegmentMaxAgeMs),
    parse: integer(50, 60_000),
    allowed: 'a number of milliseconds from 50 to 60000',
  },
  walMaxBytes: {
    env: 'MILLRACE_WAL_MAX_BYTES',
    meaning: 'how much data may wait on disk for the store; beyond it writes get 503',
    fallback: String(limits.walMaxBytes),
    parse: byteCount(16 * 1024 * 1024, 2 ** 50),
    allowed: 'a number of bytes of at least 16MiB, with an optional KiB, MiB, GiB or TiB',
  },
  replayWindowMs: {
    env: 'MILLRACE_REPLAY_WINDOW_MS',
    meaning: 'how long a retry of a stored request is recognised, in milliseconds',
    fallback: String(limits.replayWindowMs),
    parse: integer(1000, 86_400_000),
    allowed: 'a number of milliseconds from 1000 to 86400000',
  },
  maxBodyBytes: {
    env: 'MILLRACE_MAX_BODY_BYTES',
    meaning: 'the largest request body, as sent and after decompression',
    fallback: String(limits.maxBodyBytes),
    parse: byteCount(1024, limits.maxBodyBytes * 2),
    allowed: `a number of bytes from 1KiB to ${limits.maxBodyBytes * 2}, with an optional KiB or MiB`,
  },
  queryTimeoutMs: {
    env: 'MILLRACE_QUERY_TIMEOUT_MS',
    meaning: 'how long a query may run, in milliseconds',
    fallback: String(limits.queryTimeoutMs),
    parse: integer(100, 86_400_000),
    allowed: 'a number of milliseconds from 100 to 86400000',
  },
  exportTimeoutMs: {
    env: 'MILLRACE_EXPORT_TIMEOUT_MS',
    meaning: 'how long an export may take, including the reading of its result, in milliseconds',
    fallback: String(limits.exportTimeoutMs),
    parse: integer(100, 604_800_000),
    allowed: 'a number of milliseconds from 100 to 604800000',
  },
  queryMaxMemoryBytes: {
    env: 'MILLRACE_QUERY_MAX_MEMORY_BYTES',
    meaning:
      'how much memory one query may use, at most half of the total for all queries; by default an eighth of the memory of the machine or container, but no more than 384MiB',
    fallback: String(defaultQueryMemoryBytes()),
    fallbackShown: 'an eighth of the memory, at most 384MiB',
    parse: byteCount(16 * 1024 * 1024, 2 ** 50),
    allowed: 'a number of bytes of at least 16MiB, with an optional KiB, MiB, GiB or TiB',
  },
  sqlTranslationCpuMs: {
    env: 'MILLRACE_SQL_TRANSLATION_CPU_MS',
    meaning: 'how much CPU time the translation of one query may take, in milliseconds',
    fallback: String(limits.translationCpuMs),
    parse: integer(50, 10_000),
    allowed: 'a number of milliseconds from 50 to 10000',
  },
  queryMaxTotalMemoryBytes: {
    env: 'MILLRACE_QUERY_MAX_TOTAL_MEMORY_BYTES',
    meaning: 'how much memory all queries together may use; twice the limit of one query if it is not set',
    fallback: undefined,
    fallbackShown: 'twice MILLRACE_QUERY_MAX_MEMORY_BYTES',
    parse: byteCount(128 * 1024 * 1024, 2 ** 50),
    allowed: 'a number of bytes of at least 128MiB, with an optional KiB, MiB, GiB or TiB',
  },
  logLevel: {
    env: 'MILLRACE_LOG_LEVEL',
    meaning: 'how much is logged on stderr',
    fallback: 'info',
    parse: (text) => logLevels.find((level) => level === text),
    allowed: logLevels.join(', '),
  },
} as const satisfies {
  readonly [K in Exclude<
    keyof Config,
    | keyof (QuotaConfig &
        OperationConfig &
        ApiConfig &
        EngineConfig &
        PgwireConfig &
        ListenerConfig &
        NotificationConfig)
    | 'oidc'
    | 'adminPasswordFile'
  >]: Option<Config[K]>;
};

/** All options by subject, as `--help` and `docs/reference/configuration.md` show them. */
export const optionGroups: Readonly<Record<string, ReadonlyArray<Option<unknown>>>> = {
  Service: Object.values(options),
  'SQL clients': Object.values(pgwireOptions),
  'HTTP server and TLS': Object.values(listenerOptions),
  'Quotas of tenants and datasets': Object.values(quotaOptions),
  'HTTP API': Object.values(apiOptions),
  'Metrics, watchdog and backups': Object.values(operationOptions),
  Notifications: Object.values(notificationOptions),
  'Identity provider': Object.values(oidcOptions),
  'Commands that ask a service': Object.values(clientOptions),
};
const allOptions = Object.values(optionGroups).flat();

const variableNames = allOptions.flatMap(variablesOf);
const flagNames = new Set(variableNames.map(flagOf));
/** Arguments without a value. */
const switchNames = new Set(['--help', '-h', '--version', '-v', '--all', '--yes']);

/**
 * Reads the command line and the environment. A flag has precedence over its environment variable.
 * @throws ConfigError
 */
export function readCommand(args = process.argv.slice(2), environment = process.env): Command {
  const { flags, switches, words, unknown, incomplete } = splitCommandLine(args, flagNames, switchNames);
  const command = commandNames.find((name) => name === words[0]);
  if (switches.has('--help') || switches.has('-h')) return { name: 'help', of: command };
  if (switches.has('--version') || switches.has('-v')) return { name: 'version' };
  if (unknown !== undefined) throw new ConfigError(unknownArgument(unknown));
  if (incomplete !== undefined) throw new ConfigError(`${incomplete} needs a value, such as ${incomplete}=…`);
  const warnings = checkVariables(environment, variableNames);
  const texts = { flags, environment };
  const config = readConfig(texts);
  const [, ...rest] = words;
  if (command === 'dead') return { name: 'dead', action: readDeadAction(rest, switches), config };
  const asksNobody = command === undefined || command === 'restore';
  const stray = [
    ...(command === undefined ? words : []),
    ...switches,
    ...(asksNobody ? [...flags.keys()].filter((flag) => clientFlags.has(flag)) : []),
  ];
  if (stray[0] !== undefined) throw new ConfigError(unknownArgument(stray[0]));
  const [word, ...more] = rest;
  const [least, most] = argumentCounts[command ?? 'health'];
  if (command !== undefined && (rest.length < least || more.length > 0 || rest.length > most))
    throw new ConfigError(
      `millrace ${command} takes ${argumentsOf[command]}; see millrace ${command} --help`,
    );
  if (command === 'query') return { name: command, sql: word ?? '', client: readClient(texts), config };
  if (command === 'health') return { name: command, client: readClient(texts), config };
  if (command === 'backup') return { name: command, backup: word, client: readClient(texts), config };
  if (command === 'restore') return { name: command, backup: word ?? '', config };
  return { name: 'serve', config, warnings };
}

type Plain = Exclude<CommandName, 'dead'>;
/** How many arguments a command has, at least and at most. */
const argumentCounts: Readonly<Record<Plain, readonly [number, number]>> = {
  query: [1, 1],
  health: [0, 0],
  backup: [0, 1],
  restore: [1, 1],
};
const argumentsOf: Readonly<Record<Plain, string>> = {
  query: 'one argument, the SQL, or - for stdin',
  health: 'no argument',
  backup: 'one argument, the name of the backup, or none',
  restore: 'one argument, the directory of the backup',
};

function unknownArgument(argument: string): string {
  const [meant] = closestNames(argument, [...flagNames, ...switchNames]);
  const hint = meant === undefined ? 'see millrace --help' : `did you mean ${meant}?`;
  return `${argument} is not an option of millrace; ${hint}`;
}

function readDeadAction(words: readonly string[], switches: ReadonlySet<string>): DeadAction {
  const [verb, ...names] = words;
  const all = switches.has('--all');
  if (verb === 'list' && names.length === 0 && !all) return { verb };
  if (verb !== 'retry' && verb !== 'drop') {
    throw new ConfigError('millrace dead takes one of: list, retry <name>…, drop <name>… --yes');
  }
  if (all === names.length > 0) {
    throw new ConfigError(`millrace dead ${verb} takes names as millrace dead list shows them, or --all`);
  }
  if (verb === 'drop' && !switches.has('--yes')) {
    throw new ConfigError(
      'millrace dead drop deletes rows that are stored nowhere else; add --yes to confirm',
    );
  }
  return { verb, names: all ? 'all' : names };
}

function readConfig(texts: OptionTexts): Config {
  const read = <T>(option: Option<T>): T | undefined => readOption(option, texts);
  const need = <T>(option: Option<T>): T => needOption(option, texts);
  const config: Config = {
    httpAddr: need(options.httpAddr),
    trustedProxies: read(options.trustedProxies),
    dataDir: need(options.dataDir),
    adminUsername: need(options.adminUsername),
    adminPassword: read(options.adminPassword),
    adminPasswordFile: fileOf(options.adminPassword, texts),
    secret: read(options.secret),
    clickhouseUrl: read(options.clickhouseUrl),
    multiTenant: need(options.multiTenant),
    identityLeaseMs: need(options.identityLeaseMs),
    workers: need(options.workers),
    flushIntervalMs: need(options.flushIntervalMs),
    walMaxBytes: need(options.walMaxBytes),
    replayWindowMs: need(options.replayWindowMs),
    maxBodyBytes: need(options.maxBodyBytes),
    queryTimeoutMs: need(options.queryTimeoutMs),
    exportTimeoutMs: need(options.exportTimeoutMs),
    queryMaxMemoryBytes: need(options.queryMaxMemoryBytes),
    sqlTranslationCpuMs: need(options.sqlTranslationCpuMs),
    queryMaxTotalMemoryBytes:
      read(options.queryMaxTotalMemoryBytes) ??
      defaultTotalQueryMemoryBytes(need(options.queryMaxMemoryBytes)),
    logLevel: need(options.logLevel),
    ...readQuotas(texts),
    ...readOperation(texts, need(options.dataDir)),
    ...readApiOptions(texts),
    ...readPgwire(texts),
    ...readEngine(texts.environment),
    ...readListener(texts),
    ...readNotificationOptions(texts),
    oidc: readOidc(texts, need(options.multiTenant)),
  };
  return Object.freeze(config);
}

/**
 * Sets what native code reads once: libuv when its pool is first used, uWebSockets.js when it is loaded, V8
 * while functions warm up and the heap grows. It must run before anything else. Values that the operator has
 * set in the environment are kept.
 */
export function prepareProcess(): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(limits.threadPoolSize);
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(limits.maxHeaderBytes);
  compileLate();
  collectLate();
}

/** @param command undefined: of the service */
export function helpText(command?: CommandName): string {
  if (command !== undefined) return [...commandHelp[command], ''].join('\n');
  const rows = allOptions.flatMap(({ env, meaning, fallback, allowed, secret }) => [
    `  ${flagOf(env)}, ${env}`,
    `      ${meaning}`,
    `      ${allowed}${fallback === undefined ? '' : `; default ${fallback}`}`,
    ...(secret === true
      ? [`      or the file that holds it: ${variablesOf({ env, secret }).slice(1).map(flagOf)}`]
      : []),
  ]);
  return [
    'millrace: telemetry ingestion with a columnar store and SQL',
    '',
    'Usage: millrace [options]                          start the service',
    '       millrace query "SELECT …"                   run a query and print its result',
    '       millrace health                             ask whether the service takes requests',
    '       millrace backup [<name>]                    back up the running service',
    '       millrace restore <backup>                   make a data directory from a backup',
    '       millrace dead list                          list rows that the store rejected permanently',
    '       millrace dead retry <name>…|--all           insert these rows again; the service must be stopped',
    '       millrace dead drop <name>…|--all --yes      delete these rows; the service must be stopped',
    '       millrace [<command>] --help                 show this text, or that of a command',
    '       millrace --version                          show the version',
    '',
    'Options, as a flag or an environment variable:',
    ...rows,
    '',
  ].join('\n');
}

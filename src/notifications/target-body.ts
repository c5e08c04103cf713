/** Targets as requests describe them, as they are stored and as replies show them; pure. */

import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, listOf, oneOf, text } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { type TargetType, targetTypes } from './notification.ts';
import { pagerdutyUrls, slackHosts } from './service-urls.ts';

const url = text(limits.maxTargetUrlLength);
const secret = text(limits.maxTargetSecretLength);
const several = listOf(url, limits.maxTargetEndpoints);

/**
 * A target in a request. Parseable's members, and ours: `endpoints`, `signingSecret`, `routingKey` and
 * `recipients`. Others are kept.
 */
export const targetSchema = v.pipe(
  v.looseObject({
    name: v.pipe(text(limits.maxTargetNameLength), v.minLength(1)),
    type: oneOf(targetTypes),
    id: v.optional(v.pipe(v.string(), v.description('Of a target that is replaced.'))),
    endpoint: v.optional(url),
    endpoints: v.optional(v.pipe(several, v.description('Of the type alertManager: all of its replicas.'))),
    headers: v.optional(
      v.pipe(v.record(v.string(), text(limits.maxTargetHeaderLength)), v.description('Of a webhook.')),
    ),
    skipTlsCheck: v.optional(v.boolean()),
    username: v.optional(v.nullable(secret)),
    password: v.optional(v.nullable(secret)),
    signingSecret: v.optional(
      v.pipe(
        v.nullable(v.union([secret, listOf(secret, limits.maxSigningSecrets)], secretRule())),
        v.description('Of a webhook: whsec_ and base64, one or several (Standard Webhooks).'),
      ),
    ),
    routingKey: v.optional(v.pipe(secret, v.description('Of the type pagerduty.'))),
    recipients: v.optional(
      v.pipe(
        listOf(text(limits.maxEmailAddressLength), limits.maxEmailRecipients),
        v.description('Of the type email.'),
      ),
    ),
  }),
  v.title('Target'),
);
export type TargetRequestBody = v.InferOutput<typeof targetSchema>;

export const targetExpectation: Expectation<TargetRequestBody> = {
  schema: targetSchema,
  name: '',
  whole: `a target must be an object with name and type, which is one of ${targetTypes.join(', ')}`,
  code: 'bad_target',
};

function secretRule(): string {
  return `must be whsec_ and base64, or an array of at most ${limits.maxSigningSecrets} of these`;
}

/** The secret parts of a target, which are encrypted together. */
export interface TargetSecrets {
  readonly endpoints: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signingSecrets: readonly string[];
  readonly password?: string;
  readonly routingKey?: string;
}

/** The others. */
export interface TargetSettings {
  readonly name: string;
  readonly type: TargetType;
  readonly skipTlsCheck: boolean;
  readonly username?: string;
  readonly recipients: readonly string[];
  /** Members of the request that nobody here knows. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** A target with its secrets, as senders need it. */
export interface Target {
  readonly settings: TargetSettings;
  readonly secrets: TargetSecrets;
}

/** What replies show in place of a secret. In a request it stands for what is stored. */
export const mask = '********';

/**
 * The target that a request describes.
 * @param before the stored target: secrets that the request leaves out, or masks, stay; null removes one
 * @throws AppError `bad_target`
 */
export function targetOf(request: TargetRequestBody, before?: Target): Target {
  if (before !== undefined) {
    if (request.name !== before.settings.name) throw bad('name cannot be changed');
    if (request.type !== before.settings.type) throw bad('type cannot be changed');
  }
  const { name, type, id, endpoint, endpoints, headers, skipTlsCheck, username, password, ...rest } = request;
  const { signingSecret, routingKey, recipients, ...others } = rest;
  const old = before?.secrets;
  const user = username === undefined ? before?.settings.username : (username ?? undefined);
  const pass = keptText(password, old?.password);
  const key = keptText(routingKey, old?.routingKey);
  const target: Target = {
    settings: {
      name,
      type,
      skipTlsCheck: skipTlsCheck ?? before?.settings.skipTlsCheck ?? false,
      ...(user === undefined ? {} : { username: user }),
      recipients: recipients ?? before?.settings.recipients ?? [],
      others: Object.fromEntries(Object.entries(others).filter(([each]) => !isOurs(each))),
    },
    secrets: {
      endpoints: keptEndpoints(type, endpoints ?? (endpoint === undefined ? undefined : [endpoint]), old),
      headers: keptHeaders(headers, old),
      signingSecrets: keptSecrets(signingSecret, old),
      ...(pass === undefined ? {} : { password: pass }),
      ...(key === undefined ? {} : { routingKey: key }),
    },
  };
  checkTarget(target);
  return target;
}

/** Members that replies add, and that a client may send back. */
const isOurs = (name: string): boolean =>
  ['target', 'enabled', 'error', 'revision', 'tenantId'].includes(name);

const keptText = (given: string | null | undefined, old: string | undefined): string | undefined =>
  given === undefined || given === mask ? old : (given ?? undefined);

const isMaskedUrl = (text: string): boolean => text === mask || /^https?:\/\/\*{8}$/.test(text);

function keptEndpoints(
  type: TargetType,
  given: readonly string[] | undefined,
  old: TargetSecrets | undefined,
): readonly string[] {
  if (given === undefined || given.every(isMaskedUrl))
    return old?.endpoints ?? (type === 'pagerduty' && given === undefined ? [pagerdutyUrls.us] : []);
  return given.map((each, index) => (isMaskedUrl(each) ? (old?.endpoints[index] ?? each) : each));
}

const keptHeaders = (
  given: Readonly<Record<string, string>> | undefined,
  old: TargetSecrets | undefined,
): Readonly<Record<string, string>> =>
  given === undefined
    ? (old?.headers ?? {})
    : Object.fromEntries(
        Object.entries(given).map(([name, value]) => {
          const kept = value === mask && old !== undefined && Object.hasOwn(old.headers, name);
          return [name, kept ? (old.headers[name] ?? '') : value];
        }),
      );

function keptSecrets(
  given: TargetRequestBody['signingSecret'],
  old: TargetSecrets | undefined,
): readonly string[] {
  if (given === undefined) return old?.signingSecrets ?? [];
  if (given === null) return [];
  const list = typeof given === 'string' ? [given] : given;
  return list.map((each, index) => (each === mask ? (old?.signingSecrets[index] ?? each) : each));
}

const bad = (reason: string): AppError => new AppError('bad_target', reason);

/** What each type needs and takes. @throws AppError `bad_target` */
function checkTarget({ settings, secrets }: Target): void {
  const { type } = settings;
  const urls = secrets.endpoints.map(readUrl);
  for (const [name, isUsed] of Object.entries(used({ settings, secrets })))
    if (isUsed && !members[type].includes(name as Member))
      throw bad(`a target of the type ${type} has no ${name}`);
  if (type === 'email') {
    if (settings.recipients.length === 0) throw bad('a target of the type email needs recipients');
    for (const recipient of settings.recipients) checkRecipient(recipient);
    return;
  }
  if (urls.length === 0) throw bad(`a target of the type ${type} needs an endpoint, its URL`);
  if (urls.length > 1 && type !== 'alertManager')
    throw bad('only a target of the type alertManager has several endpoints');
  const headers = Object.entries(secrets.headers);
  if (headers.length > limits.maxTargetHeaders)
    throw bad(`headers has more than ${limits.maxTargetHeaders} members`);
  for (const [name, value] of headers) checkHeader(name, value);
  for (const each of secrets.signingSecrets) signingKey(each);
  if (secrets.password !== undefined && settings.username === undefined)
    throw bad('a password needs a username');
  if (type === 'pagerduty' && !/^[A-Za-z0-9]{32}$/.test(secrets.routingKey ?? ''))
    throw bad('routingKey must be the integration key of 32 letters and digits');
}

type Member =
  | 'endpoint'
  | 'headers'
  | 'signingSecret'
  | 'username'
  | 'routingKey'
  | 'recipients'
  | 'skipTlsCheck';
const members: Readonly<Record<TargetType, readonly Member[]>> = {
  webhook: ['endpoint', 'headers', 'signingSecret', 'skipTlsCheck'],
  slack: ['endpoint', 'skipTlsCheck'],
  alertManager: ['endpoint', 'username', 'skipTlsCheck'],
  pagerduty: ['endpoint', 'routingKey'],
  email: ['recipients'],
};

const used = ({ settings, secrets }: Target): Readonly<Record<Member, boolean>> => ({
  endpoint: secrets.endpoints.length > 0,
  headers: Object.keys(secrets.headers).length > 0,
  signingSecret: secrets.signingSecrets.length > 0,
  username: settings.username !== undefined || secrets.password !== undefined,
  routingKey: secrets.routingKey !== undefined,
  recipients: settings.recipients.length > 0,
  skipTlsCheck: settings.skipTlsCheck,
});

/** The URL of a target. @throws AppError `bad_target` */
export function readUrl(text: string): URL {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hostname.includes('*'))
    throw bad('endpoint must be a URL that begins with https:// or http://');
  if (parsed.username + parsed.password !== '')
    throw bad('endpoint must not hold a user or password; a webhook has headers, an Alertmanager a username');
  return parsed;
}

/**
 * Whether a host is that of the service itself; undefined for types whose hosts are the tenant's choice. Any
 * other host must be in the operator's networks.
 */
export function isServiceUrl(type: TargetType, { protocol, hostname, port }: URL): boolean | undefined {
  if (type !== 'slack' && type !== 'pagerduty') return undefined;
  const hosts =
    type === 'slack' ? slackHosts : Object.values(pagerdutyUrls).map((each) => new URL(each).hostname);
  return protocol === 'https:' && port === '' && hosts.includes(hostname);
}

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They decide where a request goes, where it ends, or what the service says by itself. */
const forbiddenHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'cookie',
  'user-agent',
  'forwarded',
  'via',
]);
const forbiddenPrefixes = ['proxy-', 'webhook-', 'x-forwarded-', 'sec-'];

function checkHeader(name: string, value: string): void {
  const lower = name.toLowerCase();
  if (!headerName.test(name))
    throw bad(`headers has a name that is none: ${JSON.stringify(name.slice(0, 40))}`);
  if (forbiddenHeaders.has(lower) || forbiddenPrefixes.some((prefix) => lower.startsWith(prefix)))
    throw bad(`the header ${name} cannot be set`);
  if (!headerValue.test(value))
    throw bad(`the header ${name} has a value with characters that are not allowed`);
}

/** The key of a signing secret: `whsec_` and base64 of 24 to 64 bytes. @throws AppError `bad_target` */
export function signingKey(secret: string): Buffer {
  const match = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(secret);
  const key = Buffer.from(match?.[1] ?? '', 'base64');
  if (key.byteLength < 24 || key.byteLength > 64)
    throw bad(
      'signingSecret must be whsec_ and base64 of 24 to 64 bytes, such as "whsec_$(openssl rand -base64 32)"',
    );
  return key;
}

/** One plain address, so that no recipient can hide another one or a header. */
const emailAddress =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}$/;

function checkRecipient(recipient: string): void {
  if (!emailAddress.test(recipient))
    throw bad(
      `recipients must be plain e-mail addresses; ${JSON.stringify(recipient.slice(0, 100))} is none`,
    );
}

/** A target as replies show it: Parseable's members, without secrets. */
export function maskedTarget(id: string, { settings, secrets }: Target): Readonly<Record<string, unknown>> {
  const { name, type, skipTlsCheck, username, recipients, others } = settings;
  const masked = secrets.endpoints.map((each) => `${readUrl(each).protocol}//${mask}`);
  return {
    ...others,
    id,
    name,
    type,
    ...(masked[0] === undefined ? {} : { endpoint: masked[0] }),
    ...(masked.length > 1 ? { endpoints: masked } : {}),
    ...(type === 'webhook' ? { headers: maskedHeaders(secrets) } : {}),
    ...(secrets.signingSecrets.length === 0 ? {} : { signingSecret: secrets.signingSecrets.map(() => mask) }),
    ...(username === undefined ? {} : { username }),
    ...(secrets.password === undefined ? {} : { password: mask }),
    ...(secrets.routingKey === undefined ? {} : { routingKey: mask }),
    ...(type === 'email' ? { recipients } : {}),
    skipTlsCheck,
  };
}

const maskedHeaders = ({ headers }: TargetSecrets): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, mask]));

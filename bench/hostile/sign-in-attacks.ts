import { randomUUID } from 'node:crypto';
import type { Answer } from './answer.ts';
import { type Attack, flood, pick, wrapped } from './attack.ts';
import type { Attacker } from './attacker.ts';

/** Attacks on authentication. Nobody here has valid credentials, but for the key that begins sessions. */

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unauthenticated = [
  'unauthenticated',
  'overloaded',
  'rate_limited',
  'headers_too_large',
  'credentials_ambiguous',
];
const about = '/api/v1/about';
const session = '/api/v1/session';

const beginSession = (
  attacker: Attacker,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  attacker.send({
    method: 'POST',
    path: session,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export const signInAttacks: readonly Attack[] = [
  {
    name: 'passwords-one-name',
    aim: '90 loops of wrong passwords for one name, of the root administrator',
    codes: unauthenticated,
    run: (attacker, size) =>
      flood(pick([450, 12], size), 90, () =>
        attacker.send({ path: about, headers: { authorization: basic('admin', randomUUID()) } }),
      ),
  },
  {
    name: 'passwords-many-names',
    aim: '90 loops of passwords for names that there are not, in the tenant of the victim too',
    codes: [...unauthenticated, 'tenant_not_found'],
    run: (attacker, size) =>
      flood(pick([450, 12], size), 90, (index) =>
        attacker.send({
          path: about,
          headers: {
            authorization: basic(`name${index}`, randomUUID()),
            'x-p-tenant': index % 2 === 0 ? 'alice' : attacker.tenant,
          },
        }),
      ),
  },
  {
    name: 'passwords-forwarded',
    aim: 'wrong passwords that say another address each time: who is believed?',
    codes: unauthenticated,
    run: (attacker, size) =>
      flood(pick([300, 8], size), 60, (index) =>
        attacker.send({
          path: about,
          headers: {
            authorization: basic('admin', randomUUID()),
            'x-forwarded-for': `10.1.${index >> 8}.${index & 255}`,
            forwarded: `for=10.2.${index >> 8}.${index & 255}`,
          },
        }),
      ),
  },
  {
    name: 'passwords-long',
    aim: 'names and passwords of 10 KB, of nothing, and of bytes that are no text',
    codes: unauthenticated,
    run: (attacker) =>
      Promise.all(
        [
          basic('a'.repeat(10_000), 'x'),
          basic('admin', 'x'.repeat(10_000)),
          basic('', ''),
          basic('a:'.repeat(5000), ':'),
          `Basic ${Buffer.alloc(10_000, 0xff).toString('base64')}`,
          `Basic ${'='.repeat(15_000)}`,
          `Basic ${' '.repeat(15_000)}x`,
        ].map((authorization) => attacker.send({ path: about, headers: { authorization } })),
      ),
  },
  {
    name: 'keys-wrong',
    aim: '5,000 API keys that are none, each another: caches of what was refused',
    codes: unauthenticated,
    run: (attacker, size) =>
      flood(pick([5000, 100], size), 50, () =>
        attacker.send({ path: about, headers: { 'x-api-key': `${randomUUID()}${randomUUID()}` } }),
      ),
  },
  {
    name: 'keys-long',
    aim: 'API keys of 15 KB, 500 times',
    codes: unauthenticated,
    run: (attacker, size) =>
      flood(pick([500, 20], size), 50, (index) =>
        attacker.send({ path: about, headers: { 'x-api-key': `${index}${'k'.repeat(15_000)}` } }),
      ),
  },
  {
    name: 'tokens-unknown-kid',
    aim: 'bearer tokens of 15 KB with keys that nobody knows, each another',
    codes: unauthenticated,
    run: (attacker, size) =>
      flood(pick([1000, 30], size), 50, () => {
        const head = encoded({ alg: 'RS256', typ: 'JWT', kid: randomUUID() });
        const body = encoded({ iss: 'https://x', sub: randomUUID(), roles: Array<string>(900).fill('role') });
        return attacker.send({
          path: about,
          headers: { authorization: `Bearer ${head}.${body}.${'A'.repeat(342)}` },
        });
      }),
  },
  {
    name: 'tokens-odd',
    aim: 'tokens of many dots, deep JSON, no algorithm, and keys in their own headers',
    codes: unauthenticated,
    run: (attacker) =>
      Promise.all(
        [
          '.'.repeat(15_000),
          `${Buffer.from('['.repeat(10_000)).toString('base64url')}.e30.e30`,
          `${encoded({ alg: 'none' })}.${encoded({ sub: 'admin' })}.`,
          `${encoded({ alg: 'HS256', jwk: { kty: 'oct', k: 'AA' } })}.${encoded({ sub: 'admin' })}.AAAA`,
          `${encoded({ alg: 'RS256', jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' })}.e30.AAAA`,
          `${encoded({ alg: 'RS256', crit: Array<string>(1000).fill('x') })}.e30.AAAA`,
          'x'.repeat(15_000),
        ].map((token) => attacker.send({ path: about, headers: { authorization: `Bearer ${token}` } })),
      ),
  },
  {
    name: 'sessions',
    aim: '5,000 sessions that are none, and sign-ins that nobody ends',
    codes: [...unauthenticated, 'not_found', 'login_failed', 'tenant_required', 'method_not_allowed'],
    run: (attacker, size) =>
      flood(pick([5000, 60], size), 50, (index) =>
        attacker.send(
          index % 3 === 0
            ? { path: `/api/v1/o/login?redirect=/${'a'.repeat(900)}${index}` }
            : { path: about, headers: { cookie: `millrace-session=${randomUUID()}${randomUUID()}` } },
        ),
      ),
  },
  {
    name: 'session-passwords',
    aim: '90 loops of sessions that begin with wrong passwords, in each tenant and with many names',
    codes: [...unauthenticated, 'tenant_not_found', 'bad_tenant_name', 'tenant_required', 'bad_request'],
    run: (attacker, size) =>
      flood(pick([450, 12], size), 90, (index) =>
        beginSession(attacker, {
          username: index % 2 === 0 ? 'admin' : `name${index}`,
          password: randomUUID(),
          ...(index % 3 === 0 ? {} : { tenant: index % 3 === 1 ? 'alice' : attacker.tenant }),
        }),
      ),
  },
  {
    name: 'session-keys',
    aim: '12,000 sessions that an API key begins, more than there may be, and nobody ends',
    codes: unauthenticated,
    run: (attacker, size) => {
      const apiKey = attacker.credentials('reader')['x-api-key'] ?? '';
      return flood(pick([12_000, 120], size), 50, () => beginSession(attacker, { apiKey }));
    },
  },
  {
    name: 'session-bodies',
    aim: 'sign-ins of a megabyte, deep, of wrong types, of tenants that are paths, and from other pages',
    codes: [
      ...unauthenticated,
      'bad_request',
      'bad_json',
      'body_too_large',
      'bad_tenant_name',
      'tenant_not_found',
      'tenant_required',
      'forbidden',
      'unsupported_media_type',
    ],
    mayClose: true,
    run: (attacker) =>
      Promise.all([
        ...[
          'x'.repeat(1_000_000),
          wrapped(4000, '[', '', ']'),
          wrapped(1300, '{"a":', '1', '}'),
          '{"username":1,"password":{}}',
          '{"username":"a:b","password":"x"}',
          '{"__proto__":{"apiKey":"x"}}',
          JSON.stringify({ username: 'a'.repeat(8000), password: 'x' }),
          JSON.stringify({ apiKey: 'k'.repeat(8000) }),
          JSON.stringify({ username: 'admin', password: 'x', tenant: '../alice' }),
          JSON.stringify({ username: 'admin', password: 'x', tenant: 't'.repeat(5000) }),
        ].map((body) => beginSession(attacker, body)),
        beginSession(
          attacker,
          { apiKey: 'x' },
          { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        ),
        attacker.send({
          method: 'DELETE',
          path: session,
          headers: { cookie: 'millrace-session='.repeat(900) },
        }),
        attacker.send({ path: session, headers: { cookie: `millrace-session=${'x'.repeat(15_000)}` } }),
      ]),
  },
  {
    name: 'anonymous-tenants',
    aim: 'requests without credentials for 2,000 tenants that there are not: lines of the log, rows of the audit trail',
    codes: [...unauthenticated, 'tenant_not_found', 'bad_tenant_name', 'not_found'],
    run: (attacker, size) =>
      flood(pick([2000, 60], size), 50, (index) =>
        attacker.send({
          path: index % 2 === 0 ? about : '/api/v1/roles',
          headers: { 'x-p-tenant': `tenant${index}`, 'x-api-key': `k${index}` },
        }),
      ),
  },
  {
    name: 'refusals',
    aim: '3,000 requests that a reader may not make: lines of the log, rows of the audit trail',
    codes: ['forbidden', 'overloaded', 'rate_limited', 'not_found'],
    run: (attacker, size) =>
      flood(pick([3000, 60], size), 50, (index) =>
        attacker.send({ as: 'reader', method: 'DELETE', path: `/api/v1/logstream/app${index}` }),
      ),
  },
];

import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import {
  Browser,
  clientId,
  createSigningKey,
  IdentityProvider,
  issuerOn,
  oidcConfig,
  type SigningKey,
  signToken,
} from '../../support/http/identity-provider.ts';
import { freePort } from '../../support/lib/child.ts';
import { deferred, problemOf, waitFor } from '../http/http-harness.ts';
import { apiKey, type IdentityNode, root, startIdentityNode } from './identity-node.ts';

let store: TestStore;
let node: IdentityNode;
let port: number;
let issuer: string;
let key: SigningKey;
let provider: IdentityProvider;

const oidcOn = (at: number) => ({ ...oidcConfig(at), rolesClaim: 'realm.roles' });

const claims = { preferred_username: 'Alice A.', realm: { roles: ['reading', 'no such role'] } };
const startProvider = (keys: readonly SigningKey[], rolesInUserInfoOnly = false) =>
  IdentityProvider.start({
    port,
    keys,
    redirectUris: [`${node.url}/api/v1/o/code`],
    claims,
    rolesInUserInfoOnly,
  });

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'first').prepare();
  port = await freePort();
  issuer = issuerOn(port);
  key = await createSigningKey('first');
  node = await startIdentityNode(store.store, 'one', {
    oidc: oidcOn(port),
    trustedProxies: parseNetworks('127.0.0.1'),
  });
  await node.identityStore.refresh();
  await node.json('PUT', '/api/v1/role/reading', [{ privilege: 'reader' }]);
  await node.json('PUT', '/api/v1/role/ingesting', [{ privilege: 'ingestor' }]);
  provider = await startProvider([key]);
});
afterAll(async () => {
  await provider?.stop();
  await node?.close();
  await store?.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
/** What becomes of a read and of a write. */
const access = async (credential: Record<string, string>, at = node) => [
  (await at.send('GET', '/api/v1/about', undefined, credential)).status,
  (await at.send('POST', '/api/v1/ingest', [{}], credential)).status,
];
const withRoles = (...roles: unknown[]) => signToken({ key, issuer, claims: { realm: { roles } } });

describe('bearer tokens', () => {
  it('of the provider let in, with the roles that their claim names', async () => {
    expect(await access(bearer(await withRoles('reading')))).toEqual([200, 403]);
    expect(await access(bearer(await withRoles('ingesting')))).toEqual([403, 200]);
    expect(await access(bearer(await withRoles('ingesting', 7, 'reading')))).toEqual([200, 200]);
    expect(await access(bearer(await withRoles('no such role')))).toEqual([403, 403]);
    expect(await access(bearer(await signToken({ key, issuer })))).toEqual([403, 403]);
  });

  it('without a role that exists get the default role, from its change on', async () => {
    const credential = bearer(await withRoles('no such role'));
    expect(await access(credential)).toEqual([403, 403]);
    await node.json('PUT', '/api/v1/role/default', 'ingesting');
    expect(await access(credential)).toEqual([403, 200]);
    await node.json('PUT', '/api/v1/role/ingesting', []);
    expect(await access(credential)).toEqual([403, 403]);
    await node.json('PUT', '/api/v1/role/ingesting', [{ privilege: 'ingestor' }]);
    expect(await access(bearer(await withRoles('reading')))).toEqual([200, 403]);
  });

  it('are who they are in the audit trail, and never in the log themselves', async () => {
    const token = await signToken({ key, issuer, claims });
    node.logLines.length = 0;
    expect((await access(bearer(token)))[1]).toBe(403);
    expect(node.logLines.join('')).toContain('{"kind":"oidc","name":"Alice A.","id":"oauth:alice"}');
    expect(node.logLines.join('')).not.toContain(token.slice(-40));
  });

  it('are refused when they are for somebody else, over, not yet good, or of another kind', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const tokens = {
      'another audience': await signToken({ key, issuer, audience: 'another' }),
      'another issuer': await signToken({ key, issuer: `${issuer}/other` }),
      'an issuer that only looks alike': await signToken({ key, issuer: `${issuer}/` }),
      expired: await signToken({ key, issuer, lifetimeSeconds: -31 }),
      'not yet good': await signToken({ key, issuer, claims: { nbf: nowSeconds + 60 } }),
      'a logout token': await signToken({ key, issuer, claims, header: { typ: 'logout+jwt' } }),
      'a logout token without its type': await signToken({
        key,
        issuer,
        claims: { ...claims, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
      }),
      'several audiences': await signToken({ key, issuer, claims, audience: [clientId, 'account'] }),
      'several audiences and another client': await signToken({
        key,
        issuer,
        audience: [clientId, 'account'],
        claims: { ...claims, azp: 'account' },
      }),
      'a proof by DPoP': await signToken({ key, issuer, claims: { ...claims, cnf: { jkt: 'thumbprint' } } }),
      'a proof by a certificate': await signToken({
        key,
        issuer,
        claims: { ...claims, cnf: { 'x5t#S256': 'thumbprint' } },
      }),
      'no subject': await signToken({ key, issuer, claims: { sub: undefined } }),
    };
    for (const [what, token] of Object.entries(tokens)) {
      expect([what, ...(await access(bearer(token)))]).toEqual([what, 401, 401]);
    }
  });

  it('for several audiences are good where they were made for this client', async () => {
    const audience = [clientId, 'account'];
    const own = await signToken({ key, issuer, audience, claims: { ...claims, azp: clientId } });
    expect(await access(bearer(own))).toEqual([200, 403]);
    expect(await access(bearer(await signToken({ key, issuer, audience: [clientId], claims })))).toEqual([
      200, 403,
    ]);
  });

  it('are good through a small difference between the clocks', async () => {
    const late = await signToken({ key, issuer, lifetimeSeconds: -10, claims });
    expect(await access(bearer(late))).toEqual([200, 403]);
  });

  it('are refused when nobody or somebody else has signed them', async () => {
    const good = await withRoles('reading');
    const [head = '', body = '', signature = ''] = good.split('.');
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const pem = Buffer.from(JSON.stringify(key.publicJwk));
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
    const stranger = await createSigningKey(key.id);
    const tokens = {
      'alg none': `${encode({ alg: 'none' })}.${body}.`,
      'alg none, capitals': `${encode({ alg: 'NONE', kid: key.id })}.${body}.${signature}`,
      'HS256 with the public key': await new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', kid: key.id })
        .sign(pem),
      'another key of the same name': await signToken({ key: stranger, issuer, claims }),
      'a key of its own in the header': await signToken({
        key: stranger,
        issuer,
        claims,
        header: { jwk: stranger.publicJwk },
      }),
      'a changed body': `${head}.${encode({ ...payload, realm: { roles: ['ingesting'] } })}.${signature}`,
      'no signature': `${head}.${body}.`,
      'not a token': 'abc',
      'an unknown extension': await signToken({
        key,
        issuer,
        claims,
        header: { crit: ['exp'] },
      }).catch(() => `${encode({ alg: 'RS256', kid: key.id, crit: ['x'], x: 1 })}.${body}.${signature}`),
    };
    for (const [what, token] of Object.entries(tokens)) {
      expect([what, ...(await access(bearer(token)))]).toEqual([what, 401, 401]);
    }
  });

  it('signed with a new key of the provider are good once it has been read, which is once for each pause', async () => {
    const other = await startIdentityNode(store.store, 'rotating', { oidc: oidcOn(port) });
    await other.identityStore.refresh();
    expect(await access(bearer(await withRoles('reading')), other)).toEqual([200, 403]);
    const second = await createSigningKey('second');
    await provider.stop();
    provider = await startProvider([second]);
    const fresh = (index: number) => signToken({ key: second, issuer, claims: { ...claims, index } });
    const flood = async (first: number) =>
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => access(bearer(await fresh(first + index)), other)),
      );
    // The keys were just read: a token with an unknown key does not cause another request to the provider.
    expect(new Set((await flood(0)).flat())).toEqual(new Set([401]));
    expect(provider.keysAsked).toBe(0);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + limits.oidcKeysCooldownMs + 1000 });
    try {
      expect(new Set((await flood(20)).map(String))).toEqual(new Set(['200,403']));
    } finally {
      vi.useRealTimers();
    }
    expect(provider.keysAsked).toBe(1);
    await provider.stop();
    provider = await startProvider([key]);
    await other.close();
  });

  it('wait while the provider is away, and everybody else gets in', async () => {
    const away = await freePort();
    const other = await startIdentityNode(store.store, 'alone', { oidc: oidcOn(away) });
    await other.identityStore.refresh();
    const credential = bearer(await signToken({ key, issuer: issuerOn(away), claims }));
    const reply = await other.send('GET', '/api/v1/about', undefined, credential);
    expect([reply.status, reply.headers.get('retry-after'), (await problemOf(reply)).code]).toEqual([
      503,
      '1',
      'oidc_unavailable',
    ]);
    expect(await access(root, other)).toEqual([200, 200]);
    const { apiKey: value } = await other.json<{ apiKey: string }>('POST', '/api/console/v1/apikeys', {
      keyName: 'while away',
      roles: ['ingesting'],
    });
    expect(await access(apiKey(value), other)).toEqual([403, 200]);
    const late = await IdentityProvider.start({
      port: away,
      keys: [key],
      redirectUris: [`${other.url}/x`],
      claims,
    });
    await waitFor(async () => (await access(credential, other))[0] === 200);
    // Known by now: the provider is needed no more.
    await late.stop();
    expect(await access(credential, other)).toEqual([200, 403]);
    await other.close();
  });

  it('that were checked are good no longer than they say', async () => {
    const token = await signToken({ key, issuer, claims, lifetimeSeconds: 100 });
    expect(await access(bearer(token))).toEqual([200, 403]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100_000 + limits.oidcClockSkewMs + 1000 });
    try {
      expect(await access(bearer(token))).toEqual([401, 401]);
    } finally {
      vi.useRealTimers();
    }
  });
});

const session = 'millrace-session';
/** Signs in as a browser does. @returns where it ends up */
const signIn = async (browser: Browser, query = '') => {
  const callback = await browser.follow(`${node.url}/api/v1/o/login${query}`, `${node.url}/api/v1/o/code`);
  return await browser.get(callback);
};
const samePage = { 'sec-fetch-site': 'same-origin' };

describe('a sign-in', () => {
  it('ends with a session that may do what the roles of the provider grant', async () => {
    const browser = new Browser();
    const reply = await signIn(browser, '?redirect=/search%3Fq%3D1');
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `${node.url}/search?q=1`]);
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).toMatch(/^millrace-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=60$/);
    expect(browser.cookie(node.url, 'millrace-login')).toBeUndefined();
    expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(200);
    expect((await browser.get(`${node.url}/api/v1/users`)).status).toBe(403);
    const lines = node.logLines.join('');
    expect(lines).toContain('"audit":"session.begin","target":"Alice A."');
    expect(lines).not.toContain(browser.cookie(node.url, session));
  });

  it('takes the roles from where the provider keeps them, if not from the token', async () => {
    await provider.stop();
    provider = await startProvider([key], true);
    const browser = new Browser();
    expect((await signIn(browser)).headers.get('location')).toBe(`${node.url}/`);
    expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(200);
    await provider.stop();
    provider = await startProvider([key]);
  });

  it('goes to the provider with PKCE, a state and a nonce, new ones each time', async () => {
    const ask = async () => {
      const reply = await new Browser().get(`${node.url}/api/v1/o/login`);
      expect([reply.status, reply.headers.get('cache-control')]).toEqual([303, 'no-store']);
      return new URL(reply.headers.get('location') ?? '').searchParams;
    };
    const [one, two] = [await ask(), await ask()];
    expect(one.get('code_challenge_method')).toBe('S256');
    expect(one.get('redirect_uri')).toBe(`${node.url}/api/v1/o/code`);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(one.get(name)).toMatch(/^[\w-]{43}$/);
      expect(one.get(name)).not.toBe(two.get(name));
    }
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    'javascript:alert(1)',
    'http://x@evil.example',
    `/${'x'.repeat(2000)}`,
  ])('does not end at %s', async (target) => {
    const reply = await fetch(`${node.url}/api/v1/o/login?redirect=${encodeURIComponent(target)}`, {
      redirect: 'manual',
    });
    expect([reply.status, (await problemOf(reply)).code]).toEqual([400, 'bad_request']);
  });

  it('with an odd redirect stays on this host, and breaks no line', async () => {
    const browser = new Browser();
    const reply = await signIn(
      browser,
      `?redirect=${encodeURIComponent('/..//evil.example/\r\nSet-Cookie: a=b')}`,
    );
    expect(new URL(reply.headers.get('location') ?? '').origin).toBe(node.url);
    expect(reply.headers.getSetCookie().join()).not.toContain('a=b');
  });

  it('marks its cookies as for HTTPS behind a proxy that talks it', async () => {
    const reply = await new Browser().get(`${node.url}/api/v1/o/login`, { 'x-forwarded-proto': 'https' });
    const [cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-millrace-login=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
    const target = new URL(reply.headers.get('location') ?? '').searchParams.get('redirect_uri');
    expect(target).toBe(`${node.url.replace('http:', 'https:')}/api/v1/o/code`);
  });

  it.each<[string, (callback: URL, browser: Browser) => void]>([
    ['another state', (callback) => callback.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (callback) => callback.searchParams.delete('state')],
    ['another code', (callback) => callback.searchParams.set('code', 'x'.repeat(43))],
    ['another issuer', (callback) => callback.searchParams.set('iss', 'https://evil.example')],
    ['no cookie', (_, browser) => browser.setCookie(node.url, 'millrace-login', '')],
    ['a made-up cookie', (_, browser) => browser.setCookie(node.url, 'millrace-login', 'x'.repeat(400))],
    ['an error of the provider', (callback) => callback.searchParams.set('error', 'access_denied')],
  ])('comes to nothing with %s', async (_, spoil) => {
    const browser = new Browser();
    const found = await browser.follow(`${node.url}/api/v1/o/login`, `${node.url}/api/v1/o/code`);
    const callback = new URL(found);
    spoil(callback, browser);
    const reply = await browser.get(callback.href);
    expect([reply.status, (await problemOf(reply)).code]).toEqual([400, 'login_failed']);
    expect(browser.cookie(node.url, session)).toBeUndefined();
  });

  it('of one browser is of no use to another, and good once', async () => {
    const [mine, other] = [new Browser(), new Browser()];
    const callback = await mine.follow(`${node.url}/api/v1/o/login`, `${node.url}/api/v1/o/code`);
    await other.get(`${node.url}/api/v1/o/login`);
    expect((await other.get(callback)).status).toBe(400);
    const login = mine.cookie(node.url, 'millrace-login') ?? '';
    expect((await mine.get(callback)).status).toBe(303);
    mine.setCookie(node.url, 'millrace-login', login);
    expect((await mine.get(callback)).status).toBe(400);
  });

  it('cannot be completed so often at the same time that the provider is flooded in our name', async () => {
    const browser = new Browser();
    const callback = await browser.follow(`${node.url}/api/v1/o/login`, `${node.url}/api/v1/o/code`);
    const cookie = `millrace-login=${browser.cookie(node.url, 'millrace-login')}`;
    const complete = async (client: number) => {
      const headers = { cookie, 'x-forwarded-for': `192.0.2.${client}` };
      return (await fetch(callback, { redirect: 'manual', headers })).status;
    };
    const gate = deferred();
    provider.gate = gate.promise;
    const askedBefore = provider.tokensAsked;
    const { maxPendingLogins: inAll, maxPendingLoginsPerClient: ofOne } = limits;
    // One client alone cannot take it all.
    const flood = Array.from({ length: ofOne + 6 }, () => complete(1));
    const others = Array.from({ length: inAll - ofOne }, (_, index) => complete(2 + (index % 10)));
    const completed = [...flood, ...others];
    const refused: number[] = [];
    for (const each of completed) void each.then((status) => status === 503 && refused.push(status));
    await waitFor(() => refused.length === 6 && provider.tokensAsked - askedBefore === inAll);
    expect(await complete(200)).toBe(503);
    provider.gate = Promise.resolve();
    gate.resolve();
    const reached = (await Promise.all(completed)).filter((status) => status !== 503);
    expect(reached).toHaveLength(inAll);
    expect(reached).toContain(303);
  });

  it('that takes too long has to begin again', async () => {
    const browser = new Browser();
    const callback = await browser.follow(`${node.url}/api/v1/o/login`, `${node.url}/api/v1/o/code`);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + limits.loginLifetimeMs + 1000 });
    try {
      expect((await problemOf(await browser.get(callback))).detail).toContain('it took too long');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a session', () => {
  it('changes things only for pages of this service', async () => {
    await node.json('PUT', '/api/v1/role/reading', [{ privilege: 'admin' }]);
    const browser = new Browser();
    await signIn(browser);
    const { host } = new URL(node.url);
    const change = async (headers: Record<string, string>) =>
      (await browser.request('DELETE', `${node.url}/api/v1/role/nothing`, headers)).status;
    expect(await change(samePage)).toBe(404);
    expect(await change({ origin: node.url })).toBe(404);
    // Another scheme is the proxy's doing.
    expect(await change({ origin: `https://${host}` })).toBe(404);
    for (const headers of [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: `http://${host}.evil.example` },
      { 'sec-fetch-site': 'cross-site', origin: node.url },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      expect([headers, await change(headers)]).toEqual([headers, 403]);
    }
    // A client that can set a header is not another site.
    expect(await change(root)).toBe(404);
    await node.json('PUT', '/api/v1/role/reading', [{ privilege: 'reader' }]);
  });

  it('on HTTPS is in a cookie that no neighbouring host can have put there', async () => {
    const browser = new Browser();
    await signIn(browser);
    const id = browser.cookie(node.url, session) ?? '';
    const about = async (cookie: string, headers: Record<string, string> = {}) =>
      (await fetch(`${node.url}/api/v1/about`, { headers: { cookie, ...headers } })).status;
    const https = { 'x-forwarded-proto': 'https' };
    expect(await about(`${session}=${id}`)).toBe(200);
    expect(await about(`${session}=${id}`, https)).toBe(401);
    expect(await about(`__Host-${session}=${id}`, https)).toBe(200);
    const begun = await new Browser().get(`${node.url}/api/v1/o/login`, https);
    const [login = ''] = begun.headers.getSetCookie();
    const planted = login.split(';')[0]?.replace('__Host-', '') ?? '';
    const reply = await fetch(`${node.url}/api/v1/o/code?code=x&state=y`, {
      redirect: 'manual',
      headers: { cookie: planted, ...https },
    });
    expect((await problemOf(reply)).detail).toContain('this browser has not begun a sign-in here');
  });

  it('ends at a sign-out, here and at the provider', async () => {
    const browser = new Browser();
    await signIn(browser);
    const id = browser.cookie(node.url, session) ?? '';
    expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(200);
    const stranger = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.get(`${node.url}/api/v1/o/logout`, stranger)).status).toBe(403);
    const reply = await browser.request('POST', `${node.url}/api/v1/o/logout`, samePage);
    expect(reply.status).toBe(303);
    const there = new URL(reply.headers.get('location') ?? '');
    expect(there.origin).toBe(issuer);
    expect(there.searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect((await browser.get(there.href)).status).toBe(200);
    expect(browser.cookie(node.url, session)).toBeUndefined();
    browser.setCookie(node.url, session, id);
    expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(401);
    expect((await browser.get(`${node.url}/api/v1/o/logout`)).headers.get('location')).toBe(`${node.url}/`);
  });

  it('ends when its time is over', async () => {
    const browser = new Browser();
    await signIn(browser);
    expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      expect((await browser.get(`${node.url}/api/v1/about`)).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  it('that nobody has is refused like any other credential, and a header goes first', async () => {
    const about = (headers: Record<string, string>) => fetch(`${node.url}/api/v1/about`, { headers });
    expect((await about({ cookie: `${session}=${'x'.repeat(43)}` })).status).toBe(401);
    expect((await about({ cookie: `${session}=${'x'.repeat(43)}`, ...root })).status).toBe(200);
    expect((await about({ cookie: 'other=1' })).status).toBe(401);
  });
});

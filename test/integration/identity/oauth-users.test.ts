import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OauthUsers } from '../../../src/identity/oauth-users.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import {
  Browser,
  createSigningKey,
  IdentityProvider,
  issuerOn,
  oidcConfig,
  type SigningKey,
  signToken,
} from '../../support/http/identity-provider.ts';
import { freePort } from '../../support/lib/child.ts';
import { problemOf, waitFor } from '../http/http-harness.ts';
import { basic, type Credential, type IdentityNode, startIdentityNode } from './identity-node.ts';

let store: TestStore;
let node: IdentityNode;
let other: IdentityNode;
let tenants: IdentityNode;
let provider: IdentityProvider;
let issuer: string;
let key: SigningKey;

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  const port = await freePort();
  issuer = issuerOn(port);
  key = await createSigningKey('key');
  const oidc = oidcConfig(port);
  node = await startIdentityNode(store.store, 'one', { oidc });
  other = await startIdentityNode(store.store, 'two', { oidc });
  const withTenants = { ...oidc, tenantClaim: 'org.name' };
  tenants = await startIdentityNode(store.store, 'tenants', { oidc: withTenants, multiTenant: true });
  const redirectUris = [node, tenants].map(({ url }) => `${url}/api/v1/o/code`);
  const claims = { preferred_username: 'Alice A.', roles: ['reading'], org: { name: 'acme' } };
  provider = await IdentityProvider.start({ port, keys: [key], redirectUris, claims });
  for (const each of [node, other, tenants]) await each.identityStore.refresh();
  await node.json('PUT', '/api/v1/role/reading', [{ privilege: 'reader' }]);
  await node.json('PUT', '/api/v1/role/ingesting', [{ privilege: 'ingestor' }]);
});
afterAll(async () => {
  await provider?.stop();
  for (const each of [node, other, tenants]) await each?.close();
  await store?.close();
});

interface Listed {
  readonly id: string;
  readonly method: string;
  readonly name?: string;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);
const token = async (sub: string, claims: Readonly<Record<string, unknown>> = {}): Promise<Credential> => ({
  authorization: `Bearer ${await signToken({ key, issuer, claims: { sub, ...claims } })}`,
});
/** What becomes of a read and of a write. */
const access = async (credential: Credential, at = node) => [
  (await at.send('GET', '/api/v1/about', undefined, credential)).status,
  (await at.send('POST', '/api/v1/ingest', [{}], credential)).status,
];
const listed = async (at = node, credential?: Credential) =>
  (await at.json<Listed[]>('GET', '/api/v1/user', undefined, credential)).filter(
    ({ method }) => method === 'oauth',
  );
const isListed = (id: string, at = node, credential?: Credential) =>
  waitFor(async () => (await listed(at, credential)).some((user) => user.id === id));
const pathOf = (id: string, rest = '') => `/api/v1/user/${encodeURIComponent(id)}${rest}`;

describe('users of the identity provider', () => {
  it('are listed once they have come, by their subject, on every node', async () => {
    expect(await access(await token('auth0|7', { preferred_username: 'Bob' }))).toEqual([403, 403]);
    await isListed('oauth:auth0|7');
    expect(await listed()).toEqual([{ id: 'oauth:auth0|7', method: 'oauth', name: 'Bob' }]);
    await other.identityStore.refresh();
    expect(await listed(other)).toEqual(await listed());
    // Another name of the same person changes nothing, and the same name of another person is another user.
    await access(await token('auth0|7', { preferred_username: 'Robert' }));
    await access(await token('auth0|8', { preferred_username: 'Bob' }));
    await isListed('oauth:auth0|8');
    expect((await listed()).map(({ name }) => name)).toEqual(['Bob', 'Bob']);
  });

  it('get roles besides those of their claim, at once and on every node', async () => {
    const credential = await token('carol', { roles: ['reading'] });
    expect(await access(credential)).toEqual([200, 403]);
    expect(await access(credential, other)).toEqual([200, 403]);
    await isListed('oauth:carol');
    const path = pathOf('oauth:carol', '/role');
    expect(await node.json('PATCH', `${path}/add`, ['ingesting'])).toEqual({
      ingesting: [{ privilege: 'ingestor' }],
    });
    expect(await access(credential)).toEqual([200, 200]);
    await other.identityStore.refresh();
    expect(await access(credential, other)).toEqual([200, 200]);
    const refused = await node.send('DELETE', '/api/v1/role/ingesting');
    expect([refused.status, (await problemOf(refused)).detail]).toEqual([
      409,
      'the role ingesting is used by user "oauth:carol"',
    ]);
    expect((await node.send('PATCH', `${path}/add`, ['no such role'])).status).toBe(400);
    expect(await node.json('PATCH', `${path}/remove`, ['ingesting'])).toEqual({});
    expect(await node.json('GET', path)).toEqual({ roles: {}, group_roles: {} });
    expect(await access(credential)).toEqual([200, 403]);
  });

  it('are not the users of the same name who have a password here', async () => {
    await access(await token('dave'));
    await isListed('oauth:dave');
    const password = await (await node.send('POST', '/api/v1/user/dave', ['reading'])).text();
    await node.json('PATCH', pathOf('dave', '/role/add'), ['ingesting']);
    expect(await access(await token('dave', { fresh: 1 }))).toEqual([403, 403]);
    expect((await node.send('DELETE', pathOf('oauth:dave'))).status).toBe(200);
    expect(await access(basic('dave', password))).toEqual([200, 200]);
  });

  it('are made by the provider alone, and have no password', async () => {
    const made = await node.send('POST', pathOf('oauth:eve'), ['reading']);
    expect([made.status, (await problemOf(made)).code]).toEqual([400, 'bad_name']);
    await access(await token('eve'));
    await isListed('oauth:eve');
    const changed = await node.send('POST', pathOf('oauth:eve', '/generate-new-password'));
    expect([changed.status, (await problemOf(changed)).code]).toEqual([400, 'bad_request']);
    for (const [method, rest] of [
      ['DELETE', ''],
      ['GET', '/role'],
      ['PATCH', '/role/add'],
    ] as const) {
      const body = method === 'PATCH' ? ['reading'] : undefined;
      expect((await node.send(method, pathOf('oauth:nobody', rest), body)).status).toBe(404);
    }
  });

  it('are not listed beyond the bound, and let in all the same', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { identityStore } = node;
    const tenantOf = () => 'bounded';
    const users = new OauthUsers({ identityStore, tenantOf, clock: systemClock, log, maxUsers: 2 });
    const claims = { name: 'x', roles: ['reading'], tenant: undefined, issuedAtMs: 0, expiresAtMs: Infinity };
    for (const subject of ['1', '2']) users.admit({ ...claims, subject });
    await waitFor(() => users.list('bounded').length === 2);
    for (const subject of ['3', '4', '1']) expect(users.admit({ ...claims, subject })).toBeDefined();
    await identityStore.exclusively('bounded', async () => {});
    expect(users.list('bounded').map(({ id }) => id)).toEqual(['oauth:1', 'oauth:2']);
    expect(lines.join('')).toContain('further users of the identity provider are not listed');
    expect(lines).toHaveLength(1);
  });
});

describe('a removed user of the identity provider', () => {
  it('is out at once, with tokens and sessions of before, and begins anew with a later sign-in', async () => {
    const browser = new Browser();
    const signIn = async (who: Browser) =>
      await who.get(await who.follow(`${node.url}/api/v1/o/login`, `${node.url}/api/v1/o/code`));
    await signIn(browser);
    const about = async (who: Browser) => (await who.get(`${node.url}/api/v1/about`)).status;
    expect(await about(browser)).toBe(200);
    await isListed('oauth:alice');
    const [used, unused] = [
      await token('alice', { roles: ['reading'] }),
      await token('alice', { roles: ['reading'], unused: true }),
    ];
    expect([await access(used), await access(used, other)]).toEqual([
      [200, 403],
      [200, 403],
    ]);
    await node.json('PATCH', pathOf('oauth:alice', '/role/add'), ['ingesting']);
    expect(await access(used)).toEqual([200, 200]);

    node.logLines.length = 0;
    expect((await node.send('DELETE', pathOf('oauth:alice'))).status).toBe(200);
    expect(node.logLines.join('')).toContain('"audit":"user.delete","target":"oauth:alice"');
    expect(await about(browser)).toBe(401);
    for (const credential of [used, unused]) expect(await access(credential)).toEqual([401, 401]);
    expect((await listed()).map(({ id }) => id)).not.toContain('oauth:alice');
    expect((await node.send('DELETE', pathOf('oauth:alice'))).status).toBe(404);
    await other.identityStore.refresh();
    for (const credential of [used, unused]) expect(await access(credential, other)).toEqual([401, 401]);

    // A sign-in has the time of this service. A token has a time of the provider, whose clock may differ.
    const again = new Browser();
    await signIn(again);
    expect(await about(again)).toBe(200);
    await isListed('oauth:alice');
    expect(await about(browser)).toBe(401);
    expect(await access(used)).toEqual([401, 401]);
    const laterSeconds = nowSeconds() + limits.oidcClockSkewMs / 1000 + 2;
    vi.useFakeTimers({ toFake: ['Date'], now: laterSeconds * 1000 });
    try {
      const later = await token('alice', { roles: ['reading'] });
      // With what the claim says, and nothing of what was given before.
      expect(await access(later)).toEqual([200, 403]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the tenant of users of the identity provider', () => {
  const inTenant = (credential: Credential, tenant: string): Credential => ({
    ...credential,
    'x-p-tenant': tenant,
  });
  const root = (tenant: string) => inTenant(basic('admin', 'sesame'), tenant);

  it('is the one that their claim names, if there is one, and no other', async () => {
    for (const tenant of ['acme', 'globex']) {
      await tenants.json('PUT', `/api/v1/tenants/${tenant}`);
      await tenants.json('PUT', '/api/v1/role/reading', [{ privilege: 'reader' }], root(tenant));
    }
    const of = (name: unknown) => token('frank', { org: { name }, roles: ['reading'] });
    const status = async (credential: Credential, tenant: string) =>
      (await tenants.send('GET', '/api/v1/about', undefined, inTenant(credential, tenant))).status;
    const acme = await of('acme');
    expect([await status(acme, 'acme'), await status(acme, 'globex'), await status(acme, 'default')]).toEqual(
      [200, 401, 401],
    );
    for (const name of ['initech', '', 'ACME', 'acme.2', ['acme'], null, undefined]) {
      const credential = await of(name);
      for (const tenant of ['acme', 'default', 'initech']) {
        expect([name, tenant, await status(credential, tenant)]).toEqual([name, tenant, 401]);
      }
    }
    expect(await status(await of('default'), 'default')).toBe(200);
    await isListed('oauth:frank', tenants, root('acme'));
    await isListed('oauth:frank', tenants, root('default'));
    expect(await listed(tenants, root('globex'))).toEqual([]);
  });

  it('takes them with it when it is deleted', async () => {
    await tenants.json('PUT', '/api/v1/tenants/umbrella');
    const credential = inTenant(
      await token('grace', { org: { name: 'umbrella' }, roles: ['reading'] }),
      'umbrella',
    );
    const about = async () => (await tenants.send('GET', '/api/v1/about', undefined, credential)).status;
    await tenants.json('PUT', '/api/v1/role/reading', [{ privilege: 'reader' }], root('umbrella'));
    expect(await about()).toBe(200);
    await isListed('oauth:grace', tenants, root('umbrella'));
    expect((await tenants.send('DELETE', '/api/v1/tenants/umbrella')).status).toBe(200);
    expect(await about()).toBe(401);
    // Created again, the user has the roles of the claim, and none of those of the first user.
    await tenants.json('PUT', '/api/v1/tenants/umbrella');
    expect(await listed(tenants, root('umbrella'))).toEqual([]);
    expect(await about()).toBe(403);
  });

  it('is that of a sign-in too, and without one there is no session', async () => {
    const browser = new Browser();
    const callback = await browser.follow(`${tenants.url}/api/v1/o/login`, `${tenants.url}/api/v1/o/code`);
    expect((await browser.get(callback)).status).toBe(303);
    const about = async (tenant: string) =>
      (await browser.get(`${tenants.url}/api/v1/about`, { 'x-p-tenant': tenant })).status;
    expect([await about('acme'), await about('globex'), await about('default')]).toEqual([200, 401, 401]);
    expect(await about('nobody')).toBe(401);
    // A page need not name it.
    const reading = async () => {
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
      const query = JSON.stringify({ query: 'SELECT 1' });
      return (await browser.request('POST', `${tenants.url}/api/v1/query`, headers, query)).status;
    };
    expect([await reading(), await about('')]).toEqual([200, 200]);
    expect(tenants.query.requests.at(-1)?.tenant).toMatch(/^acme/);
    expect((await browser.get(`${tenants.url}/api/v1/tenants`)).status).toBe(403);
    expect((await tenants.send('DELETE', '/api/v1/tenants/acme')).status).toBe(200);
    expect([await about('acme'), await about(''), await reading()]).toEqual([401, 401, 401]);
    const late = new Browser();
    const nowhere = await late.follow(`${tenants.url}/api/v1/o/login`, `${tenants.url}/api/v1/o/code`);
    const reply = await late.get(nowhere);
    expect([reply.status, (await problemOf(reply)).code]).toEqual([400, 'login_failed']);
    expect(late.cookie(tenants.url, 'millrace-session')).toBeUndefined();
  });
});

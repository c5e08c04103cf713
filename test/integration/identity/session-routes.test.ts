import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { type IdentityNode, startIdentityNode } from './identity-node.ts';

let store: TestStore;
let node: IdentityNode;
let tenants: IdentityNode;
let alicePassword: string;

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'one');
  tenants = await startIdentityNode(store.store, 'tenants', { multiTenant: true });
  for (const each of [node, tenants]) await each.identityStore.refresh();
  await node.json('PUT', '/api/v1/role/reading', [
    { privilege: 'reader', resource: { dataset: 'app', tag: 'env=prod' } },
  ]);
  alicePassword = await (await node.send('POST', '/api/v1/user/alice', ['reading'])).text();
});
afterAll(async () => {
  for (const each of [node, tenants]) await each?.close();
  await store?.close();
});

const path = '/api/v1/session';
const root = { username: 'admin', password: 'sesame' };

interface Begun {
  readonly status: number;
  /** For the header `Cookie`. */
  readonly cookie: string;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

/** As a page of the service sends it. */
async function begin(body: unknown, headers: Record<string, string> = {}, on = node): Promise<Begun> {
  const reply = await fetch(on.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify(body),
  });
  const cookie = reply.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return {
    status: reply.status,
    cookie,
    body: (await reply.json()) as Record<string, unknown>,
    headers: reply.headers,
  };
}

const ask = (cookie: string, headers: Record<string, string> = {}, on = node) =>
  fetch(on.url + path, { headers: { cookie, ...headers } });

/** What a session may read. */
const roles = (cookie: string) => fetch(`${node.url}/api/v1/roles`, { headers: { cookie } });

describe('a session', () => {
  it('begins with a password, says whose it is, and ends', async () => {
    const { status, cookie, body, headers } = await begin(root);
    expect(status).toBe(200);
    expect(headers.get('set-cookie')).toMatch(
      /^millrace-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/,
    );
    expect(body).toMatchObject({ kind: 'root', name: 'admin', tenant: 'default', multiTenant: false });
    expect(body['actions']).toContain('identity.manage');
    expect(await (await ask(cookie)).json()).toEqual(body);
    expect((await roles(cookie)).status).toBe(200);
    const ended = await fetch(node.url + path, {
      method: 'DELETE',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(await ended.json()).toEqual({ next: null });
    expect(ended.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await ask(cookie)).status).toBe(401);
    expect((await roles(cookie)).status).toBe(401);
    const trail = node.auditRows.filter(({ by_name }) => by_name === 'admin').map(({ audit }) => audit);
    expect(trail.filter((audit) => audit.startsWith('session.'))).toEqual(['session.begin', 'session.end']);
  });

  it('of a user has the privileges of the user, and no more', async () => {
    const { cookie, body } = await begin({ username: 'alice', password: alicePassword });
    expect(body).toMatchObject({
      kind: 'user',
      name: 'alice',
      privileges: [{ privilege: 'reader', resource: { dataset: 'app', tag: 'env=prod' } }],
    });
    expect(body['actions']).toEqual([
      'query',
      'dataset.list',
      'identity.self',
      'dashboard.read',
      'filter.read',
      'alert.read',
      'service.read',
    ]);
    expect((await roles(cookie)).status).toBe(403);
    await node.json('PUT', '/api/v1/role/reading', [{ privilege: 'ingestor' }]);
    const { actions } = (await (await ask(cookie)).json()) as { actions: string[] };
    expect(actions).toEqual(['ingest', 'identity.self']);
  });

  it('ends with the password, the user and the key', async () => {
    const first = await begin({ username: 'alice', password: alicePassword });
    alicePassword = await (await node.send('POST', '/api/v1/user/alice/generate-new-password')).text();
    expect((await ask(first.cookie)).status).toBe(401);
    const second = await begin({ username: 'alice', password: alicePassword });
    expect(second.status).toBe(200);
    expect((await node.send('DELETE', '/api/v1/user/alice')).status).toBe(200);
    expect((await ask(second.cookie)).status).toBe(401);

    const key = (await node.json('POST', '/api/console/v1/apikeys', {
      keyName: 'k',
      roles: ['reading'],
    })) as {
      keyId: string;
      apiKey: string;
    };
    const third = await begin({ apiKey: key.apiKey });
    expect(third.body).toMatchObject({ kind: 'apiKey', name: 'k' });
    await node.send('DELETE', `/api/console/v1/apikeys/${key.keyId}`);
    expect((await ask(third.cookie)).status).toBe(401);
  });

  it('does not begin with what is wrong, and the refusal is counted', async () => {
    const before = node.auditRows.length;
    for (const wrong of [
      { ...root, password: 'wrong' },
      { ...root, username: 'nobody' },
      { apiKey: 'none' },
    ]) {
      const { status, cookie, body } = await begin(wrong);
      expect([status, cookie, body['code']]).toEqual([401, '', 'unauthenticated']);
    }
    const denied = node.auditRows.slice(before).filter(({ audit }) => audit === 'denied');
    expect(denied.map(({ route, code }) => [route, code])).toContainEqual([path, 'unauthenticated']);
    expect(JSON.stringify(node.auditRows)).not.toContain('wrong');
    for (const wrong of [
      {},
      [],
      'x',
      { username: 'a' },
      { ...root, apiKey: 'x' },
      { username: 'a:b', password: 'c' },
    ])
      expect((await begin(wrong)).status, JSON.stringify(wrong)).toBe(400);
    const large = { username: 'a', password: 'x'.repeat(limits.maxSignInBodyBytes) };
    expect((await begin(large)).status).toBe(413);
  });

  it('begins and ends only from a page of the service, or from a program', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '', origin: 'https://elsewhere.example' },
    ]) {
      expect((await begin(root, headers)).status, JSON.stringify(headers)).toBe(403);
    }
    expect((await begin(root, { 'sec-fetch-site': '', origin: node.url })).status).toBe(200);
    const { status, cookie } = await begin(root, { 'sec-fetch-site': '' });
    expect(status).toBe(200);
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await fetch(node.url + path, { method: 'DELETE', headers: foreign })).status).toBe(403);
    expect((await ask(cookie)).status).toBe(200);
    const form = await fetch(node.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'username=admin&password=sesame',
    });
    expect(form.status).toBe(415);
  });

  it('that is not there is no refusal, and the reply says how to sign in', async () => {
    const before = node.auditRows.length;
    const reply = await ask('');
    expect(reply.status).toBe(401);
    expect(await reply.json()).toMatchObject({ signInWays: ['password', 'apiKey'], multiTenant: false });
    expect(node.auditRows).toHaveLength(before);
  });

  it('of a page never makes a browser ask for a password by itself', async () => {
    const challenge = async (headers: Record<string, string>, to = path) =>
      (await fetch(node.url + to, { headers })).headers.get('www-authenticate');
    expect(await challenge({ 'x-requested-with': 'millrace-console' })).toBe('Bearer realm="Millrace"');
    expect(await challenge({ 'x-requested-with': 'millrace-console' }, '/api/v1/roles')).toBe(
      'Bearer realm="Millrace"',
    );
    expect(await challenge({}, '/api/v1/roles')).toContain('Basic');
  });

  it('acts in one tenant; the administrator of the server may name another', async () => {
    await tenants.send('PUT', '/api/v1/tenants/acme');
    expect((await begin(root, {}, tenants)).body['code']).toBe('tenant_required');
    const { cookie, body } = await begin({ ...root, tenant: 'default' }, {}, tenants);
    expect(body).toMatchObject({ tenant: 'default', multiTenant: true });
    const named = await ask(cookie, { 'x-p-tenant': 'acme' }, tenants);
    expect(await named.json()).toMatchObject({ tenant: 'acme' });
    expect((await begin({ ...root, tenant: 'nobody' }, {}, tenants)).body['code']).toBe('tenant_not_found');
    const wrong = await begin({ username: 'admin', password: 'x', tenant: 'nobody' }, {}, tenants);
    expect(wrong.body['code']).toBe('unauthenticated');
  });
});

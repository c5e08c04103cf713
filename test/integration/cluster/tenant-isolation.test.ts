import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { problemOf } from '../http/http-harness.ts';
import {
  apiKey,
  basic,
  type Credential,
  type IdentityNode,
  root,
  startIdentityNode,
} from '../identity/identity-node.ts';

const inTenant = (credential: Credential, tenant: string): Credential => ({
  ...credential,
  'x-p-tenant': tenant,
});

let store: TestStore;
let node: IdentityNode;
/** Administrators of each tenant; the users have the same name. */
const admins = new Map<string, Credential[]>();

async function makeAdmins(tenant: string): Promise<Credential[]> {
  const there = inTenant(root, tenant);
  await node.json('PUT', '/api/v1/role/all', [{ privilege: 'admin' }], there);
  const password = await (await node.send('POST', '/api/v1/user/alice', ['all'], there)).text();
  const body = { keyName: 'key', roles: ['all'] };
  const made = await node.json<{ apiKey: string }>('POST', '/api/console/v1/apikeys', body, there);
  return [basic('alice', password), apiKey(made.apiKey)];
}

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'node', { multiTenant: true });
  await node.identityStore.refresh();
  for (const tenant of ['acme', 'globex']) {
    await node.json('PUT', `/api/v1/tenants/${tenant}`);
    admins.set(tenant, await makeAdmins(tenant));
  }
  admins.set('default', await makeAdmins('default'));
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

/** Asks for a route, about what does not exist, with a body that no route understands. */
async function attempt(method: string, path: string, credential: Credential): Promise<Response> {
  const body = method === 'GET' || method === 'DELETE' ? undefined : 17;
  return node.send(method, path.replace('{dataset}', 'app').replace(/\{\w+\}/, 'nothing'), body, credential);
}

/** Routes that act in a tenant. */
const tenantRoutes = () =>
  node.routes.filter((route) => route.permission !== 'public' && route.tenant !== 'none');

describe('on every route, the administrators of a tenant', () => {
  it.each(['acme', 'globex', 'default'])('%s are known in it and nowhere else', async (own) => {
    for (const credential of admins.get(own) ?? []) {
      for (const { method, path } of tenantRoutes()) {
        for (const tenant of ['acme', 'globex', 'default', 'initech']) {
          const { status } = await attempt(method, path, inTenant(credential, tenant));
          const known = status !== 401 && status !== 403;
          expect([method, path, tenant, known]).toEqual([method, path, tenant, tenant === own]);
          if (!known) expect(status).toBe(401);
        }
      }
    }
  });

  it('must name it', async () => {
    for (const credential of [root, ...(admins.get('acme') ?? []), apiKey('guess')]) {
      for (const { method, path } of tenantRoutes()) {
        const reply = await attempt(method, path, credential);
        expect([path, reply.status]).toEqual([path, 400]);
        // Each protocol has its own shape of an error.
        expect(await reply.text()).toContain('tenant_required');
      }
    }
  });

  it('may not administer tenants, not even their own', async () => {
    const [, key = {}] = admins.get('acme') ?? [];
    for (const { method, path } of node.routes.filter((route) => route.tenant === 'none')) {
      const foreign = await node.send(method, path.replace('{tenant}', 'acme'), undefined, key);
      expect([method, path, foreign.status]).toEqual([method, path, 401]);
      const own = inTenant(key, 'acme');
      expect((await node.send(method, path.replace('{tenant}', 'acme'), undefined, own)).status).toBe(403);
    }
    expect(await node.json('GET', '/api/v1/tenants/acme')).toMatchObject({ name: 'acme' });
  });
});

describe('whether a tenant exists', () => {
  it('cannot be told by those who belong to another one', async () => {
    for (const credential of [...(admins.get('acme') ?? []), apiKey('guess'), basic('alice', 'guess')]) {
      const [there, missing] = await Promise.all(
        ['globex', 'initech'].map(async (tenant) => {
          const reply = await node.send('GET', '/api/v1/users', undefined, inTenant(credential, tenant));
          return { status: reply.status, body: await reply.text() };
        }),
      );
      expect(there).toEqual(missing);
      expect(there?.status).toBe(401);
    }
  });

  it('is told to the root administrator', async () => {
    const reply = await node.send('GET', '/api/v1/users', undefined, inTenant(root, 'initech'));
    expect(reply.status).toBe(404);
    expect((await problemOf(reply)).code).toBe('tenant_not_found');
    const names = (await node.json<{ name: string }[]>('GET', '/api/v1/tenants')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['acme', 'default', 'globex']));
  });

  it.each(['', '.', '..', 'a b', '1st', 'acme.2', 'tenänt', `a${'b'.repeat(64)}`, 'a/b', "a'b"])(
    'is not asked for what is no name: %j',
    async (name) => {
      const made = await node.send('PUT', `/api/v1/tenants/${encodeURIComponent(name)}`);
      expect([400, 404]).toContain(made.status);
      if (made.status === 400) expect((await problemOf(made)).code).toBe('bad_tenant_name');
      if (name === '' || name === 'tenänt') return;
      const reply = await node.send('GET', '/api/v1/users', undefined, inTenant(root, name));
      expect((await problemOf(reply)).code).toBe('bad_tenant_name');
    },
  );
});

describe('what a tenant has', () => {
  it('is its own: users, roles, keys', async () => {
    for (const tenant of ['acme', 'globex']) {
      const there = inTenant(root, tenant);
      await node.json('PUT', `/api/v1/role/only-${tenant}`, [{ privilege: 'reader' }], there);
      await node.send('POST', `/api/v1/user/user-of-${tenant}`, [`only-${tenant}`], there);
    }
    for (const [tenant, other] of [
      ['acme', 'globex'],
      ['globex', 'acme'],
    ] as const) {
      const [admin = {}] = admins.get(tenant) ?? [];
      const mine = inTenant(admin, tenant);
      const users = await node.json<{ id: string }[]>('GET', '/api/v1/users', undefined, mine);
      expect(users.map(({ id }) => id)).toEqual(['alice', `user-of-${tenant}`]);
      const roles = await node.json<object>('GET', '/api/v1/roles', undefined, mine);
      expect(Object.keys(roles)).toEqual(['all', `only-${tenant}`]);
      const keys = await node.json<unknown[]>('GET', '/api/console/v1/apikeys', undefined, mine);
      expect(keys).toHaveLength(1);
      expect((await node.send('GET', `/api/v1/user/user-of-${other}/role`, undefined, mine)).status).toBe(
        404,
      );
      expect((await node.send('DELETE', `/api/v1/role/only-${other}`, undefined, mine)).status).toBe(404);
    }
  });

  it('cannot be reached by the id of a key of another one', async () => {
    const [admin = {}] = admins.get('acme') ?? [];
    const there = inTenant(root, 'globex');
    const [key] = await node.json<{ keyId: string }[]>('GET', '/api/console/v1/apikeys', undefined, there);
    for (const method of ['GET', 'DELETE']) {
      const path = `/api/console/v1/apikeys/${key?.keyId}`;
      expect((await node.send(method, path, undefined, inTenant(admin, 'acme'))).status).toBe(404);
    }
  });

  it('is written and read under its id, also by the root administrator', async () => {
    for (const [tenant, credential] of [
      ['acme', admins.get('acme')?.[1]],
      ['globex', admins.get('globex')?.[0]],
      ['default', root],
      ['acme', root],
    ] as const) {
      const there = inTenant(credential ?? {}, tenant);
      await node.json('POST', '/api/v1/ingest', [{}], there);
      await node.send('POST', '/api/v1/query', { query: 'SELECT 1' }, there);
      expect(node.ingest.requests.at(-1)?.tenant).toBe(tenant);
      expect(node.query.requests.at(-1)?.tenant).toBe(tenant);
    }
  });

  it('is not in /metrics, whatever is asked for', async () => {
    const text = await (await fetch(`${node.url}/metrics`)).text();
    expect(text).toContain('millrace_http_requests_total');
    for (const name of ['acme', 'globex', 'initech', 'alice']) expect(text).not.toContain(name);
  });
});

it('changes of one do not wait behind those of another', async () => {
  const order: string[] = [];
  const change = (tenant: string) =>
    node.identityStore.exclusively(tenant, async () => void order.push(tenant));
  await Promise.all([...Array.from({ length: 10 }, () => change('acme')), change('globex')]);
  expect(order).toHaveLength(11);
  expect(order.indexOf('globex')).toBeLessThanOrEqual(2);
});

describe('a deleted tenant', () => {
  it('has no users, keys or roles any more, not even when it is made again', async () => {
    await node.json('PUT', '/api/v1/tenants/umbrella');
    const old = await makeAdmins('umbrella');
    const reach = (credential: Credential) =>
      node.send('GET', '/api/v1/roles', undefined, inTenant(credential, 'umbrella'));
    for (const credential of old) expect((await reach(credential)).status).toBe(200);

    expect((await node.send('DELETE', '/api/v1/tenants/umbrella')).status).toBe(200);
    for (const credential of old) expect((await reach(credential)).status).toBe(401);
    expect((await reach(root)).status).toBe(404);
    expect((await node.send('DELETE', '/api/v1/tenants/umbrella')).status).toBe(404);

    await node.json('PUT', '/api/v1/tenants/umbrella');
    for (const credential of old) expect((await reach(credential)).status).toBe(401);
    expect(await (await reach(root)).json()).toEqual({});
    const there = inTenant(root, 'umbrella');
    expect(await node.json('GET', '/api/v1/users', undefined, there)).toEqual([]);
    expect(await node.json('GET', '/api/console/v1/apikeys', undefined, there)).toEqual([]);
    await node.json('POST', '/api/v1/ingest', [{}], there);
    expect(node.ingest.requests.at(-1)?.tenant).toBe('umbrella.2');
  });

  it('stays deleted for a node that starts later', async () => {
    await node.json('PUT', '/api/v1/tenants/hooli');
    const old = await makeAdmins('hooli');
    await node.send('DELETE', '/api/v1/tenants/hooli');
    const later = await startIdentityNode(store.store, 'later', { multiTenant: true });
    try {
      await later.identityStore.refresh();
      for (const credential of old) {
        const reply = await later.send('GET', '/api/v1/roles', undefined, inTenant(credential, 'hooli'));
        expect(reply.status).toBe(401);
      }
      expect(later.identityStore.apiKeys('hooli')).toEqual([]);
      const [key = {}] = (admins.get('acme') ?? []).slice(1);
      expect((await later.send('GET', '/api/v1/roles', undefined, inTenant(key, 'acme'))).status).toBe(200);
    } finally {
      await later.close();
    }
  });

  it('is not the default one, which stays', async () => {
    const reply = await node.send('DELETE', '/api/v1/tenants/default');
    expect(reply.status).toBe(409);
    expect((await problemOf(reply)).code).toBe('tenant_unchangeable');
  });
});

it('changes of tenants are lines of the audit log, and of no tenant that the request happens to name', async () => {
  await node.json('PUT', '/api/v1/tenants/pied-piper', undefined, inTenant(root, 'acme'));
  const last = node.logLines.map((line) => JSON.parse(line) as object).at(-1);
  expect(last).toMatchObject({ audit: 'tenant.create', target: 'pied-piper', tenant: 'default' });
  const lines = node.logLines.map((line) => JSON.parse(line) as { audit?: string; target?: string });
  for (const [audit, target] of [
    ['tenant.create', 'acme'],
    ['tenant.delete', 'umbrella'],
    ['tenant.create', 'umbrella.2'],
  ]) {
    expect(lines).toContainEqual(expect.objectContaining({ audit, target }));
  }
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { type PrivilegeName, privilegeNames } from '../../../src/model/identity.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import {
  createSigningKey,
  IdentityProvider,
  issuerOn,
  oidcConfig,
  signToken,
} from '../../support/http/identity-provider.ts';
import { freePort } from '../../support/lib/child.ts';
import {
  apiKey,
  basic,
  type Credential,
  type IdentityNode,
  root,
  startIdentityNode,
} from '../identity/identity-node.ts';

/**
 * Who may use a route, by where the privilege holds: everywhere, for the dataset asked about, for another
 * one.
 */
interface Rule {
  readonly everywhere: readonly PrivilegeName[];
  readonly own: readonly PrivilegeName[];
  readonly other: readonly PrivilegeName[];
}

const writers: readonly PrivilegeName[] = ['admin', 'editor', 'writer', 'ingestor'];
const readers: readonly PrivilegeName[] = ['admin', 'editor', 'writer', 'reader'];
const managers: readonly PrivilegeName[] = ['admin', 'editor'];
const ingest: Rule = { everywhere: writers, own: writers, other: [] };
/** Which datasets a query may name is decided when it names them. */
const ask: Rule = { everywhere: readers, own: readers, other: readers };
const read: Rule = { everywhere: readers, own: readers, other: [] };
const manage: Rule = { everywhere: managers, own: managers, other: [] };
/** Documents of the tenant; of which datasets each may be is decided when it is read or written. */
const author: Rule = {
  everywhere: ['admin', 'editor', 'writer'],
  own: ['admin', 'editor', 'writer'],
  other: ['admin', 'editor', 'writer'],
};
/** Where notifications go concerns the whole tenant. */
const manageTargets: Rule = { everywhere: managers, own: [], other: [] };
/** No privilege is enough. */
const rootAlone: Rule = { everywhere: [], own: [], other: [] };
const administer: Rule = { everywhere: ['admin'], own: [], other: [] };

/** The policy: every route that needs credentials. Requests are about the dataset `app` or about none. */
const policy: Readonly<Record<string, Rule>> = {
  'POST /api/v1/ingest': ingest,
  'POST /api/v1/logstream/{dataset}': ingest,
  'POST /api/v1/logstream/schema/detect': ask,
  'POST /v1/prometheus/write': ingest,
  'POST /v1/logs': ingest,
  'POST /v1/traces': ingest,
  'POST /v1/metrics': ingest,
  'POST /api/v1/query': ask,
  'GET /api/v1/logstream': ask,
  'PUT /api/v1/logstream/{dataset}': manage,
  'DELETE /api/v1/logstream/{dataset}': manage,
  'GET /api/v1/logstream/{dataset}/schema': read,
  'GET /api/v1/logstream/{dataset}/info': read,
  'GET /api/v1/logstream/{dataset}/stats': read,
  'GET /api/v1/logstream/{dataset}/retention': read,
  'PUT /api/v1/logstream/{dataset}/retention': manage,
  'GET /api/v1/logstream/{dataset}/limits': read,
  'PUT /api/v1/logstream/{dataset}/limits': manage,
  'DELETE /api/v1/logstream/{dataset}/limits': manage,
  'POST /api/v1/query/explain': ask,
  'POST /api/v1/counts': ask,
  'GET /api/v1/logstream/{dataset}/tail': read,
  'POST /api/v1/logstream/{dataset}/tail': read,
  'GET /api/v1/about': ask,
  'GET /api/v1/openapi.json': ask,
  'GET /api/v1/dashboards': ask,
  'GET /api/v1/dashboards/list_tags': ask,
  'POST /api/v1/dashboards': author,
  'GET /api/v1/dashboards/{id}': ask,
  'PUT /api/v1/dashboards/{id}': author,
  'PUT /api/v1/dashboards/{id}/add_tile': author,
  'DELETE /api/v1/dashboards/{id}': author,
  'GET /api/v1/dashboards/{id}/revisions': ask,
  'PUT /api/v1/dashboards/{id}/favorite': ask,
  'DELETE /api/v1/dashboards/{id}/favorite': ask,
  'GET /api/v1/alerts': ask,
  'POST /api/v1/alerts': author,
  'GET /api/v1/alerts/list_tags': ask,
  'POST /api/v1/alerts/test': author,
  'GET /api/v1/alerts/{id}': ask,
  'PUT /api/v1/alerts/{id}': author,
  'DELETE /api/v1/alerts/{id}': author,
  'PATCH /api/v1/alerts/{id}/disable': author,
  'PATCH /api/v1/alerts/{id}/enable': author,
  'PATCH /api/v1/alerts/{id}/update_notification_state': author,
  'PUT /api/v1/alerts/{id}/evaluate_alert': author,
  'GET /api/v1/alerts/{id}/instances': ask,
  'GET /api/v1/alerts/{id}/history': ask,
  'GET /api/v1/alerts/{id}/revisions': ask,
  'GET /api/v1/targets': author,
  'POST /api/v1/targets': manageTargets,
  'GET /api/v1/targets/{target}': author,
  'PUT /api/v1/targets/{target}': manageTargets,
  'DELETE /api/v1/targets/{target}': manageTargets,
  'POST /api/v1/targets/{target}/test': manageTargets,
  'GET /api/v1/targets/{target}/deliveries': manageTargets,
  'POST /api/v1/deliveries/{delivery}/retry': manageTargets,
  'GET /api/v1/alert-target-policy': manageTargets,
  'PUT /api/v1/alert-target-policy': manageTargets,
  'GET /api/v1/silences': ask,
  'POST /api/v1/silences': author,
  'GET /api/v1/silences/{silence}': ask,
  'DELETE /api/v1/silences/{silence}': author,
  'GET /api/v1/filters': ask,
  'POST /api/v1/filters': author,
  'GET /api/v1/filters/{id}': ask,
  'PUT /api/v1/filters/{id}': author,
  'DELETE /api/v1/filters/{id}': author,
  'GET /api/v1/filters/{id}/revisions': ask,
  'GET /api/v1/tenants': rootAlone,
  'GET /api/v1/tenants/{tenant}': rootAlone,
  'PUT /api/v1/tenants/{tenant}': rootAlone,
  'GET /api/v1/tenants/{tenant}/limits': rootAlone,
  'PUT /api/v1/tenants/{tenant}/limits': rootAlone,
  'DELETE /api/v1/tenants/{tenant}': rootAlone,
  'GET /api/v1/backups/{backup}': rootAlone,
  'PUT /api/v1/backups/{backup}': rootAlone,
  'GET /api/v1/roles': administer,
  'GET /api/v1/role/default': administer,
  'PUT /api/v1/role/default': administer,
  'GET /api/v1/role/{name}': administer,
  'PUT /api/v1/role/{name}': administer,
  'DELETE /api/v1/role/{name}': administer,
  'GET /api/v1/user': administer,
  'GET /api/v1/users': administer,
  'GET /api/v1/users/{name}': administer,
  'POST /api/v1/user/{name}': administer,
  'DELETE /api/v1/user/{name}': administer,
  'GET /api/v1/user/{name}/role': administer,
  'PUT /api/v1/user/{name}/role': administer,
  'PATCH /api/v1/user/{name}/role/add': administer,
  'PATCH /api/v1/user/{name}/role/remove': administer,
  'POST /api/v1/user/{name}/generate-new-password': administer,
  'GET /api/console/v1/apikeys': administer,
  'POST /api/console/v1/apikeys': administer,
  'GET /api/console/v1/apikeys/{keyId}': administer,
  'DELETE /api/console/v1/apikeys/{keyId}': administer,
};

const open = [
  'GET /',
  'GET /api/v1/liveness',
  'POST /api/v1/session',
  'GET /api/v1/session',
  'DELETE /api/v1/session',
  'GET /api/v1/readiness',
  'GET /api/v1/o/login',
  'GET /api/v1/o/code',
  'GET /api/v1/o/logout',
  'POST /api/v1/o/logout',
  'GET /metrics',
];

const scopes = { everywhere: undefined, own: 'app', other: 'elsewhere' } as const;

/** An editor is one everywhere. */
const everywhere = ['everywhere'] as const;

/** A role for each privilege in each scope, and one that grants nothing. */
const roles = [
  { name: 'nothing', privilege: undefined, scope: 'everywhere' as const },
  ...privilegeNames.flatMap((privilege) =>
    (privilege === 'editor' ? everywhere : (['everywhere', 'own', 'other'] as const)).map((scope) => ({
      name: `${privilege}.${scope}`,
      privilege,
      scope,
    })),
  ),
];
const kinds = ['user', 'apiKey', 'oidc'] as const;
const cases = kinds.flatMap((kind) => roles.map((role) => ({ kind, ...role })));

let store: TestStore;
let node: IdentityNode;
let provider: IdentityProvider;
const credentials = new Map<string, Credential>();

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  const port = await freePort();
  const key = await createSigningKey('key');
  const issuer = issuerOn(port);
  provider = await IdentityProvider.start({
    port,
    keys: [key],
    redirectUris: ['http://localhost/'],
    claims: {},
  });
  node = await startIdentityNode(store.store, 'node', { oidc: oidcConfig(port) });
  await node.identityStore.refresh();
  for (const { name, privilege, scope } of roles) {
    const dataset = scopes[scope];
    const entry = { privilege, ...(dataset === undefined ? {} : { resource: { dataset } }) };
    await node.json('PUT', `/api/v1/role/${name}`, privilege === undefined ? [] : [entry]);
    const password = await (await node.send('POST', `/api/v1/user/u-${name}`, [name])).text();
    credentials.set(`user ${name}`, basic(`u-${name}`, password));
    const body = { keyName: `k-${name}`, roles: [name] };
    const made = await node.json<{ apiKey: string }>('POST', '/api/console/v1/apikeys', body);
    credentials.set(`apiKey ${name}`, apiKey(made.apiKey));
    const token = await signToken({ key, issuer, claims: { roles: [name] } });
    credentials.set(`oidc ${name}`, { authorization: `Bearer ${token}` });
  }
});
afterAll(async () => {
  await provider?.stop();
  await node?.close();
  await store?.close();
});

/** Asks for a route, about `app` or about something that does not exist, so that nothing is lost. */
async function attempt(
  route: string,
  credential: Credential,
): Promise<'allowed' | 'forbidden' | 'unauthenticated'> {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace('{dataset}', 'app').replace(/\{\w+\}/, 'no-such-thing');
  // A body that no route understands: what may be done at all is decided before it is looked at.
  const body = method === 'GET' || method === 'DELETE' ? undefined : 17;
  const { status } = await node.send(method, path, body, credential);
  if (status === 403) return 'forbidden';
  if (status === 401) return 'unauthenticated';
  expect(status, route).toBeLessThan(500);
  return 'allowed';
}

describe('the policy', () => {
  it('is about all routes that there are', () => {
    const keyOf = (route: { method: string; path: string }) => `${route.method} ${route.path}`;
    const isOpen = (route: { permission: string }) => route.permission === 'public';
    expect(node.routes.filter(isOpen).map(keyOf).sort()).toEqual(open.toSorted());
    expect(
      node.routes
        .filter((route) => !isOpen(route))
        .map(keyOf)
        .sort(),
    ).toEqual(Object.keys(policy).sort());
  });

  it.each(cases)('$kind with $name', async ({ kind, name, privilege, scope }) => {
    const credential = credentials.get(`${kind} ${name}`) ?? {};
    for (const [route, rule] of Object.entries(policy)) {
      const allowed = privilege !== undefined && rule[scope].includes(privilege);
      expect([route, await attempt(route, credential)]).toEqual([route, allowed ? 'allowed' : 'forbidden']);
    }
  });

  it('lets the root administrator do everything, and nobody without credentials anything', async () => {
    for (const route of Object.keys(policy)) {
      expect([route, await attempt(route, root)]).toEqual([route, 'allowed']);
      expect([route, await attempt(route, {})]).toEqual([route, 'unauthenticated']);
      expect([route, await attempt(route, apiKey('guess'))]).toEqual([route, 'unauthenticated']);
    }
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import {
  apiKey,
  type Credential,
  type IdentityNode,
  root,
  startIdentityNode,
} from '../identity/identity-node.ts';

let store: TestStore;
let node: IdentityNode;
let reader: Credential;
beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'one', { multiTenant: true });
  await node.identityStore.refresh();
  const make = (method: string, path: string, body: unknown) =>
    fetch(node.url + path, {
      method,
      headers: { ...root, 'x-p-tenant': 'default', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await make('PUT', '/api/v1/role/reading', [{ privilege: 'reader', resource: { dataset: 'app' } }]);
  const reply = await make('POST', '/api/console/v1/apikeys', { keyName: 'reader', roles: ['reading'] });
  reader = apiKey(((await reply.json()) as { apiKey: string }).apiKey);
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

/** Of the shapes that are made here, each also with a letter first, as the names of datasets begin. */
const secrets = [
  `1${randomUUID().slice(1)}`,
  `a${randomUUID().slice(1)}`,
  `aB1${randomBytes(18).toString('base64url').slice(3)}`,
  randomBytes(32).toString('hex'),
];
/** These are not names of anything. */
const unnameable = [
  `Bearer ${randomBytes(32).toString('base64url')}`,
  `eyJhbGciOiJSUzI1NiJ9.${randomBytes(120).toString('base64url')}.${randomBytes(64).toString('base64url')}`,
  'correct horse battery staple',
  '-hunter2-hunter2',
];

/** These requests create what they name, or store data in it, so it is a name. */
const making = new Set([
  'PUT /api/v1/logstream/{dataset}',
  'POST /api/v1/logstream/{dataset}',
  'PUT /api/v1/role/{name}',
  'POST /api/v1/user/{name}',
  'PUT /api/v1/tenants/{tenant}',
  'DELETE /api/v1/logstream/{dataset}',
]);

const bodies: Readonly<Record<string, unknown>> = {
  'POST /api/v1/user/{name}': [],
  'PATCH /api/v1/user/{name}/role/add': ['reading'],
  'PATCH /api/v1/user/{name}/role/remove': ['reading'],
  'PUT /api/v1/logstream/{dataset}/retention': [{ description: 'x', duration: '5d', action: 'delete' }],
  'PUT /api/v1/logstream/{dataset}/limits': { maxColumns: 100 },
  'PUT /api/v1/tenants/{tenant}/limits': { maxDatasets: 100 },
};

interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** What is said about a request: in its reply, in the log, in the audit trail. */
async function saidOf(
  route: { readonly method: string; readonly path: string },
  headers: Readonly<Record<string, string>>,
  path = route.path,
): Promise<Refusal> {
  node.logLines.length = 0;
  node.auditRows.length = 0;
  const takesBody = route.method !== 'GET' && route.method !== 'DELETE';
  const reply = await fetch(node.url + path, {
    method: route.method,
    headers: { 'x-p-tenant': 'default', 'x-p-stream': 'app', 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    ...(takesBody ? { body: JSON.stringify(bodies[`${route.method} ${route.path}`] ?? []) } : {}),
  });
  const said = [
    await reply.text(),
    ...reply.headers.values(),
    ...node.logLines,
    JSON.stringify(node.auditRows),
  ];
  return { status: reply.status, text: said.join('\n') };
}

describe('a secret that somebody has put where a name belongs is not repeated', () => {
  it('in the path, on any route', async () => {
    const named = node.routes.filter(({ path }) => path.includes('{'));
    expect(named.length).toBeGreaterThan(20);
    const repeated: string[] = [];
    for (const route of named) {
      const name = `${route.method} ${route.path}`;
      for (const secret of [...unnameable, ...(making.has(name) ? [] : secrets)]) {
        const path = route.path.replace(/\{\w+\}/, encodeURIComponent(secret));
        for (const credential of [root, reader]) {
          const { status, text } = await saidOf(route, { ...credential }, path);
          expect([name, secret, status >= 400]).toEqual([name, secret, true]);
          if (text.includes(secret) || text.includes(secret.slice(0, 30))) repeated.push(`${name}: ${text}`);
        }
      }
    }
    expect(repeated).toEqual([]);
  });

  it('in the headers that name a dataset and a tenant', async () => {
    const repeated: string[] = [];
    const routes = node.routes.filter(({ permission }) => permission !== 'public');
    for (const route of routes) {
      for (const secret of [...secrets, ...unnameable]) {
        for (const header of ['x-p-tenant', 'x-p-stream']) {
          if (header === 'x-p-stream' && route.dataset !== 'header') continue;
          const path = route.path.replace(/\{\w+\}/, 'app');
          const { status, text } = await saidOf(route, { ...reader, [header]: secret }, path);
          expect(status).toBeGreaterThanOrEqual(400);
          if (text.includes(secret.slice(0, 30))) repeated.push(`${route.path} ${header}: ${text}`);
        }
      }
    }
    expect(repeated).toEqual([]);
  });

  it('as a path that no route has, or that is not encoded right', async () => {
    for (const secret of secrets) {
      for (const path of [`/${secret}`, `/api/v1/user/${secret}/x`, `/api/v1/role/%zz${secret}`]) {
        const { status, text } = await saidOf({ method: 'GET', path: '' }, root, path);
        expect(status).toBeGreaterThanOrEqual(400);
        expect(text).not.toContain(secret);
      }
    }
  });

  it('among the names of roles', async () => {
    for (const secret of secrets) {
      const reply = await node.send('POST', '/api/v1/user/alice', [secret], {
        ...root,
        'x-p-tenant': 'default',
      });
      const text = await reply.text();
      expect(reply.status).toBe(400);
      expect(text).toContain('role_unknown');
      expect(text).not.toContain(secret);
    }
  });
});

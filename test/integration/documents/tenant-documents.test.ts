import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentKinds } from '../../../src/documents/document.ts';
import { ulid } from '../../../src/lib/ulid.ts';
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
const administrators = new Map<string, Credential>();
const of = (tenant: string): Credential => administrators.get(tenant) ?? {};

async function makeTenant(tenant: string): Promise<void> {
  const within = { ...root, 'x-p-tenant': tenant };
  await node.json('PUT', `/api/v1/tenants/${tenant}`);
  await node.json('PUT', '/api/v1/role/all', [{ privilege: 'admin' }], within);
  const body = { keyName: 'all', roles: ['all'] };
  const { apiKey: key } = await node.json<{ apiKey: string }>(
    'POST',
    '/api/console/v1/apikeys',
    body,
    within,
  );
  administrators.set(tenant, { ...apiKey(key), 'x-p-tenant': tenant });
}

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'node', { multiTenant: true });
  await node.identityStore.refresh();
  node.query.description = { columns: [], aggregateColumns: [], datasets: ['app'], parameters: [] };
  for (const tenant of ['acme', 'globex']) await makeTenant(tenant);
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

const bodies = {
  target: (name: string) => ({ name, type: 'webhook', endpoint: 'https://8.8.8.8/hook' }),
  silence: {
    matchers: [{ name: 'host', value: 'a', isRegex: false, isEqual: true }],
    endsAt: '2100-01-01T00:00:00Z',
  },
  alert: (title: string, targets: readonly string[]) => ({
    title,
    query: 'SELECT * FROM app',
    evalConfig: { rollingWindow: { evalStart: '1h', evalFrequency: 60 } },
    targets,
  }),
  filter: {
    stream_name: 'app',
    filter_name: 'errors',
    query: { filter_type: 'sql', filter_query: 'SELECT * FROM app' },
  },
};

/** One document of each kind. @returns the paths, by kind */
async function fill(tenant: string): Promise<Readonly<Record<string, string>>> {
  const make = (path: string, body: unknown) =>
    node.json<Record<string, string>>('POST', `/api/v1/${path}`, body, of(tenant));
  const target = (await make('targets', bodies.target(tenant)))['id'] ?? '';
  const silence = (await make('silences', bodies.silence))['silenceID'];
  const alert = (await make('alerts', bodies.alert(tenant, [target])))['id'];
  const dashboard = (await make('dashboards', { title: tenant, isFavorite: true }))['dashboardId'];
  const filter = (await make('filters', bodies.filter))['filter_id'];
  return {
    targets: `/api/v1/targets/${target}`,
    silences: `/api/v1/silences/${silence}`,
    alerts: `/api/v1/alerts/${alert}`,
    dashboards: `/api/v1/dashboards/${dashboard}`,
    filters: `/api/v1/filters/${filter}`,
  };
}

/** What somebody of another tenant could try with each document. */
const attempts = (
  paths: Readonly<Record<string, string>>,
): readonly (readonly [string, string, unknown?])[] => {
  const { targets = '', silences = '', alerts = '', dashboards = '', filters = '' } = paths;
  const silenceId = silences.slice(silences.lastIndexOf('/') + 1);
  const targetId = targets.slice(targets.lastIndexOf('/') + 1);
  return [
    ...Object.values(paths).flatMap((path) => [['GET', path] as const, ['DELETE', path] as const]),
    ['PUT', targets, bodies.target('taken')],
    ['POST', '/api/v1/targets', { ...bodies.target('taken'), id: targetId }],
    ['POST', `${targets}/test`],
    ['GET', `${targets}/deliveries`],
    ['POST', '/api/v1/silences', { ...bodies.silence, id: silenceId }],
    ['PUT', alerts, bodies.alert('taken', [])],
    ['PATCH', `${alerts}/disable`],
    ['PATCH', `${alerts}/enable`],
    ['PATCH', `${alerts}/update_notification_state`, { state: 'indefinite' }],
    ['PUT', `${alerts}/evaluate_alert`],
    ['GET', `${alerts}/instances`],
    ['GET', `${alerts}/history`],
    ['GET', `${alerts}/revisions`],
    ['PUT', dashboards, { title: 'taken' }],
    ['PUT', `${dashboards}/add_tile`, { tile_id: ulid(0) }],
    ['PUT', `${dashboards}/favorite`],
    ['DELETE', `${dashboards}/favorite`],
    ['GET', `${dashboards}/revisions`],
    ['PUT', filters, bodies.filter],
    ['GET', `${filters}/revisions`],
  ];
};

const listed = async (tenant: string) =>
  Object.fromEntries(
    await Promise.all(
      ['targets', 'silences', 'alerts', 'dashboards', 'filters'].map(
        async (kind) =>
          [
            kind,
            (await node.json<unknown[]>('GET', `/api/v1/${kind}`, undefined, of(tenant))).length,
          ] as const,
      ),
    ),
  );
const one = { targets: 1, silences: 1, alerts: 1, dashboards: 1, filters: 1 };
const none = { targets: 0, silences: 0, alerts: 0, dashboards: 0, filters: 0 };

it('what a tenant has is seen and changed by no other one, and goes with it', async () => {
  const paths = await fill('acme');
  expect(await listed('globex')).toEqual(none);
  for (const [method, path, body] of attempts(paths)) {
    const reply = await node.send(method, path, body, of('globex'));
    expect([method, path, reply.status]).toEqual([method, path, 404]);
  }
  // An alert cannot tell a target of another tenant.
  const targetId = paths['targets']?.split('/').at(-1) ?? '';
  const reply = await node.send('POST', '/api/v1/alerts', bodies.alert('borrowed', [targetId]), of('globex'));
  expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([400, 'bad_alert']);
  // A credential of one tenant is none in the other.
  const stranger = { ...of('globex'), 'x-p-tenant': 'acme' };
  for (const [method, path, body] of attempts(paths)) {
    expect([method, path, (await node.send(method, path, body, stranger)).status]).toEqual([
      method,
      path,
      401,
    ]);
  }
  // Nothing of this has changed anything.
  for (const path of Object.values(paths)) {
    expect((await node.send('GET', path, undefined, of('acme'))).status).toBe(200);
  }
  expect(await listed('acme')).toEqual(one);

  const others = await fill('globex');
  await node.send('DELETE', '/api/v1/tenants/acme');
  for (const kind of documentKinds) expect([kind, node.documents.list('acme', kind)]).toEqual([kind, []]);
  await makeTenant('acme');
  expect(await listed('acme')).toEqual(none);
  for (const [method, path, body] of attempts(paths)) {
    expect([method, path, (await node.send(method, path, body, of('acme'))).status]).toEqual([
      method,
      path,
      404,
    ]);
  }
  expect(await listed('globex')).toEqual(one);
  for (const path of Object.values(others)) {
    expect((await node.send('GET', path, undefined, of('globex'))).status).toBe(200);
  }
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { apiKey, type Credential, type IdentityNode, startIdentityNode } from '../identity/identity-node.ts';

let store: TestStore;
let node: IdentityNode;
const keys = new Map<string, Credential>();
const as = (name: string): Credential => keys.get(name) ?? {};

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'node');
  await node.identityStore.refresh();
  for (const [name, entry] of Object.entries({
    writer: { privilege: 'writer' },
    appReader: { privilege: 'reader', resource: { dataset: 'app' } },
    webReader: { privilege: 'reader', resource: { dataset: 'web' } },
  })) {
    await node.json('PUT', `/api/v1/role/${name}`, [entry]);
    const body = { keyName: name, roles: [name] };
    keys.set(
      name,
      apiKey((await node.json<{ apiKey: string }>('POST', '/api/console/v1/apikeys', body)).apiKey),
    );
  }
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

interface Shown {
  readonly id: string;
  readonly revision: number;
  readonly title: string;
  readonly query: string;
}

/** An alert of these texts, whose query reads this dataset. */
const write = (path: string, method: string, title: string, dataset: string) => {
  node.query.description = { columns: [], aggregateColumns: [], datasets: [dataset], parameters: [] };
  const evalConfig = { rollingWindow: { evalStart: '1h', evalFrequency: 60 } };
  return node.json<Shown>(
    method,
    path,
    { title, query: `SELECT * FROM ${dataset}`, evalConfig },
    as('writer'),
  );
};
const base = '/api/v1/alerts';

it('of an alert are listed and shown, to those alone who may read what each reads', async () => {
  const { id } = await write(base, 'POST', 'first', 'app');
  const path = `${base}/${id}`;
  await write(path, 'PUT', 'second', 'web');
  await node.json('PATCH', `${path}/disable`, undefined, as('writer'));
  await write(path, 'PUT', 'fourth', 'app');
  const listed = (name: string) => node.json<Shown[]>('GET', `${path}/revisions`, undefined, as(name));
  expect(await listed('writer')).toEqual(
    [4, 3, 2, 1].map((revision) => ({ revision, modified: expect.any(String), modifiedBy: 'writer' })),
  );
  // Revisions 2 and 3 read another dataset.
  expect((await listed('appReader')).map(({ revision }) => revision)).toEqual([4, 1]);
  const shown = (name: string, revision: string) =>
    node.send('GET', `${path}/revisions?revision=${revision}`, undefined, as(name));
  expect(await (await shown('appReader', '1')).json()).toMatchObject({
    id,
    revision: 1,
    title: 'first',
    query: 'SELECT * FROM app',
    state: 'not-triggered',
  });
  expect(await (await shown('writer', '3')).json()).toMatchObject({ title: 'second', state: 'disabled' });
  expect((await shown('appReader', '2')).status).toBe(404);
  expect((await shown('writer', '9')).status).toBe(404);
  expect((await shown('writer', 'x')).status).toBe(400);
  // Who may not see the alert sees none of its revisions, not even those of a dataset that they may read.
  expect((await node.send('GET', `${path}/revisions`, undefined, as('webReader'))).status).toBe(403);
  expect((await node.send('GET', `${base}/unknown/revisions`)).status).toBe(404);
});

it('are so many, and one that is sent back is a new one', async () => {
  const { id } = await write(base, 'POST', 'revision 1', 'app');
  const path = `${base}/${id}`;
  for (let revision = 2; revision <= limits.maxRevisions + 2; revision += 1) {
    await write(path, 'PUT', `revision ${revision}`, 'app');
  }
  const kept = await node.json<Shown[]>('GET', `${path}/revisions`);
  expect(kept.map(({ revision }) => revision)).toEqual(
    Array.from({ length: limits.maxRevisions }, (_, index) => limits.maxRevisions + 2 - index),
  );
  const old = await node.json<Shown>('GET', `${path}/revisions?revision=5`);
  expect(await node.json<Shown>('PUT', path, old)).toMatchObject({
    title: 'revision 5',
    revision: limits.maxRevisions + 3,
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ulid } from '../../../src/lib/ulid.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { problemOf } from '../http/http-harness.ts';
import {
  apiKey,
  type Credential,
  type IdentityNode,
  root,
  startIdentityNode,
} from '../identity/identity-node.ts';

let store: TestStore;
let node: IdentityNode;
/** API keys by name: their privileges, as roles have them. */
const keys = new Map<string, Credential>();
const as = (name: string): Credential => keys.get(name) ?? {};

const privileges = {
  admin: [{ privilege: 'admin' }],
  editor: [{ privilege: 'editor' }],
  writer: [{ privilege: 'writer' }],
  other: [{ privilege: 'writer' }],
  reader: [{ privilege: 'reader' }],
  appWriter: [{ privilege: 'writer', resource: { dataset: 'app' } }],
  appReader: [{ privilege: 'reader', resource: { dataset: 'app' } }],
  webWriter: [{ privilege: 'writer', resource: { dataset: 'web' } }],
} as const;

beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'node', { multiTenant: true });
  await node.identityStore.refresh();
  await node.json('PUT', '/api/v1/tenants/acme');
  for (const [name, entries] of Object.entries(privileges)) {
    await node.json('PUT', `/api/v1/role/${name}`, entries, inDefault(root));
    const body = { keyName: name, roles: [name] };
    const made = await node.json<{ apiKey: string }>(
      'POST',
      '/api/console/v1/apikeys',
      body,
      inDefault(root),
    );
    keys.set(name, inDefault(apiKey(made.apiKey)));
  }
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

const inDefault = (credential: Credential): Credential => ({ 'x-p-tenant': 'default', ...credential });

type Shown = Record<string, unknown> & { dashboardId: string; filter_id: string; revision: number };

const base = '/api/v1/dashboards';
const make = (name: string, body: unknown, path = base) => node.json<Shown>('POST', path, body, as(name));
const status = async (name: string, method: string, path: string, body?: unknown): Promise<number> =>
  (await node.send(method, path, body, as(name))).status;
/** The error of a request that must have this status. */
async function refused(
  expected: number,
  method: string,
  path: string,
  body?: unknown,
  credential: Credential = as('writer'),
): Promise<{ code: string; detail: string }> {
  const reply = await node.send(method, path, body, credential);
  expect(reply.status).toBe(expected);
  return problemOf(reply);
}

const tile = (id = ulid(1)) => ({ tile_id: id, name: 'errors', visualization: { size: 'md' } });

describe('dashboards', () => {
  it('are made, shown, listed and deleted as a client of Parseable expects it', async () => {
    const sent = { title: 'Overview', tags: ['prod', 'web'], tiles: [tile()], colour: { of: ['its own'] } };
    const reply = await node.send('POST', base, sent, as('writer'));
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, '"1"']);
    const made = (await reply.json()) as Shown;
    expect(made).toEqual({
      version: 'v1',
      ...sent,
      author: 'writer',
      dashboardId: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      modified: made['created'],
      revision: 1,
      dashboardType: 'Dashboard',
      isFavorite: false,
      visibility: 'tenant',
      tenantId: 'default',
    });
    const path = `${base}/${made.dashboardId}`;
    expect(await node.json('GET', path, undefined, as('reader'))).toEqual(made);
    expect(await node.json('GET', path.toLowerCase(), undefined, as('reader'))).toEqual(made);
    const [listed] = await node.json<Shown[]>('GET', base, undefined, as('appReader'));
    expect(listed).toEqual({
      title: 'Overview',
      author: 'writer',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/),
      modified: listed?.['created'],
      dashboardId: made.dashboardId,
      tags: ['prod', 'web'],
      isFavorite: false,
    });
    const gone = await node.send('DELETE', path, undefined, as('writer'));
    expect([gone.status, await gone.text()]).toEqual([200, '']);
    expect(await refused(404, 'GET', path)).toMatchObject({ code: 'not_found' });
    expect(await refused(404, 'DELETE', path)).toMatchObject({ code: 'not_found' });
    expect(await refused(400, 'GET', `${base}/no-ulid`)).toMatchObject({ code: 'bad_request' });
    const changes = node.auditRows.filter(({ target }) => target.startsWith(made.dashboardId));
    expect(changes.map(({ audit, by_name }) => [audit, by_name])).toEqual([
      ['dashboard.create', 'writer'],
      ['dashboard.delete', 'writer'],
    ]);
  });

  it('are listed by their last change, by tags and up to a limit', async () => {
    const one = await make('writer', { title: 'one', tags: ['a'] });
    const two = await make('writer', { title: 'two', tags: ['b', 'a', 'a'] });
    const three = await make('writer', { title: 'three' });
    await node.json('PUT', `${base}/${one.dashboardId}?tags=a,c`, undefined, as('writer'));
    const ids = async (query: string) =>
      (await node.json<Shown[]>('GET', base + query, undefined, as('reader'))).map(
        ({ dashboardId }) => dashboardId,
      );
    const [first, second, third] = [one, three, two].map(({ dashboardId }) => dashboardId);
    expect((await ids('')).slice(0, 3)).toEqual([first, second, third]);
    expect(await ids('?limit=2')).toEqual([first, second]);
    expect(await ids('?tags=c,b')).toEqual([first, third]);
    expect(await ids('?tags=a&limit=1')).toEqual([first]);
    expect(await ids('?tags=nothing')).toEqual([]);
    expect(await node.json('GET', `${base}/list_tags`, undefined, as('reader'))).toEqual(['a', 'b', 'c']);
    for (const query of ['?limit=0', '?limit=x', '?limit=-1', '?tags=', '?tags=a,,b']) {
      expect((await refused(400, 'GET', base + query)).code).toBe('bad_request');
    }
    for (const id of [first, second, third]) await status('writer', 'DELETE', `${base}/${id}`);
  });

  it('are changed as a whole, by parameters and by a tile', async () => {
    const { dashboardId } = await make('writer', { title: 'first', tags: ['x'], further: 1 });
    const path = `${base}/${dashboardId}`;
    const put = (query: string, body?: unknown) => node.json<Shown>('PUT', path + query, body, as('writer'));
    expect(await put('?renameTo=second&tags=y,z')).toMatchObject({
      title: 'second',
      tags: ['y', 'z'],
      further: 1,
      revision: 2,
    });
    expect(await put('?tags=')).toMatchObject({ title: 'second', tags: [], revision: 3 });
    expect(await put('?isFavorite=true')).toMatchObject({ isFavorite: true, revision: 3 });
    const added = tile(ulid(7));
    expect(await put('/add_tile', added)).toMatchObject({ tiles: [added], revision: 4 });
    // What the service says of a dashboard is not taken from a client; what it sends back is kept.
    const whole = { ...(await put('?isFavorite=true')), author: 'me', revision: 77, title: 'third', more: 2 };
    expect(await put('', whole)).toMatchObject({
      title: 'third',
      author: 'writer',
      revision: 5,
      further: 1,
      more: 2,
      isFavorite: true,
    });
    expect(await put('', { title: 'third', isFavorite: false })).toMatchObject({
      tiles: [],
      tags: null,
      isFavorite: false,
    });
    expect((await refused(400, 'PUT', path)).detail).toContain('either');
    expect((await refused(400, 'PUT', `${path}?isFavorite=true`, whole)).detail).toContain('either');
    expect((await refused(400, 'PUT', `${path}?isFavorite=yes`)).detail).toContain('isFavorite');
    expect((await refused(400, 'PUT', `${path}?renameTo=`)).detail).toContain('empty');
    await status('writer', 'DELETE', path);
  });

  it.each([
    ['no title', {}, 'title is missing'],
    ['an empty title', { title: ' ' }, 'title must not be empty'],
    ['no object', [], 'a dashboard must be an object'],
    ['another type', { title: 't', dashboardType: 'x' }, 'dashboardType must be one of Dashboard, Report'],
    ['a tile without an id', { title: 't', tiles: [{}] }, 'tiles[0].tile_id is missing'],
    ['a tile with no ULID', { title: 't', tiles: [{ tile_id: '1' }] }, 'tiles[0].tile_id must be a ULID'],
    ['a tile of zeros', { title: 't', tiles: [tile('0'.repeat(26))] }, 'must not be all zeros'],
    [
      'a tile twice',
      { title: 't', tiles: [tile(), tile(`${'0'.repeat(25)}1`), tile(`${'0'.repeat(25)}1`)] },
      'tiles[2].tile_id is that of tiles[1], too',
    ],
    [
      'a query in no language',
      { title: 't', tiles: [{ ...tile(), query: { language: 'x', text: 'y' } }] },
      'tiles[0].query.language must be one of sql, promql',
    ],
    [
      'a chart of no kind',
      { title: 't', tiles: [{ ...tile(), chart: { kind: 'x' } }] },
      'tiles[0].chart.kind must be one of line',
    ],
    [
      'a place that is none',
      { title: 't', tiles: [{ ...tile(), layout: { x: 0, y: -1, w: 1, h: 1 } }] },
      'tiles[0].layout.y must be a whole number',
    ],
    ['no visibility', { title: 't', visibility: 'all' }, 'visibility must be one of private, tenant'],
    ['a tag that is none', { title: 't', tags: [''] }, 'tags[0] must have at least 1 characters'],
    [
      'members in members',
      { title: 't', deep: nested(limits.maxDocumentDepth + 1) },
      'nested deeper than 64',
    ],
  ])('with %s are refused', async (_, body, detail) => {
    expect((await refused(400, 'POST', base, body)).detail).toContain(detail);
  });

  it('keep tiles in a form of their own as they are', async () => {
    const tiles = [
      { ...tile(ulid(1)), query: 'SELECT 1', chart: 'bar', layout: [1] },
      { ...tile(ulid(2)), query: { sql: 'SELECT 1' }, chart: { type: 'x' }, layout: null },
      {
        ...tile(ulid(3)),
        query: { language: 'sql', text: 'SELECT 1' },
        chart: { kind: 'bar', x: 'a', y: ['b'], own: 1 },
        layout: { x: 0, y: 0, w: 6, h: 4 },
      },
    ];
    const made = await make('writer', { title: 'tiles', tiles });
    expect(made['tiles']).toEqual(tiles);
    await status('writer', 'DELETE', `${base}/${made.dashboardId}`);
  });

  it('are bounded in size', async () => {
    const body = { title: 'large', text: 'x'.repeat(limits.maxDocumentLength) };
    expect((await refused(413, 'POST', base, body)).code).toBe('document_too_large');
  });

  it('belong to who made them: others look, and only those who manage documents change them', async () => {
    const { dashboardId } = await make('writer', { title: 'of the writer' });
    const path = `${base}/${dashboardId}`;
    for (const name of ['other', 'appWriter', 'reader', 'appReader']) {
      expect([name, await status(name, 'GET', path)]).toEqual([name, 200]);
      expect([name, await status(name, 'PUT', path, { title: 'taken over' })]).toEqual([name, 403]);
      expect([name, await status(name, 'PUT', `${path}?renameTo=x`)]).toEqual([name, 403]);
      expect([name, await status(name, 'PUT', `${path}/add_tile`, tile())]).toEqual([name, 403]);
      expect([name, await status(name, 'DELETE', path)]).toEqual([name, 403]);
    }
    // The owner stays who it was.
    expect(await node.json('PUT', path, { title: 'edited' }, as('editor'))).toMatchObject({
      title: 'edited',
      author: 'writer',
    });
    expect(await status('writer', 'PUT', path, { title: 'edited again' })).toBe(200);
    expect(await status('admin', 'DELETE', path)).toBe(200);
  });

  it('that are private are there for their owner and for those who manage documents alone', async () => {
    const { dashboardId } = await make('writer', {
      title: 'secret plans',
      visibility: 'private',
      tags: ['hid'],
    });
    const path = `${base}/${dashboardId}`;
    const titles = async (name: string) =>
      (await node.json<Shown[]>('GET', base, undefined, as(name))).map(({ title }) => title);
    for (const name of ['other', 'reader']) {
      for (const [method, at, body] of [
        ['GET', path, undefined],
        ['GET', `${path}/revisions`, undefined],
        ['PUT', `${path}/favorite`, undefined],
      ] as const) {
        expect([name, method, at, await status(name, method, at, body)]).toEqual([name, method, at, 404]);
      }
      expect(await titles(name)).not.toContain('secret plans');
      expect(await node.json('GET', `${base}/list_tags`, undefined, as(name))).not.toContain('hid');
    }
    expect(await status('other', 'PUT', path, { title: 'x' })).toBe(404);
    expect(await status('other', 'DELETE', path)).toBe(404);
    // A title that somebody else has in private is free, and does not tell that it is taken.
    const same = await make('other', { title: 'secret plans' });
    expect(await status('admin', 'GET', path)).toBe(200);
    // A client that does not know of visibility makes nothing public.
    expect(await node.json('PUT', path, { title: 'still secret' }, as('writer'))).toMatchObject({
      visibility: 'private',
    });
    await node.json('PUT', path, { title: 'open now', visibility: 'tenant' }, as('writer'));
    const seen = await node.json<Shown[]>('GET', `${path}/revisions`, undefined, as('other'));
    expect(seen.map(({ revision }) => revision)).toEqual([3]);
    expect(await status('other', 'GET', `${path}/revisions?revision=1`)).toBe(404);
    for (const id of [dashboardId, same.dashboardId]) await status('admin', 'DELETE', `${base}/${id}`);
  });

  it('have titles of their own', async () => {
    const one = await make('writer', { title: 'mine' });
    const two = await make('writer', { title: 'yours' });
    expect((await refused(400, 'POST', base, { title: 'mine' })).detail).toContain('already');
    expect((await refused(400, 'PUT', `${base}/${two.dashboardId}?renameTo=mine`)).detail).toContain(
      'already',
    );
    expect(await status('writer', 'PUT', `${base}/${two.dashboardId}`, { title: 'yours' })).toBe(200);
    for (const { dashboardId } of [one, two]) await status('writer', 'DELETE', `${base}/${dashboardId}`);
  });

  it('are marked as favourites by each person alone', async () => {
    const { dashboardId } = await make('writer', { title: 'liked', isFavorite: true });
    const path = `${base}/${dashboardId}`;
    const isFavorite = async (name: string) =>
      (await node.json<Shown>('GET', path, undefined, as(name)))['isFavorite'];
    expect(await isFavorite('writer')).toBe(true);
    expect(await isFavorite('reader')).toBe(false);
    await Promise.all([1, 2, 3].map(() => node.json('PUT', `${path}/favorite`, undefined, as('reader'))));
    expect(await isFavorite('reader')).toBe(true);
    await node.json('DELETE', `${path}/favorite`, undefined, as('writer'));
    expect([await isFavorite('reader'), await isFavorite('writer')]).toEqual([true, false]);
    // Of a dashboard that somebody else owns: the parameter of Parseable works, too, and makes no revision.
    expect(await node.json('PUT', `${path}?isFavorite=true`, undefined, as('other'))).toMatchObject({
      isFavorite: true,
      revision: 1,
    });
    await status('writer', 'DELETE', path);
    expect(await status('reader', 'PUT', `${path}/favorite`)).toBe(404);
  });

  it('keep their revisions, and refuse a change of one that is not current', async () => {
    const { dashboardId } = await make('writer', { title: 'r1' });
    const path = `${base}/${dashboardId}`;
    const put = (title: string, ifMatch: string) =>
      node.send('PUT', path, { title }, { ...as('writer'), 'if-match': ifMatch });
    expect((await put('r2', '"1"')).headers.get('etag')).toBe('"2"');
    const stale = await put('r3', '"1"');
    expect([stale.status, stale.headers.get('etag')]).toEqual([412, null]);
    expect(await stale.json()).toMatchObject({ code: 'revision_changed', revision: 2 });
    expect((await put('r3', '"7", W/"2"')).status).toBe(200);
    expect((await put('r4', '*')).status).toBe(200);
    expect((await put('r5', '4')).status).toBe(400);
    for (const [method, at] of [
      ['DELETE', path],
      ['PUT', `${path}?renameTo=x`],
    ] as const) {
      const reply = await node.send(method, at, undefined, { ...as('writer'), 'if-match': '"1"' });
      expect(reply.status).toBe(412);
    }
    await node.json('PUT', path, { title: 'r5' }, as('editor'));
    expect(await node.json('GET', `${path}/revisions`, undefined, as('reader'))).toEqual(
      [5, 4, 3, 2, 1].map((revision) => ({
        revision,
        modified: expect.any(String),
        modifiedBy: revision === 5 ? 'editor' : 'writer',
      })),
    );
    const earlier = await node.json<Shown>('GET', `${path}/revisions?revision=2`, undefined, as('reader'));
    expect(earlier).toMatchObject({ title: 'r2', revision: 2, dashboardId });
    // To go back is to send an earlier one.
    expect(await node.json('PUT', path, earlier, as('writer'))).toMatchObject({ title: 'r2', revision: 6 });
    expect((await refused(404, 'GET', `${path}/revisions?revision=9`)).detail).toContain('6, 5, 4, 3, 2, 1');
    await status('writer', 'DELETE', path);
    expect(await status('writer', 'GET', `${path}/revisions`)).toBe(404);
  });

  it('are those of one tenant', async () => {
    const { dashboardId } = await make('writer', { title: 'of default' });
    const acme = { ...root, 'x-p-tenant': 'acme' };
    expect(await node.json('GET', base, undefined, acme)).toEqual([]);
    for (const [method, at] of [
      ['GET', ''],
      ['GET', '/revisions'],
      ['DELETE', ''],
      ['PUT', '?renameTo=x'],
    ] as const) {
      expect((await node.send(method, `${base}/${dashboardId}${at}`, undefined, acme)).status).toBe(404);
    }
    await node.json('POST', base, { title: 'of default' }, acme);
    await node.send('DELETE', '/api/v1/tenants/acme');
    expect(node.documents.list('acme', 'dashboard')).toEqual([]);
    await status('writer', 'DELETE', `${base}/${dashboardId}`);
  });
});

const filters = '/api/v1/filters';
const sqlFilter = (stream = 'app') => ({
  stream_name: stream,
  filter_name: 'errors',
  query: { filter_type: 'sql', filter_query: `SELECT * FROM ${stream}` },
  time_filter: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  further: { kept: true },
});
const builtFilter = (stream = 'app') => ({
  stream_name: stream,
  filter_name: 'built',
  query: {
    filter_type: 'builder',
    filter_builder: {
      id: '1',
      combinator: 'and',
      rules: [
        { id: '2', combinator: 'or', rules: [{ id: '3', field: 'level', operator: '=', value: 'error' }] },
      ],
    },
  },
});

describe('saved filters', () => {
  it('are made, shown, listed, replaced and deleted as a client of Parseable expects it', async () => {
    const made = await make('writer', sqlFilter(), filters);
    expect(made).toEqual({
      version: 'v2',
      user_id: 'writer',
      ...sqlFilter(),
      filter_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      revision: 1,
      visibility: 'tenant',
      tenant_id: 'default',
    });
    const path = `${filters}/${made.filter_id}`;
    expect(await node.json('GET', path, undefined, as('reader'))).toEqual(made);
    expect(await node.json('GET', filters, undefined, as('appReader'))).toEqual([made]);
    const reply = await node.send(
      'PUT',
      path,
      { ...made, ...builtFilter() },
      {
        ...as('writer'),
        'if-match': '"1"',
      },
    );
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await reply.json()).toEqual({ ...made, ...builtFilter(), revision: 2 });
    expect((await refused(412, 'PUT', path, sqlFilter(), { ...as('writer'), 'if-match': '"1"' })).code).toBe(
      'revision_changed',
    );
    const revisions = await node.json<Shown[]>('GET', `${path}/revisions`, undefined, as('reader'));
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 1]);
    expect(await node.json('GET', `${path}/revisions?revision=1`, undefined, as('reader'))).toEqual(made);
    expect(await status('writer', 'DELETE', path)).toBe(200);
    expect(await refused(404, 'GET', path)).toMatchObject({ code: 'not_found' });
    expect(await refused(404, 'GET', `${filters}/none`)).toMatchObject({ code: 'not_found' });
    const changes = node.auditRows.filter(({ target }) => target.startsWith(made.filter_id));
    expect(changes.map(({ audit }) => audit)).toEqual(['filter.create', 'filter.update', 'filter.delete']);
  });

  it('are seen by those who may query their datasets, and made by those who may write there', async () => {
    const app = await make('appWriter', builtFilter('app'), filters);
    const web = await make('webWriter', builtFilter('web'), filters);
    const seenBy = async (name: string) =>
      (await node.json<Shown[]>('GET', filters, undefined, as(name))).map(({ filter_id }) => filter_id);
    const both = [app.filter_id, web.filter_id].sort();
    expect((await seenBy('reader')).sort()).toEqual(both);
    expect(await seenBy('appReader')).toEqual([app.filter_id]);
    expect(await seenBy('webWriter')).toEqual([web.filter_id]);
    expect(await status('appReader', 'GET', `${filters}/${web.filter_id}`)).toBe(403);
    expect(await status('appReader', 'GET', `${filters}/${web.filter_id}/revisions`)).toBe(403);
    expect((await refused(403, 'POST', filters, builtFilter('web'), as('appWriter'))).detail).toContain(
      'web',
    );
    expect(await status('appWriter', 'PUT', `${filters}/${app.filter_id}`, builtFilter('web'))).toBe(403);
    // What its SQL reads counts, not the dataset that it names: here the query reads `app`.
    expect(await status('webWriter', 'POST', filters, sqlFilter('web'))).toBe(403);
    const named = await make('appWriter', sqlFilter('web'), filters);
    expect(await seenBy('appReader')).toContain(named.filter_id);
    expect(await seenBy('webWriter')).not.toContain(named.filter_id);
    // Others look; the owner, and those who manage documents, change.
    for (const [name, expected] of [
      ['reader', 403],
      ['other', 403],
      ['editor', 200],
    ] as const) {
      expect([name, await status(name, 'PUT', `${filters}/${app.filter_id}`, builtFilter())]).toEqual([
        name,
        expected,
      ]);
      expect([name, await status(name, 'DELETE', `${filters}/${named.filter_id}`)]).toEqual([name, expected]);
    }
    expect(await node.json('GET', `${filters}/${app.filter_id}`, undefined, as('reader'))).toMatchObject({
      user_id: 'appWriter',
    });
    const hidden = await make('writer', { ...builtFilter(), visibility: 'private' }, filters);
    expect(await seenBy('reader')).not.toContain(hidden.filter_id);
    expect(await status('reader', 'GET', `${filters}/${hidden.filter_id}`)).toBe(404);
    expect(await seenBy('admin')).toContain(hidden.filter_id);
    for (const id of [app, web, hidden]) await status('admin', 'DELETE', `${filters}/${id.filter_id}`);
  });

  it.each([
    ['no name', { ...sqlFilter(), filter_name: '' }, 400, 'filter_name must not be empty'],
    ['no dataset', { ...sqlFilter(), stream_name: 'a b' }, 400, 'dataset name'],
    ['no SQL', { ...sqlFilter(), query: { filter_type: 'sql' } }, 400, 'query.filter_query must be SQL'],
    ['no type', { ...sqlFilter(), query: {} }, 400, 'query.filter_type is missing'],
    [
      'three levels of conditions',
      {
        ...builtFilter(),
        query: {
          filter_type: 'filter',
          filter_builder: { combinator: 'and', rules: [{ combinator: 'and', rules: [{ rules: [] }] }] },
        },
      },
      400,
      'query.filter_builder.rules[0].rules[0].field is missing',
    ],
  ])('with %s are refused', async (_, body, expected, detail) => {
    expect((await refused(expected, 'POST', filters, body)).detail).toContain(detail);
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { in: nested(depth - 1) };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';
import { problemOf } from '../http/http-harness.ts';
import {
  apiKey,
  basic,
  type Credential,
  type IdentityNode,
  root,
  startIdentityNode,
} from './identity-node.ts';

interface Key {
  readonly keyId: string;
  readonly keyName: string;
  readonly apiKey: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  readonly createdAt: string;
  readonly modifiedAt: string;
}

let store: TestStore;
let node: IdentityNode;
const auditClock = new ManualClock();
beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'first').prepare();
  node = await startIdentityNode(store.store, 'one', { auditClock });
  await node.identityStore.refresh();
  for (const [name, role] of Object.entries(roles)) await node.json('PUT', `/api/v1/role/${name}`, role);
});
afterAll(async () => {
  await node?.close();
  await store?.close();
});

const roles = {
  'ingest-app': [{ privilege: 'ingestor', resource: { dataset: 'app' } }],
  reading: [{ privilege: 'reader' }],
  administrating: [{ privilege: 'admin' }],
};

const keys = '/api/console/v1/apikeys';
const makeKey = (keyName: string, ...names: string[]) =>
  node.json<Key>('POST', keys, { keyName, roles: names });
const makeUser = async (name: string, ...names: string[]) =>
  (await node.send('POST', `/api/v1/user/${name}`, names)).text();
/** What becomes of an ingest into `app`. */
const ingest = async (credential: Credential, at = node) =>
  (await at.send('POST', '/api/v1/ingest', [{}], credential)).status;
/** The status and the problem of a refusal. */
const refusal = async (method: string, path: string, body?: unknown) => {
  const reply = await node.send(method, path, body);
  const { code, detail } = await problemOf(reply);
  return { status: reply.status, code, detail };
};

describe('roles', () => {
  it('are shown as they were put', async () => {
    const put = [
      { privilege: 'reader', resource: { stream: 'app', tag: 'env=a=b' } },
      { privilege: 'writer', resource: { dataset: 'app' } },
      { privilege: 'admin' },
    ];
    for (const role of [put, { actions: put, roleType: 'user' }]) {
      expect(await node.json('PUT', '/api/v1/role/shown', role)).toEqual(role);
      expect(await node.json('GET', '/api/v1/role/shown')).toEqual(role);
      expect(await node.json('GET', '/api/v1/roles')).toEqual({ ...roles, shown: put });
    }
    expect((await node.send('DELETE', '/api/v1/role/shown')).status).toBe(200);
    expect(await node.json('GET', '/api/v1/roles')).toEqual(roles);
  });

  it.each([
    [{ privilege: 'admin' }, 'array'],
    [['admin'], 'privileges[0] must be an object'],
    [[{ privilege: 'root' }], 'privileges[0].privilege must be one of admin'],
    [[{}], 'privileges[0].privilege is missing'],
    [[{ privilege: 'reader', stream: 'a' }], 'privileges[0]."stream" is not known here'],
    [
      [{ privilege: 'reader', resource: { datset: 'a' } }],
      'privileges[0].resource."datset" is not known here',
    ],
    [[{ privilege: 'reader', resource: {} }], 'names nothing'],
    [[{ privilege: 'reader', resource: null }], 'resource must be an object'],
    [[{ privilege: 'reader', resource: { dataset: 'a', stream: 'a' } }], 'mean the same'],
    [[{ privilege: 'reader', resource: { dataset: 5 } }], 'dataset must be a string'],
    [[{ privilege: 'reader', resource: { dataset: null } }], 'dataset must be a string'],
    [[{ privilege: 'reader', resource: { dataset: null, tag: 'a=b' } }], 'dataset must be a string'],
    [[{ privilege: 'reader', resource: { dataset: '*' } }], 'not a dataset name'],
    [[{ privilege: 'reader', resource: { tag: 'env' } }], 'field=value'],
    [[{ privilege: 'reader', resource: { tag: '=x' } }], 'field=value'],
    [[{ privilege: 'ingestor', resource: { tag: 'a=b' } }], 'ingestor takes none'],
    [[{ privilege: 'admin' }, { privilege: 'x' }], 'privileges[1].privilege'],
    [[{ privilege: 'editor', resource: { dataset: 'a' } }], 'editor holds for all datasets'],
    [{ actions: [] }, 'privileges.roleType is missing'],
    [{ roleType: 'user' }, 'privileges.actions is missing'],
    [{ actions: [], roleType: 'superadmin' }, 'privileges.roleType must be "user"'],
    [{ actions: [{ privilege: 'x' }], roleType: 'user' }, 'privileges.actions[0].privilege must be one of'],
    [{ actions: [], roleType: 'user', more: 1 }, 'is not known here'],
  ])('refuse %j, saying why', async (role, reason) => {
    const { status, detail } = await refusal('PUT', '/api/v1/role/bad', role);
    expect(status).toBe(400);
    expect(detail).toContain(reason);
    expect((await node.send('GET', '/api/v1/role/bad')).status).toBe(404);
  });

  it('are refused where somebody would have too many privileges, or too long ones, naming who', async () => {
    const readers = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        privilege: 'reader',
        resource: { dataset: `d${from + index}` },
      }));
    const names = ['many1', 'many2', 'many3'];
    const { maxPrivilegesPerIdentity: most } = limits;
    const each = Math.floor(most / names.length);
    for (const [index, name] of names.entries()) {
      await node.json('PUT', `/api/v1/role/${name}`, readers(index * each, each));
    }
    const { keyId, apiKey: value } = await makeKey('many', ...names);
    await node.json('PUT', '/api/v1/role/one-more', readers(9000, 1000));
    const growing = await refusal('PUT', '/api/v1/role/many1', readers(0, each + 10));
    expect(growing).toMatchObject({ status: 400, code: 'bad_role' });
    expect(growing.detail).toContain('API key "many" have');
    const given = await refusal('POST', keys, { keyName: 'too many', roles: ['one-more', 'many1', 'many2'] });
    expect(given).toMatchObject({ status: 400, code: 'bad_role' });
    expect(given.detail).toContain(`${most} are allowed`);
    await makeUser('nearly', 'one-more');
    expect(await refusal('PATCH', '/api/v1/user/nearly/role/add', ['many1', 'many2'])).toMatchObject({
      code: 'bad_role',
    });
    const long = Array.from({ length: 1000 }, (_, index) => ({
      privilege: 'reader',
      resource: { tag: `field=${index}${'x'.repeat(400)}` },
    }));
    expect(await refusal('PUT', '/api/v1/role/long', long)).toMatchObject({ status: 400, code: 'bad_role' });
    expect(await ingest(apiKey(value))).toBe(403);
    // Less is always taken.
    await node.json('PUT', '/api/v1/role/many1', []);
    await node.json('PUT', '/api/v1/role/many2', []);
    await node.json('DELETE', `${keys}/${keyId}`);
    await node.send('DELETE', '/api/v1/user/nearly');
    for (const name of [...names, 'one-more']) await node.send('DELETE', `/api/v1/role/${name}`);
  });

  it('of all together are bounded', async () => {
    const role = Array.from({ length: 500 }, (_, index) => ({
      privilege: 'reader',
      resource: { tag: `field=${index}${'x'.repeat(400)}` },
    }));
    const outcomes: string[] = [];
    for (let index = 0; index < 30 && outcomes.at(-1) !== 'too_many_identities'; index += 1) {
      const reply = await node.send('PUT', `/api/v1/role/large${index}`, role);
      outcomes.push(reply.status === 200 ? 'put' : (await problemOf(reply)).code);
    }
    expect(outcomes.at(-1)).toBe('too_many_identities');
    expect(outcomes.length).toBeGreaterThan(5);
    for (const index of outcomes.keys()) await node.send('DELETE', `/api/v1/role/large${index}`);
  });

  it.each(['..', '%20', 'a%2Fb', 'ö', '-x', `x${'x'.repeat(limits.identityNameMaxLength)}`, '%zz'])(
    'refuse the name %s',
    async (name) => {
      // As it is: fetch would take ".." out of the path.
      const path = `/api/v1/role/${name === '..' ? '%2E%2E%2F' : name}`;
      expect(await refusal('PUT', path, [])).toMatchObject({ status: 400, code: 'bad_name' });
    },
  );

  it('that do not exist are not found', async () => {
    expect(await refusal('GET', '/api/v1/role/nosuch')).toMatchObject({ status: 404 });
    expect(await refusal('DELETE', '/api/v1/role/nosuch')).toMatchObject({ status: 404 });
  });

  it('in use stay, and the refusal names who uses them', async () => {
    await node.json('PUT', '/api/v1/role/used', []);
    await makeUser('using', 'used');
    const { keyId } = await makeKey('using too', 'used');
    await node.json('PUT', '/api/v1/role/default', 'used');
    expect(await node.json('GET', '/api/v1/role/default')).toBe('used');
    const { status, code, detail } = await refusal('DELETE', '/api/v1/role/used');
    expect([status, code]).toEqual([409, 'role_in_use']);
    expect(detail).toContain('the default role, user using, API key "using too"');
    await node.json('PUT', '/api/v1/role/default', 'reading');
    await node.send('DELETE', '/api/v1/user/using');
    await node.send('DELETE', `${keys}/${keyId}`);
    expect((await node.send('DELETE', '/api/v1/role/used')).status).toBe(200);
  });

  it('change at once for all who have them', async () => {
    const user = basic('changing', await makeUser('changing', 'ingest-app'));
    const { apiKey: key } = await makeKey('changing', 'ingest-app');
    expect([await ingest(user), await ingest(apiKey(key))]).toEqual([200, 200]);
    await node.json('PUT', '/api/v1/role/ingest-app', []);
    expect([await ingest(user), await ingest(apiKey(key))]).toEqual([403, 403]);
    await node.json('PUT', '/api/v1/role/ingest-app', roles['ingest-app']);
    expect([await ingest(user), await ingest(apiKey(key))]).toEqual([200, 200]);
  });

  it('the default can be none', async () => {
    await node.json('PUT', '/api/v1/role/default', 'reading');
    expect(await node.json('PUT', '/api/v1/role/default', null)).toBeNull();
    expect(await node.json('GET', '/api/v1/role/default')).toBeNull();
    expect(await node.json('PUT', '/api/v1/role/default', null)).toBeNull();
  });

  it('the default can only be one that exists', async () => {
    expect(await refusal('PUT', '/api/v1/role/default', 'nosuch')).toMatchObject({ code: 'role_unknown' });
    expect(await refusal('PUT', '/api/v1/role/default', ['reading'])).toMatchObject({ code: 'bad_request' });
  });
});

describe('users', () => {
  it('sign in with the password that was made for them, with their roles', async () => {
    const password = await makeUser('alice', 'ingest-app');
    expect(password).toMatch(/^[\w-]{24}$/);
    expect(await ingest(basic('alice', password))).toBe(200);
    expect(await ingest(basic('alice', `${password}x`))).toBe(401);
    const role = { actions: roles['ingest-app'], roleType: 'user' };
    expect(await node.json('GET', '/api/v1/user/alice/role')).toEqual({
      roles: { 'ingest-app': role },
      group_roles: {},
    });
    const alice = {
      id: 'alice',
      username: 'alice',
      method: 'native',
      email: null,
      picture: null,
      roles: { 'ingest-app': roles['ingest-app'] },
      group_roles: {},
      user_groups: [],
    };
    expect(await node.json('GET', '/api/v1/users/alice')).toEqual(alice);
    const described = await node.json<{ id: string }[]>('GET', '/api/v1/users');
    expect(described).toContainEqual(alice);
    expect(described.map(({ id }) => id)).not.toContain('admin');
    expect(await refusal('GET', '/api/v1/users/nobody')).toMatchObject({ status: 404 });
    expect(await node.json('GET', '/api/v1/user')).toEqual(
      expect.arrayContaining([
        { id: 'admin', method: 'native' },
        { id: 'alice', method: 'native' },
      ]),
    );
  });

  it('see their own roles, and nobody else does but administrators', async () => {
    const gina = basic('gina', await makeUser('gina', 'ingest-app'));
    const hank = basic('hank', await makeUser('hank'));
    const { apiKey: key } = await makeKey('gina', 'reading');
    const seenBy = async (credential: Credential, name: string) =>
      (await node.send('GET', `/api/v1/user/${name}/role`, undefined, credential)).status;
    expect(await seenBy(gina, 'gina')).toBe(200);
    expect(await seenBy(hank, 'hank')).toBe(200);
    expect(await seenBy(gina, 'hank')).toBe(403);
    expect(await seenBy(gina, 'nobody')).toBe(403);
    expect(await seenBy(gina, 'admin')).toBe(403);
    // The key only has the name of a user.
    expect(await seenBy(apiKey(key), 'gina')).toBe(403);
  });

  it('have the roles that are set, and no others', async () => {
    const ivy = basic('ivy', await makeUser('ivy', 'reading'));
    expect(await node.json('PUT', '/api/v1/user/ivy/role', ['ingest-app'])).toEqual({
      'ingest-app': roles['ingest-app'],
    });
    expect(await ingest(ivy)).toBe(200);
    expect(await node.json('PUT', '/api/v1/user/ivy/role', [])).toEqual({});
    expect(await refusal('PUT', '/api/v1/user/ivy/role', ['nosuch'])).toMatchObject({ code: 'role_unknown' });
  });

  it('gain and lose roles at once', async () => {
    const bob = basic('bob', await makeUser('bob'));
    expect(await ingest(bob)).toBe(403);
    await node.json('PATCH', '/api/v1/user/bob/role/add', ['ingest-app', 'ingest-app']);
    expect(await ingest(bob)).toBe(200);
    expect(await node.json('PATCH', '/api/v1/user/bob/role/remove', ['ingest-app', 'nosuch'])).toEqual({});
    expect(await ingest(bob)).toBe(403);
    expect(await refusal('PATCH', '/api/v1/user/bob/role/add', ['nosuch', 'reading'])).toMatchObject({
      status: 400,
      code: 'role_unknown',
      detail: expect.stringContaining('"nosuch"'),
    });
  });

  it('with a new password cannot use the old one any more', async () => {
    const old = await makeUser('carol', 'ingest-app');
    expect(await ingest(basic('carol', old))).toBe(200);
    const fresh = await (await node.send('POST', '/api/v1/user/carol/generate-new-password')).text();
    expect(await ingest(basic('carol', old))).toBe(401);
    expect(await ingest(basic('carol', fresh))).toBe(200);
  });

  it('that are deleted are nobody at once', async () => {
    const dave = basic('dave', await makeUser('dave', 'ingest-app'));
    expect(await ingest(dave)).toBe(200);
    expect((await node.send('DELETE', '/api/v1/user/dave')).status).toBe(200);
    expect(await ingest(dave)).toBe(401);
    expect(await refusal('DELETE', '/api/v1/user/dave')).toMatchObject({ status: 404 });
  });

  it('have names of their own that exist once', async () => {
    await makeUser('erin');
    expect(await refusal('POST', '/api/v1/user/erin')).toMatchObject({
      status: 409,
      code: 'identity_exists',
    });
    expect(await refusal('POST', '/api/v1/user/a%3Ab')).toMatchObject({ status: 400, code: 'bad_name' });
    expect(await refusal('POST', '/api/v1/user/frank', ['nosuch'])).toMatchObject({ code: 'role_unknown' });
    expect(await refusal('POST', '/api/v1/user/frank', { roles: [] })).toMatchObject({ code: 'bad_request' });
  });

  it('show what the root administrator may do', async () => {
    expect(await node.json('GET', '/api/v1/user/admin/role')).toEqual({
      roles: { admin: { actions: [{ privilege: 'admin' }], roleType: 'user' } },
      group_roles: {},
    });
    expect(await refusal('GET', '/api/v1/user/nobody/role')).toMatchObject({ status: 404 });
  });

  it.each([
    ['POST', '/api/v1/user/admin'],
    ['DELETE', '/api/v1/user/admin'],
    ['POST', '/api/v1/user/admin/generate-new-password'],
    ['PATCH', '/api/v1/user/admin/role/remove'],
  ])('do not include the root administrator: %s %s', async (method, path) => {
    const body = method === 'PATCH' ? ['reading'] : undefined;
    expect(await refusal(method, path, body)).toMatchObject({ status: 400, code: 'root_unchangeable' });
  });
});

describe('API keys', () => {
  it('are shown in full when they are made and by their id, and masked in the list', async () => {
    const key = await makeKey('Shown, with a näme', 'ingest-app', 'reading');
    expect(key).toEqual({
      keyId: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      keyName: 'Shown, with a näme',
      apiKey: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      roles: ['ingest-app', 'reading'],
      createdBy: 'admin',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      modifiedAt: key.createdAt,
    });
    expect(await node.json('GET', `${keys}/${key.keyId}`)).toEqual(key);
    const listed = await node.json<Key[]>('GET', keys);
    expect(listed.find(({ keyId }) => keyId === key.keyId)).toEqual({
      ...key,
      apiKey: `****${key.apiKey.slice(-4)}`,
    });
    expect((await node.json<{ id: string }[]>('GET', '/api/v1/users')).map(({ id }) => id)).not.toContain(
      key.keyName,
    );
  });

  it('do what their roles say, as X-API-Key or as a bearer token', async () => {
    const { apiKey: key } = await makeKey('working', 'ingest-app');
    expect(await ingest(apiKey(key))).toBe(200);
    expect(await ingest(apiKey(key.toUpperCase()))).toBe(401);
    expect(await ingest(basic('working', key))).toBe(401);
    expect(await ingest({ authorization: `Bearer ${key}` })).toBe(200);
    expect(await ingest({ authorization: `bearer  ${key} ` })).toBe(200);
    expect(await ingest({ authorization: `Bearer ${key.toUpperCase()}` })).toBe(401);
    expect(await ingest({ authorization: `Bearer x${key}` })).toBe(401);
    expect(await ingest({ ...apiKey(key), ...root })).toBe(400);
    expect((await node.send('GET', keys, undefined, apiKey(key))).status).toBe(403);
  });

  it('that are deleted are good no more as soon as the reply is there', async () => {
    const { keyId, apiKey: key, keyName } = await makeKey('ending', 'ingest-app');
    expect(await ingest(apiKey(key))).toBe(200);
    const reply = await node.json<{ message: string }>('DELETE', `${keys}/${keyId}`);
    expect(reply).toEqual({ keyId, keyName, message: expect.any(String) });
    expect(await ingest(apiKey(key))).toBe(401);
    expect(await refusal('GET', `${keys}/${keyId}`)).toMatchObject({ status: 404 });
    expect(await refusal('DELETE', `${keys}/${keyId}`)).toMatchObject({ status: 404 });
    // Its name is free again.
    expect((await makeKey('ending', 'ingest-app')).keyId).not.toBe(keyId);
  });

  it('have names that exist once, however many ask at the same time', async () => {
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => node.send('POST', keys, { keyName: 'one', roles: [] })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  it.each<[unknown, string]>([
    [{ keyName: 'x', roles: ['reading', 'nosuch'] }, 'these roles do not exist: "nosuch"'],
    [{ keyName: 'x' }, 'roles are an array'],
    [{ keyName: 'x', roles: 'reading' }, 'roles are an array'],
    [{ roles: [] }, 'keyName must be a string'],
    [{ keyName: '', roles: [] }, 'printable'],
    [{ keyName: ' x', roles: [] }, 'printable'],
    [{ keyName: 'a\nb', roles: [] }, 'printable'],
    [{ keyName: 'x', roles: [], apiKey: 'mine' }, '"apiKey" is not a member'],
    [[], 'must be an object'],
  ])('refuse %j, saying why', async (body, reason) => {
    const { status, detail } = await refusal('POST', keys, body);
    expect(status).toBe(400);
    expect(detail).toContain(reason);
  });

  it('are at rest encrypted, and in no log', async () => {
    const { apiKey: key, keyId } = await makeKey('secret', 'reading');
    const password = await makeUser('secretive');
    await ingest(apiKey(key));
    await node.send('GET', `${keys}/${keyId}`);
    const kept = JSON.stringify(await store.rows('SELECT * FROM millrace.metadata'));
    for (const text of [kept, node.logLines.join('')]) {
      expect(text).toContain('secretive');
      expect(text).not.toContain(key);
      expect(text).not.toContain(password);
    }
  });
});

describe('several nodes', () => {
  it('know what the others did once they have read the log, new keys that they had refused too', async () => {
    const other = await startIdentityNode(store.store, 'two');
    await other.identityStore.refresh();
    const { apiKey: key, keyId } = await makeKey('travelling', 'ingest-app');
    expect(await ingest(apiKey(key), other)).toBe(401);
    await other.identityStore.refresh();
    expect(await ingest(apiKey(key), other)).toBe(200);
    await node.json('DELETE', `${keys}/${keyId}`);
    await other.identityStore.refresh();
    expect(await ingest(apiKey(key), other)).toBe(401);
    await other.close();
  });

  it('give a name to one of those who ask for it at the same time', async () => {
    const others = await Promise.all(['a', 'b', 'c'].map((name) => startIdentityNode(store.store, name)));
    for (const { identityStore } of others) await identityStore.refresh();
    const replies = await Promise.all(
      others.map((other) => other.send('POST', keys, { keyName: 'contested', roles: ['reading'] })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await Promise.all(others.map((other) => other.close()));
  });

  it('do not take a stranger for nobody while they have not read the log', async () => {
    const { apiKey: key } = await makeKey('early', 'ingest-app');
    const early = await startIdentityNode(store.store, 'early');
    expect(await ingest(apiKey(key), early)).toBe(503);
    expect(await ingest(basic('alice', 'x'), early)).toBe(503);
    expect(await ingest(root, early)).toBe(200);
    expect((await early.send('GET', keys)).status).toBe(503);
    await early.identityStore.refresh();
    expect(await ingest(apiKey(key), early)).toBe(200);
    await early.close();
  });

  it('with another secret refuse the keys, and say why they cannot show them', async () => {
    const { apiKey: key, keyId } = await makeKey('foreign', 'ingest-app');
    const stranger = await startIdentityNode(store.store, 'stranger', { secret: 'x'.repeat(32) });
    await stranger.identityStore.refresh();
    expect(await ingest(apiKey(key), stranger)).toBe(401);
    const reply = await stranger.send('GET', `${keys}/${keyId}`);
    expect((await problemOf(reply)).code).toBe('secret_changed');
    expect((await stranger.json<Key[]>('GET', keys)).map(({ keyName }) => keyName)).toContain('foreign');
    await stranger.close();
  });
});

describe('the audit log', () => {
  const lines = () => node.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);

  it('has a line for each change: who, what, from where', async () => {
    node.logLines.length = 0;
    const password = await makeUser('auditor', 'administrating');
    await node.send('DELETE', '/api/v1/role/reading', undefined, basic('auditor', password));
    await node.json('PUT', '/api/v1/role/audited', [], basic('auditor', password));
    expect(lines().filter(({ audit }) => audit !== undefined)).toMatchObject([
      { audit: 'user.create', target: 'auditor', by: { kind: 'root', name: 'admin' }, tenant: 'default' },
      {
        audit: 'role.put',
        target: 'audited',
        by: { kind: 'user', name: 'auditor' },
        from: expect.stringMatching(/127\.0\.0\.1|0001/),
      },
    ]);
  });

  it('has a line for what was refused, and a bound on these', async () => {
    const { apiKey: key } = await makeKey('curious', 'reading');
    auditClock.advance(60_000);
    node.logLines.length = 0;
    expect(await ingest(apiKey(key))).toBe(403);
    expect(lines()).toMatchObject([
      {
        audit: 'denied',
        code: 'forbidden',
        by: { kind: 'apiKey', name: 'curious' },
        route: '/api/v1/ingest',
      },
    ]);
    const flood = Array.from({ length: 2 * limits.maxDenialLinesPerSecond }, () => ingest(apiKey('guess')));
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401]));
    // Unknown clients have a bound of their own, and take no lines from known ones.
    expect(lines()).toHaveLength(1 + limits.maxAnonymousDenialLines);
    expect(await ingest(apiKey(key))).toBe(403);
    expect(lines().at(-1)).toMatchObject({ code: 'forbidden', by: { name: 'curious' } });
    expect(node.logLines.join('')).not.toContain('guess');
    auditClock.advance(1000);
    await ingest(apiKey('guess'));
    expect(lines().at(-1)?.['leftOut']).toBe(
      2 * limits.maxDenialLinesPerSecond - limits.maxAnonymousDenialLines,
    );
    const { length } = lines();
    for (let index = 0; index < 5; index += 1) await ingest(apiKey('guess'));
    expect(lines()).toHaveLength(length);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { type IdentityNode, root, startIdentityNode } from '../identity/identity-node.ts';
import { onNodeHttp, RawClient } from './http-harness.ts';

let store: TestStore;
let node: IdentityNode;
beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'node').prepare();
  node = await startIdentityNode(store.store, 'node');
  await node.identityStore.refresh();
});
afterAll(async () => {
  // Whatever was sent, the service still runs, and no user was created by accident.
  expect(await node.json('GET', '/api/v1/roles')).toEqual({});
  expect(await node.json('GET', '/api/v1/user')).toEqual([{ id: 'admin', method: 'native' }]);
  expect(await node.json('GET', '/api/console/v1/apikeys')).toEqual([]);
  await node?.close();
  await store?.close();
});

const authorization = root['authorization'] ?? '';

/**
 * What uWebSockets.js cannot parse it does not answer; it closes the connection ten seconds later.
 * `node:http` answers it with 400.
 */
const noReply = onNodeHttp ? 400 : 0;

/**
 * Sends bytes as they are (latin1), and waits for the reply; or, where none is to come, for a
 * moment in which one would.
 * @returns what came back
 */
async function exchange(
  request: string,
  expectsReply = true,
): Promise<{ readonly status: number; readonly text: string }> {
  const client = await RawClient.open(Number(new URL(node.url).port));
  client.socket.write(request, 'latin1');
  const isWhole = (): boolean => client.closed || client.received.split('\r\n\r\n').length > 1;
  const waitMs = expectsReply ? 60_000 : 500;
  for (const deadline = performance.now() + waitMs; !isWhole() && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  client.socket.destroy();
  return { status: client.statuses[0] ?? 0, text: client.received };
}

const get = (path: string, headers: readonly string[] = [], expectsReply = true) =>
  exchange(
    `GET ${path} HTTP/1.1\r\nhost: test\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n`,
    expectsReply,
  );

describe('credentials', () => {
  it.each([
    ['a key that is not UTF-8', ['x-api-key: \xff\xfe\xc0'], [401]],
    ['Basic with bytes in the place of base64', ['authorization: Basic \xff\xfe'], [401]],
    [
      'a name that is not UTF-8',
      [`authorization: Basic ${Buffer.from([0xff, 0x3a, 0x61]).toString('base64')}`],
      [401],
    ],
    [
      'a name with a NUL',
      [`authorization: Basic ${Buffer.from('admin\0:sesame').toString('base64')}`],
      [401],
    ],
    ['base64 of the URL alphabet', ['authorization: Basic YWRtaW46c2VzYW1l-_'], [401]],
    ['two in one header', [`authorization: ${authorization}, ${authorization}`], [401]],
    ['a key sent twice', ['x-api-key: a', 'x-api-key: a'], [400]],
    ['credentials sent twice', [`authorization: ${authorization}`, `Authorization: ${authorization}`], [400]],
    [
      'a tenant sent twice',
      [`authorization: ${authorization}`, 'x-p-tenant: default', 'x-p-tenant: default'],
      [400],
    ],
    ['a dataset sent twice', [`authorization: ${authorization}`, 'x-p-stream: a', 'x-p-stream: b'], [400]],
    ['a cookie sent twice', ['cookie: millrace-session=a', 'cookie: millrace-session=b'], [400]],
    ['a key and a password', ['x-api-key: a', `authorization: ${authorization}`], [400]],
    ['a key and a token', ['x-api-key: a', 'authorization: Bearer a.b.c'], [400]],
    ['a line of its own in the value', ['x-api-key: a\rx-p-tenant: b'], [noReply]],
    ['a folded line', [`authorization: Basic`, ` ${authorization.slice(6)}`], [noReply]],
    ['a NUL in the value', ['x-api-key: a\0b'], [noReply]],
    ['a space before the colon', [`authorization : ${authorization}`], [noReply]],
    ['more headers than there are', [...Array(300).keys()].map((index) => `x-${index}: y`), [noReply, 431]],
    ['headers larger than the bound', [`x-api-key: ${'k'.repeat(limits.maxHeaderBytes)}`], [431]],
    ['a key larger than the bound', [`x-api-key: ${'k'.repeat(limits.maxCredentialBytes + 1)}`], [431]],
  ] as const)('%s', async (_, headers, expected) => {
    const { status, text } = await get(
      '/api/v1/roles',
      headers,
      onNodeHttp || !expected.some((each) => each === noReply),
    );
    expect(expected).toContain(status);
    expect(text).not.toContain('sesame');
  });
});

describe('paths', () => {
  it.each([
    '/api/v1/../v1/roles',
    '/api/v1/%2e%2e/v1/roles',
    '/x/../api/v1/roles',
    '//api/v1/roles',
    '/api//v1/roles',
    '/api/v1/roles/',
    '/API/v1/roles',
    '/api/v1/roles%00',
    '/api/v1/roles;x=1',
    '/api/v1/role%2fx',
    '/api/v1/user/a/../../roles',
  ])('%s leads nowhere, not even for the administrator', async (path) => {
    expect((await get(path)).status).toBe(404);
    expect((await get(path, [`authorization: ${authorization}`])).status).toBe(404);
  });

  it.each([
    '..%2f..%2fadmin',
    '%2e%2e',
    '%00',
    'a%00b',
    '%0d%0aset-cookie:%20a=b',
    '%ff',
    '%c0%af',
    '%E2%80%AE',
    '%',
    '%u0041',
    'a%20b',
    "a'b",
    'a"b',
    'a`b',
    '%F0%9F%92%A9',
    '-rf',
    '.hidden',
    'x'.repeat(limits.identityNameMaxLength + 1),
  ])('no role and no user is named %s', async (name) => {
    for (const path of [`/api/v1/role/${name}`, `/api/v1/user/${name}`]) {
      const method = path.includes('/role/') ? 'PUT' : 'POST';
      const { status, text } = await exchange(
        `${method} ${path} HTTP/1.1\r\nhost: test\r\nauthorization: ${authorization}\r\n` +
          'content-type: application/json\r\ncontent-length: 2\r\n\r\n[]',
      );
      expect([path, status]).toEqual([path, 400]);
      expect(text.split('\r\n\r\n')[0]?.toLowerCase()).not.toContain('set-cookie');
    }
  });
});

describe('names', () => {
  const post = (path: string, body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}) =>
    fetch(node.url + path, {
      method: 'POST',
      headers: { ...root, 'content-type': 'application/json', 'x-p-stream': 'app', ...headers },
      body,
    });

  it.each([
    Buffer.from('{"keyName":"\xff","roles":[]}', 'latin1'),
    '{"keyName":"\\ud800","roles":[]}',
    '{"keyName":"a\\u0000b","roles":[]}',
    '{"keyName":"a\\u202eb","roles":[]}',
    '{"keyName":"a\\r\\nb","roles":[]}',
    '{"keyName":"","roles":[]}',
    `{"keyName":"${'x'.repeat(limits.identityNameMaxLength + 1)}","roles":[]}`,
    '{"keyName":["a"],"roles":[]}',
    '{"keyName":"a","roles":["..\\/x"]}',
    '{"keyName":"a","roles":["__proto__"]}',
    '{"keyName":"a","roles":[],"__proto__":{}}',
    '{"keyName":"a","roles":[]',
    '',
  ])('no key is made of %s', async (body) => {
    const copy = typeof body === 'string' ? body : new Uint8Array(body);
    expect((await post('/api/console/v1/apikeys', copy)).status).toBe(400);
  });

  it.each(['../x', 'a b', "a'b", 'a`b', '%61', 'a;DROP TABLE x', 'a/b', '-a', 'x'.repeat(129)])(
    'no dataset is named %s',
    async (name) => {
      const reply = await post('/api/v1/ingest', '[{}]', { 'x-p-stream': name });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ code: 'bad_dataset_name' });
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/limits/limits.ts';
import { Service } from '../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service?.dispose());

const root = `Basic ${Buffer.from(`${Service.credentials.username}:${Service.credentials.password}`).toString('base64')}`;
const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...('x-api-key' in headers ? {} : { authorization: root }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const makeKey = async (keyName: string, privileges: unknown): Promise<Record<string, string>> => {
  expect((await send('PUT', `/api/v1/role/${keyName}`, privileges)).status).toBe(200);
  const reply = await send('POST', '/api/console/v1/apikeys', { keyName, roles: [keyName] });
  return { 'x-api-key': ((await reply.json()) as { apiKey: string }).apiKey };
};
const rows =
  'SELECT audit, target, by_kind, by_name, address, method, route, code, left_out FROM millrace_audit';
/** Repeats the query until it returns this many rows. */
const found = async (where: string, count: number) => {
  for (const deadline = performance.now() + 20_000; ; ) {
    const answer = await service.query(`${rows} WHERE ${where} ORDER BY p_timestamp`);
    if (answer.length >= count) return answer;
    if (performance.now() > deadline) throw new Error(`${answer.length} rows of ${count} where ${where}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

describe('the relation millrace_audit', () => {
  it('has a row for each change and each refusal, which administrators can query', async () => {
    const reader = await makeKey('reading', [{ privilege: 'reader' }]);
    expect((await send('POST', '/api/v1/ingest', [{}], { ...reader, 'x-p-stream': 'app' })).status).toBe(403);
    expect((await send('GET', '/api/v1/roles', undefined, { 'x-api-key': 'guess' })).status).toBe(401);
    const address = expect.stringMatching(/0001$|127\.0\.0\.1/);
    expect(await found("audit = 'apikey.create'", 1)).toEqual([
      {
        audit: 'apikey.create',
        target: expect.stringMatching(/^\w{26} reading$/),
        by_kind: 'root',
        by_name: 'admin',
        address,
        method: '',
        route: '',
        code: '',
        left_out: 0,
      },
    ]);
    const denied = { audit: 'denied', target: '', address, left_out: 0 };
    const route = { method: 'POST', route: '/api/v1/ingest', code: 'forbidden' };
    expect(await found("code = 'forbidden'", 1)).toEqual([
      { ...denied, ...route, by_kind: 'apiKey', by_name: 'reading' },
    ]);
    expect(await found("code = 'unauthenticated'", 1)).toEqual([
      { ...denied, method: 'GET', route: '/api/v1/roles', code: 'unauthenticated', by_kind: '', by_name: '' },
    ]);
    const refusals = await service.query(
      "SELECT code, route, address, count(*) + sum(left_out) AS refusals FROM millrace_audit WHERE audit = 'denied' GROUP BY 1, 2, 3",
    );
    expect(refusals.map(({ code, refusals: count }) => [code, count]).sort()).toEqual([
      ['forbidden', 1],
      ['unauthenticated', 1],
    ]);
    const stored = JSON.stringify(await service.query('SELECT * FROM millrace_audit'));
    expect(stored).not.toContain(reader['x-api-key']);
    expect(stored).not.toContain('guess');
  }, 60_000);

  it('does not exist for those who do not administer the tenant, and nobody writes to it', async () => {
    const outsiders = {
      reader: [{ privilege: 'reader' }],
      writer: [{ privilege: 'writer' }],
      named: [
        { privilege: 'admin', resource: { dataset: 'millrace_audit' } },
        { privilege: 'reader', resource: { dataset: 'millrace_audit' } },
      ],
    };
    for (const [name, privileges] of Object.entries(outsiders)) {
      const key = await makeKey(`outside-${name}`, privileges);
      for (const query of ['SELECT * FROM millrace_audit', 'SELECT 1 FROM app a, millrace_audit b']) {
        const reply = await send('POST', '/api/v1/query', { query }, key);
        const { code, detail } = (await reply.json()) as { code: string; detail: string };
        if (query.includes('app') && name === 'named') expect(code).toMatch(/sql_unknown_relation|forbidden/);
        else expect([name, query, code]).toEqual([name, query, 'sql_unknown_relation']);
        if (!query.includes('app')) expect(detail).not.toContain('reader');
      }
      const write = await send('POST', '/api/v1/ingest', [{ audit: 'forged' }], {
        ...key,
        'x-p-stream': 'millrace_audit',
      });
      expect([name, write.status]).toEqual([name, 403]);
    }
    const forged = await send('POST', '/api/v1/ingest', [{ audit: 'forged' }], {
      'x-p-stream': 'millrace_audit',
    });
    expect(forged.status).toBe(403);
    const inside = await makeKey('inside', [{ privilege: 'admin' }]);
    const reply = await send(
      'POST',
      '/api/v1/query',
      { query: 'SELECT count(*) AS n FROM millrace_audit' },
      inside,
    );
    expect(reply.status).toBe(200);
    expect(await service.query("SELECT * FROM millrace_audit WHERE audit = 'forged'")).toEqual([]);
  }, 60_000);

  it('samples a flood and says how much it left out', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const guesses = 10 * limits.maxDenialLinesPerSecond;
    const where = "code = 'unauthenticated' AND route = '/api/v1/users'";
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: guesses }, (_, index) =>
        send('GET', '/api/v1/users', undefined, { 'x-api-key': `flood ${index}` }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await send('GET', '/api/v1/users', undefined, { 'x-api-key': 'last' });
    const seconds = (performance.now() - startMs) / 1000;
    // Each refusal has a row, or is counted in a later one.
    let all = await found(where, 1);
    const counted = () => all.reduce((sum, row) => sum + 1 + Number(row['left_out']), 0);
    while (counted() < guesses + 1 && performance.now() < startMs + 50_000)
      all = await found(where, all.length);
    expect(counted()).toBe(guesses + 1);
    expect(all.length).toBeLessThanOrEqual((seconds + 1) * limits.maxDenialLinesPerSecond);
  }, 60_000);
});

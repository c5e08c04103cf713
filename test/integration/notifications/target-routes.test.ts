import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/access/gate.ts';
import type { DocumentStore } from '../../../src/documents/document-store.ts';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import type { AlertSummary } from '../../../src/notifications/notification.ts';
import { emptyNotificationState } from '../../../src/notifications/notification-state.ts';
import { labelSetsOf, Silences } from '../../../src/notifications/silences.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';
import { type Receiver, startReceiver } from '../../support/notifications/receiver.ts';
import { sampleInstance } from '../../support/notifications/sample-notifications.ts';
import { basic, type Credential, type IdentityNode, startIdentityNode } from '../identity/identity-node.ts';

const names: Readonly<Record<string, string>> = { 'public.example': '8.8.8.8', 'inside.example': '10.0.0.1' };

let test: TestStore;
let node: IdentityNode;
let receiver: Receiver;
let documents: DocumentStore;

beforeAll(async () => {
  test = await openTestStore();
  const metadata = new MetadataLog(test.store, 'first');
  await metadata.prepare();
  receiver = await startReceiver();
  const networks = parseNetworks('127.0.0.1');
  if (networks === undefined) throw new Error('the network is not valid');
  node = await startIdentityNode(test.store, 'node', {
    notifications: {
      targetAllowedNetworks: { networks, texts: ['127.0.0.1'] },
      smtpDomains: new Set(['example.com']),
    },
    resolve: async (host) => {
      const address = names[host];
      if (address === undefined) throw new Error('ENOTFOUND');
      return [address];
    },
  });
  await node.identityStore.refresh();
  documents = node.documents;
  for (const privilege of ['admin', 'editor', 'writer', 'reader', 'ingestor']) {
    const entry =
      privilege === 'admin' || privilege === 'editor'
        ? { privilege }
        : { privilege, resource: { dataset: 'app' } };
    await node.json('PUT', `/api/v1/role/${privilege}s`, [entry]);
    const name = `${privilege}-user`;
    const password = await (await node.send('POST', `/api/v1/user/${name}`, [`${privilege}s`])).text();
    people[privilege] = basic(name, password.startsWith('"') ? (JSON.parse(password) as string) : password);
  }
});
afterAll(async () => {
  await node?.close();
  await receiver?.close();
  await test?.close();
});

const people: Record<string, Credential> = {};
const as = (who: string): Credential => people[who] ?? {};

interface Shown {
  readonly id: string;
  readonly [member: string]: unknown;
}

const create = (body: object) => node.json<Shown>('POST', '/api/v1/targets', body);
const webhook = (some: object = {}) => ({
  name: 'hook',
  type: 'webhook',
  endpoint: `${receiver.url}/in`,
  ...some,
});

async function refused(method: string, path: string, body?: unknown, credential?: Credential) {
  const reply = await node.send(method, path, body, credential);
  const { code } = (await reply.json()) as { code: string };
  return `${reply.status} ${code}`;
}

describe('targets', () => {
  it('are created, listed, changed and deleted without a secret in any reply', async () => {
    const secrets = {
      headers: { 'X-Token': 'hidden-header' },
      signingSecret: `whsec_${btoa('k'.repeat(32))}`,
    };
    const made = await create(webhook({ ...secrets, skipTlsCheck: true, extra: 1 }));
    expect(made).toEqual({
      id: made.id,
      name: 'hook',
      type: 'webhook',
      endpoint: 'http://********',
      headers: { 'X-Token': '********' },
      signingSecret: ['********'],
      skipTlsCheck: true,
      extra: 1,
    });
    const path = `/api/v1/targets/${made.id}`;
    expect(await node.json('GET', path)).toEqual({ ...made, target: made, enabled: true });
    const reply = await node.send('GET', path);
    expect(reply.headers.get('etag')).toBe('"1"');
    const list = await node.json<Shown[]>('GET', '/api/v1/targets');
    expect(list.find(({ id }) => id === made.id)).toEqual({ ...made, target: made, enabled: true });

    // Nothing of it is readable in the store either.
    const rows = JSON.stringify(await test.rows(`select value from millrace.metadata where kind = 'target'`));
    expect(rows).not.toMatch(/hidden-header|127\.0\.0\.1|whsec/);

    expect(await node.json('PUT', path, { name: 'hook', type: 'webhook' })).toEqual({
      ...made,
      extra: undefined,
    });
    await node.json('POST', `${path}/test`);
    expect(receiver.received.at(-1)?.headers['x-token']).toBe('hidden-header');
    expect(await refused('PUT', path, { name: 'other', type: 'webhook' })).toBe('400 bad_target');
    const stale = await fetch(node.url + path, {
      method: 'PUT',
      headers: { ...as('admin'), 'content-type': 'application/json', 'if-match': '"1"' },
      body: JSON.stringify({ name: 'hook', type: 'webhook' }),
    });
    expect(stale.status).toBe(412);
    // Parseable replaces by POST with an id as well.
    await create({ id: made.id, name: 'hook', type: 'webhook', skipTlsCheck: false });
    expect(await node.json('DELETE', path)).toMatchObject({ id: made.id, skipTlsCheck: false });
    expect(await refused('GET', path)).toBe('404 not_found');
    expect(await refused('DELETE', path)).toBe('404 not_found');
    const audited = node.auditRows.map(({ audit }) => audit).filter((each) => each.startsWith('target.'));
    expect(audited).toEqual([
      'target.create',
      'target.change',
      'target.test',
      'target.change',
      'target.delete',
    ]);
    expect(JSON.stringify(node.auditRows) + node.logLines.join()).not.toMatch(/hidden-header|whsec/);
  });

  it('cannot be deleted while an alert uses them', async () => {
    const { id } = await create(webhook());
    const root: Caller = {
      tenant: 'default',
      principal: { kind: 'root', name: 'admin', tenant: 'default', privileges: [] },
    };
    const alert = await documents.create(root, 'alert', { title: 'a', targets: [id] });
    expect(await refused('DELETE', `/api/v1/targets/${id}`)).toBe('409 target_in_use');
    await documents.delete(root, 'alert', alert.id);
    expect((await node.send('DELETE', `/api/v1/targets/${id}`)).status).toBe(200);
  });

  it('cannot lead into the network of the operator', async () => {
    const code = (body: object) => refused('POST', '/api/v1/targets', body);
    for (const endpoint of [
      'http://10.0.0.1',
      'http://0x7f000002/',
      'http://[::1]:9093',
      'http://inside.example',
    ])
      expect(await code(webhook({ endpoint }))).toBe('400 target_refused');
    expect(await code({ name: 's', type: 'slack', endpoint: 'https://public.example/x' })).toBe(
      '400 target_refused',
    );
    const pagerduty = {
      name: 'p',
      type: 'pagerduty',
      routingKey: 'r'.repeat(32),
      endpoint: 'https://8.8.8.8/',
    };
    expect(await code(pagerduty)).toBe('400 target_refused');
    expect(await code({ name: 'e', type: 'email', recipients: ['a@example.com'] })).toBe(
      '400 target_refused',
    );
    // As quest has it: it need not be reachable, or known to the name server.
    const made = await create(webhook({ endpoint: 'https://unknown.example/x', skipTlsCheck: true }));
    expect((await node.send('DELETE', `/api/v1/targets/${made.id}`)).status).toBe(200);
  });

  it('are tested, and the reply says what went wrong and nothing of what was answered', async () => {
    const { id } = await create(webhook());
    const run = () => node.json<object>('POST', `/api/v1/targets/${id}/test`);
    expect(await run()).toEqual({ delivered: true });
    receiver.answer = (reply) => void reply.writeHead(500).end('hidden body');
    expect(await run()).toEqual({
      delivered: false,
      isRetryable: true,
      error: { code: 'target_status', message: 'the target answered with status 500', status: 500 },
    });
    receiver.answer = (reply) => void reply.end('ok');
    expect(await refused('POST', '/api/v1/targets/01HUNKNOWN/test')).toBe('404 not_found');
    expect(await node.json('GET', `/api/v1/targets/${id}/deliveries`)).toEqual([]);
    expect(await refused('GET', '/api/v1/targets/01HUNKNOWN/deliveries')).toBe('404 not_found');
    expect(await refused('POST', '/api/v1/deliveries/01HUNKNOWN/retry')).toBe('404 not_found');
  });

  it('are read by writers, and managed by editors and administrators', async () => {
    const { id } = await create(webhook());
    const routes = [
      ['GET', '/api/v1/targets', 'read'],
      ['GET', `/api/v1/targets/${id}`, 'read'],
      ['GET', `/api/v1/targets/${id}/deliveries`, 'manage'],
      ['GET', '/api/v1/alert-target-policy', 'manage'],
      ['PUT', '/api/v1/alert-target-policy', 'manage'],
      ['PUT', `/api/v1/targets/${id}`, 'manage'],
      ['POST', `/api/v1/targets/${id}/test`, 'manage'],
      ['POST', '/api/v1/targets', 'manage'],
      ['POST', '/api/v1/deliveries/01HUNKNOWN/retry', 'manage'],
      ['DELETE', '/api/v1/targets/01HUNKNOWN', 'manage'],
    ] as const;
    const may: Readonly<Record<string, readonly string[]>> = {
      admin: ['read', 'manage'],
      editor: ['read', 'manage'],
      writer: ['read'],
      reader: [],
      ingestor: [],
    };
    for (const [who, actions] of Object.entries(may))
      for (const [method, path, action] of routes) {
        const body =
          ['PUT', 'POST'].includes(method) && path.startsWith('/api/v1/targets') && !path.endsWith('test');
        const reply = await node.send(method, path, body ? webhook() : undefined, as(who));
        await reply.arrayBuffer();
        const isRefused = !actions.includes(action);
        expect(`${who} ${method} ${path} ${reply.status === 403}`).toBe(
          `${who} ${method} ${path} ${isRefused}`,
        );
        expect(reply.status).not.toBe(401);
      }
  });

  it('are where the operator allows', async () => {
    expect(await node.json('GET', '/api/v1/alert-target-policy')).toEqual({
      allowPrivate: false,
      allowedDomains: ['example.com'],
      allowedCidrs: ['127.0.0.1'],
      deniedDomains: [],
      deniedCidrs: [],
      allowInvalidTls: true,
    });
    expect(await refused('PUT', '/api/v1/alert-target-policy')).toBe('409 target_policy_unchangeable');
  });
});

describe('silences', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const silence = (some: object = {}) => ({
    matchers: [{ name: 'host', value: 'db-.*', isRegex: true, isEqual: true }],
    endsAt: inAnHour(),
    comment: 'maintenance',
    createdBy: 'somebody else',
    ...some,
  });
  const make = async (some: object = {}, who = 'writer') =>
    (await node.json<{ silenceID: string }>('POST', '/api/v1/silences', silence(some), as(who))).silenceID;

  it('have the form of Alertmanager', async () => {
    const id = await make();
    const shown = await node.json<Shown>('GET', `/api/v1/silences/${id}`, undefined, as('reader'));
    expect(shown).toMatchObject({
      id,
      status: { state: 'active' },
      matchers: [{ name: 'host', value: 'db-.*', isRegex: true, isEqual: true }],
      createdBy: 'writer-user',
      comment: 'maintenance',
    });
    expect(await node.json<Shown[]>('GET', '/api/v1/silences')).toContainEqual(shown);
    const later = new Date(Date.now() + 1_800_000).toISOString();
    expect(await make({ id, startsAt: later })).toBe(id);
    expect(await node.json('GET', `/api/v1/silences/${id}`)).toMatchObject({ status: { state: 'pending' } });
    expect((await node.send('DELETE', `/api/v1/silences/${id}`, undefined, as('writer'))).status).toBe(200);
    expect(await refused('GET', `/api/v1/silences/${id}`)).toBe('404 not_found');
  });

  it('are refused where they have no end, have ended, or mean everything', async () => {
    const code = (some: object) => refused('POST', '/api/v1/silences', silence(some));
    for (const some of [
      { endsAt: undefined },
      { endsAt: new Date(Date.now() - 1000).toISOString() },
      { startsAt: inAnHour(), endsAt: new Date(Date.now() + 1000).toISOString() },
      { endsAt: 'tomorrow' },
      { matchers: [] },
      { matchers: [{ name: 'host', value: '(', isRegex: true }] },
      { matchers: [{ name: 'host', value: '.*', isRegex: true }] },
      { matchers: [{ name: '', value: 'a', isRegex: false }] },
      { matchers: Array(21).fill({ name: 'a', value: 'b', isRegex: false }) },
    ])
      expect(await code(some)).toBe('400 bad_silence');
    expect(await code({ id: '01HUNKNOWN' })).toBe('404 not_found');
  });

  it('are made by writers, and changed by their owners, editors and administrators', async () => {
    expect(await refused('POST', '/api/v1/silences', silence(), as('reader'))).toBe('403 forbidden');
    expect(await refused('GET', '/api/v1/silences', undefined, as('ingestor'))).toBe('403 forbidden');
    const id = await make({}, 'editor');
    expect(await refused('DELETE', `/api/v1/silences/${id}`, undefined, as('writer'))).toBe('403 forbidden');
    expect(await refused('POST', '/api/v1/silences', silence({ id }), as('writer'))).toBe('403 forbidden');
    const own = await make();
    expect((await node.send('DELETE', `/api/v1/silences/${own}`, undefined, as('admin'))).status).toBe(200);
    expect((await node.send('DELETE', `/api/v1/silences/${id}`, undefined, as('editor'))).status).toBe(200);
  });
});

describe('what is silenced', () => {
  const nowMs = Date.UTC(2026, 0, 31, 12);
  const alert: AlertSummary = {
    id: 'A',
    title: 'Load',
    severity: 'high',
    datasets: ['app'],
    intervalMs: 60_000,
  };
  const by = (name: string): Caller => ({
    tenant: 'silent',
    principal: { kind: 'user', name, tenant: 'silent', privileges: [] },
  });

  it('is what matches now, of alerts that the owner of the silence may change', async () => {
    const clock = Object.assign(new ManualClock(), { turn: async () => {} });
    clock.jump(nowMs - clock.nowMicros() / 1000);
    const silences = new Silences(documents, clock);
    const matcher = (name: string, value: string, isRegex = false) => ({
      name,
      value,
      isRegex,
      isEqual: true,
    });
    const put = (caller: Caller, minutes: number, ...matchers: ReturnType<typeof matcher>[]) =>
      silences.put(caller, { matchers, endsAt: new Date(nowMs + minutes * 60_000).toISOString() });
    await put(by('writer'), 10, matcher('host', 'db-.*', true));
    await put(by('writer'), 10, matcher('alertname', 'Other'), matcher('host', 'web', true));
    await put(by('stranger'), 20, matcher('host', 'web'));
    const hosts = ['db-1', 'db-2', 'web', 'x'];
    const notifiables = hosts.map((host) => sampleInstance(host, { labels: { host } }));
    const sets = labelSetsOf(alert, notifiables, emptyNotificationState);
    const silenced = async () => {
      const isSilenced = await silences.silencer('silent', alert, sets, ({ name }) => name === 'writer');
      return sets.filter(isSilenced).map(({ host }) => host);
    };
    expect(await silenced()).toEqual(['db-1', 'db-2']);
    expect(silences.nextChangeMs('silent')).toBe(nowMs + 600_000);
    clock.advance(600_000);
    expect(await silenced()).toEqual([]);
    expect(silences.nextChangeMs('silent')).toBe(nowMs + 1_200_000);

    // Those that ended long ago go when another one is made.
    expect(silences.list('silent')).toHaveLength(3);
    clock.advance(6 * 24 * 3_600_000);
    await put(by('writer'), 100_000, matcher('host', 'a'));
    expect(silences.list('silent')).toHaveLength(1);
  });
});

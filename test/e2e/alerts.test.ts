import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebhookReceiver } from '../support/http/webhook-receiver.ts';
import { authorization, Service } from '../support/service/service.ts';

let service: Service;
let receiver: WebhookReceiver;
let target: string;
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const env = { MILLRACE_TARGET_ALLOWED_NETWORKS: '127.0.0.0/8' };
  service = await Service.start({ env });
  await service.ingest('app', [{ level: 'info', host: 'a', n: 1 }]);
  await service.drained();
  const made = await ok<{ id: string }>('POST', '/targets', {
    name: 'hook',
    type: 'webhook',
    endpoint: receiver.url,
  });
  target = made.id;
}, 120_000);
afterAll(async () => {
  await service?.dispose();
  await receiver?.stop();
});

/** A test that fails leaves nothing to the next one. */
afterEach(async () => {
  for (const { id } of await ok<{ id: string }[]>('GET', '/alerts')) await ok('DELETE', `/alerts/${id}`);
});

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: {
      authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function ok<T>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<T> {
  const reply = await send(method, path, body, headers);
  const text = await reply.text();
  expect([reply.status, text]).toEqual([200, text]);
  return (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as T;
}

const problemOf = async (reply: Promise<Response>): Promise<[number, string, string]> => {
  const answer = await reply;
  const { code, detail } = (await answer.json()) as { code: string; detail: string };
  return [answer.status, code, detail];
};

interface Alert {
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly datasets: readonly string[];
}

interface Instances {
  readonly state: string;
  readonly problem?: { readonly code: string; readonly message: string };
  readonly lastEvaluation?: { readonly at: string };
  readonly instances: ReadonlyArray<{
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly state: string;
    readonly value?: number;
  }>;
}

/** An alert that is evaluated as often as an alert can be, over what has arrived in the last seconds. */
const often = (members: object) => ({
  severity: 'high',
  query: 'SELECT count(*) FROM app',
  queryType: 'code',
  evalConfig: { rollingWindow: { evalStart: '1h' } },
  frequencySeconds: 5,
  delaySeconds: 0,
  ...members,
});

const instancesOf = (id: string) => ok<Instances>('GET', `/alerts/${id}/instances`);
const stateIs = (id: string, state: string) =>
  expect.poll(async () => (await instancesOf(id)).state, { timeout: 60_000 }).toBe(state);

describe('an alert over real rows', () => {
  it('fires for each group, is sent, and resolves', async () => {
    await service.ingest('disks', [
      { host: 'a', free: 3 },
      { host: 'b', free: 90 },
      { host: 'c', free: 4 },
    ]);
    await service.drained();
    const { id } = await ok<Alert>(
      'POST',
      '/alerts',
      often({
        title: 'Disk full',
        query: 'SELECT host, min(free) AS free FROM disks GROUP BY host ORDER BY host',
        thresholdConfig: { operator: '<', value: 10 },
        evalConfig: { rollingWindow: { evalStart: '10s' } },
        annotations: { summary: '{{ host }} has {{ free }} % left' },
        targets: [target],
      }),
    );
    await stateIs(id, 'firing');
    const { instances, lastEvaluation } = await instancesOf(id);
    expect(instances.map(({ labels, state, value }) => [labels, state, value])).toEqual([
      [{ host: 'a' }, 'firing', 3],
      [{ host: 'c' }, 'firing', 4],
    ]);
    expect(lastEvaluation?.at).toBeTypeOf('string');
    expect((await ok<Alert>('GET', `/alerts/${id}`)).state).toBe('triggered');
    await expect.poll(() => receiver.about('Disk full').length).toBeGreaterThan(0);
    const [first] = receiver.about('Disk full');
    expect(first?.body.status).toBe('firing');
    expect(
      first?.body.alerts.map(({ labels, annotations }) => [labels['host'], annotations['summary']]),
    ).toEqual([
      ['a', 'a has 3 % left'],
      ['c', 'c has 4 % left'],
    ]);
    expect(first?.body.alerts[0]?.labels).toMatchObject({ severity: 'high', alert_id: id });
    // The rows leave the window.
    await expect
      .poll(() => receiver.about('Disk full').at(-1)?.body.status, { timeout: 60_000 })
      .toBe('resolved');
    expect(new Set(receiver.about('Disk full').map((each) => each.id)).size).toBe(
      receiver.about('Disk full').length,
    );
    const history = await ok<{ to: string; labels?: object }[]>('GET', `/alerts/${id}/history`);
    const ofA = history.filter(({ labels }) => JSON.stringify(labels) === '{"host":"a"}');
    expect(ofA.map(({ to }) => to)).toEqual(['inactive', 'firing']);
    await ok('DELETE', `/alerts/${id}`);
  }, 180_000);

  it('whose every row is an instance has its texts as labels', async () => {
    const { id } = await ok<Alert>(
      'POST',
      '/alerts',
      often({ title: 'Rows', query: "SELECT level, n AS value FROM app WHERE level = 'info'" }),
    );
    await stateIs(id, 'firing');
    expect((await instancesOf(id)).instances).toMatchObject([{ labels: { level: 'info' }, value: 1 }]);
    await ok('DELETE', `/alerts/${id}`);
  }, 120_000);

  it('has an average of nothing as no data, and not as 0', async () => {
    const { id } = await ok<Alert>(
      'POST',
      '/alerts',
      often({
        title: 'Nothing',
        query: "SELECT avg(n) FROM app WHERE level = 'never'",
        thresholdConfig: { operator: '<', value: 5 },
      }),
    );
    await stateIs(id, 'noData');
    expect((await instancesOf(id)).instances).toEqual([]);
    await ok('DELETE', `/alerts/${id}`);
  }, 120_000);

  it('survives a kill: what fired still fires, and is not told twice as something new', async () => {
    const { id } = await ok<Alert>('POST', '/alerts', often({ title: 'Killed', targets: [target] }));
    await expect.poll(() => receiver.about('Killed').length, { timeout: 60_000 }).toBeGreaterThan(0);
    await service.kill();
    await service.restart();
    await expect
      .poll(async () => (await instancesOf(id)).lastEvaluation === undefined, { timeout: 60_000 })
      .toBe(false);
    expect((await instancesOf(id)).instances).toMatchObject([{ state: 'firing' }]);
    const history = await ok<{ to: string; fingerprint?: string }[]>('GET', `/alerts/${id}/history`);
    expect(history.filter(({ fingerprint }) => fingerprint !== undefined).map(({ to }) => to)).toEqual([
      'firing',
    ]);
    expect(new Set(receiver.about('Killed').map((each) => each.id)).size).toBe(1);
    // A deleted alert tells its end.
    await ok('DELETE', `/alerts/${id}`);
    await expect
      .poll(() => receiver.about('Killed').at(-1)?.body.status, { timeout: 120_000 })
      .toBe('resolved');
  }, 240_000);
});

describe('an alert runs as who wrote it', () => {
  it('until they lose the privilege, or do not exist any more', async () => {
    await ok('PUT', '/role/writes-app', [{ privilege: 'writer', resource: { dataset: 'app' } }]);
    const password = await ok<string>('POST', '/user/wanda', ['writes-app']);
    const wanda = { authorization: basic('wanda', password) };
    const { id } = await ok<Alert>('POST', '/alerts', often({ title: 'Of Wanda' }), wanda);
    await stateIs(id, 'firing');
    await ok('PUT', '/role/writes-app', [{ privilege: 'reader', resource: { dataset: 'app' } }]);
    await stateIs(id, 'error');
    expect((await instancesOf(id)).problem).toMatchObject({
      code: 'forbidden',
      message: 'the alert runs as the user "wanda", who may not write alerts on dataset "app" any more',
    });
    // What fires stays so: nothing is known of it.
    expect((await instancesOf(id)).instances).toMatchObject([{ state: 'firing' }]);
    await ok('PUT', '/role/writes-app', [{ privilege: 'writer', resource: { dataset: 'app' } }]);
    await stateIs(id, 'firing');
    await ok('DELETE', '/user/wanda');
    await stateIs(id, 'error');
    expect((await instancesOf(id)).problem?.message).toContain('"wanda", who does not exist any more');
    // Whoever writes it anew is the one as whom it runs.
    const changed = await ok<Alert & { runsAs: object }>(
      'PUT',
      `/alerts/${id}`,
      often({ title: 'Of Wanda' }),
    );
    expect(changed.runsAs).toEqual({ kind: 'root', name: 'admin' });
    await stateIs(id, 'firing');
    await ok('DELETE', `/alerts/${id}`);
  }, 180_000);

  it('and is for those alone who may read all rows of its datasets', async () => {
    const make = async (name: string, entry: object) => {
      await ok('PUT', `/role/${name}`, [entry]);
      return { authorization: basic(name, await ok<string>('POST', `/user/${name}`, [name])) };
    };
    const app = { dataset: 'app' };
    const reader = await make('reads', { privilege: 'reader', resource: app });
    const narrowed = await make('narrow', {
      privilege: 'reader',
      resource: { ...app, tag: 'host=a' },
    });
    const other = await make('other', { privilege: 'writer', resource: { dataset: 'elsewhere' } });
    const { id } = await ok<Alert>('POST', '/alerts', often({ title: 'Guarded' }));
    const listedTo = async (who: Record<string, string>) =>
      (await ok<{ id: string }[]>('GET', '/alerts', undefined, who)).some((each) => each.id === id);
    expect(await Promise.all([reader, narrowed, other].map(listedTo))).toEqual([true, false, false]);
    const statusFor = async (method: string, path: string, who: Record<string, string>, body?: unknown) =>
      (await send(method, path, body, who)).status;
    for (const path of ['', '/instances', '/history']) {
      const replies = [reader, narrowed, other].map((who) => statusFor('GET', `/alerts/${id}${path}`, who));
      expect(await Promise.all(replies)).toEqual([200, 403, 403]);
    }
    const changes: ReadonlyArray<readonly [string, string, unknown]> = [
      ['PUT', `/alerts/${id}`, often({ title: 'Taken' })],
      ['DELETE', `/alerts/${id}`, undefined],
      ['PATCH', `/alerts/${id}/disable`, undefined],
      ['PUT', `/alerts/${id}/evaluate_alert`, undefined],
      ['PATCH', `/alerts/${id}/update_notification_state`, { state: '2h' }],
    ];
    for (const [method, path, body] of changes) {
      const replies = [reader, narrowed, other].map((who) => statusFor(method, path, who, body));
      expect(await Promise.all(replies)).toEqual([403, 403, 403]);
    }
    // As to a query of theirs.
    expect(await statusFor('POST', '/alerts', other, often({ title: 'No' }))).toBe(403);
    expect(await statusFor('POST', '/alerts', reader, often({ title: 'No' }))).toBe(403);
    await ok('DELETE', `/alerts/${id}`);
  }, 120_000);
});

describe('the routes of alerts', () => {
  /** The request of Parseable's test suite, and the reply that it compares (quest, `getAlertBody`). */
  it('answer Parseable’s test suite with exactly its members', async () => {
    const made = await ok<Alert>('POST', '/alerts', {
      severity: 'medium',
      title: 'AlertTitle',
      query: "select count(level) from app where level = 'info'",
      alertType: 'threshold',
      thresholdConfig: { operator: '=', value: 100 },
      anomalyConfig: { historicDuration: '1d' },
      forecastConfig: { historicDuration: '1d', forecastDuration: '3h' },
      evalConfig: { rollingWindow: { evalStart: '5m', evalEnd: 'now', evalFrequency: 1 } },
      notificationConfig: { interval: 1 },
      targets: [target],
      tags: ['quest-test'],
    });
    const listed = await ok<{ created: string; state: string }[]>('GET', '/alerts');
    expect(listed).toEqual([
      {
        title: 'AlertTitle',
        created: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/),
        alertType: 'threshold',
        id: made.id,
        severity: 'Medium',
        state: 'not-triggered',
        tags: ['quest-test'],
        datasets: ['app'],
        notificationState: 'notify',
      },
    ]);
    expect(await ok('GET', `/alerts/${made.id}`)).toMatchObject({
      version: 'v2',
      severity: 'medium',
      queryType: 'builder',
      datasets: ['app'],
      state: 'not-triggered',
      notificationState: 'notify',
      lastTriggeredAt: null,
      anomalyConfig: { historicDuration: '1d' },
    });
    expect(await ok('GET', '/alerts/list_tags')).toEqual(['quest-test']);
    expect(await ok('DELETE', `/alerts/${made.id}`)).toBe(`Deleted alert with ID- ${made.id}`);
    expect(await ok('GET', '/alerts')).toEqual([]);
  });

  it('list in order, by tags, members and parts', async () => {
    const quiet = { thresholdConfig: { operator: '<', value: 0 } };
    const make = (title: string, severity: string, members: object = {}) =>
      ok<Alert>('POST', '/alerts', often({ ...quiet, title, severity, ...members }));
    const made = [
      await make('b', 'low', { tags: ['x', 'y'] }),
      await make('a', 'critical', { team: 'search' }),
      await make('c', 'critical', { tags: ['z'] }),
      await make('d', 'critical'),
    ];
    await ok('PATCH', `/alerts/${made[3]?.id}/disable`);
    const titles = async (query: string) =>
      (await ok<{ title: string }[]>('GET', `/alerts${query}`)).map(({ title }) => title);
    expect(await titles('')).toEqual(['a', 'c', 'b', 'd']);
    expect(await titles('?tags=y,z')).toEqual(['c', 'b']);
    expect(await titles('?team=search')).toEqual(['a']);
    expect(await titles('?state=disabled')).toEqual(['d']);
    expect(await titles('?severity=Critical&limit=1&offset=1')).toEqual(['c']);
    for (const bad of ['limit=0', 'limit=1001', 'limit=x', 'tags=', 'offset=-1']) {
      expect((await send('GET', `/alerts?${bad}`)).status).toBe(400);
    }
    for (const { id } of made) await ok('DELETE', `/alerts/${id}`);
  });

  it('disable, enable, mute, and change with If-Match', async () => {
    const { id } = await ok<Alert>('POST', '/alerts', often({ title: 'Changing' }));
    await stateIs(id, 'firing');
    expect(await ok('PATCH', `/alerts/${id}/disable`)).toMatchObject({ state: 'disabled' });
    expect(await problemOf(send('PATCH', `/alerts/${id}/disable`))).toEqual([
      400,
      'bad_alert',
      'the alert is disabled already',
    ]);
    expect((await send('PUT', `/alerts/${id}/evaluate_alert`)).status).toBe(400);
    await expect
      .poll(async () => (await instancesOf(id)).instances.map(({ state }) => state), { timeout: 60_000 })
      .toEqual(['inactive']);
    await ok('PATCH', `/alerts/${id}/enable`);
    expect((await send('PATCH', `/alerts/${id}/enable`)).status).toBe(400);
    await stateIs(id, 'firing');
    for (const [state, shown] of [
      ['indefinite', { mute: 'indefinite' }],
      ['2999-01-01T00:00:00Z', { mute: '2999-01-01T00:00:00.000Z' }],
      ['2h', { mute: expect.stringMatching(/Z$/) }],
      ['notify', 'notify'],
    ] as const) {
      const changed = await ok('PATCH', `/alerts/${id}/update_notification_state`, { state });
      expect(changed).toMatchObject({ notificationState: shown });
    }
    for (const state of ['2001-01-01T00:00:00Z', 'soon', '-2h']) {
      expect((await send('PATCH', `/alerts/${id}/update_notification_state`, { state })).status).toBe(400);
    }
    const reply = await send('GET', `/alerts/${id}`);
    const etag = reply.headers.get('etag') ?? '';
    const first = await send('PUT', `/alerts/${id}`, often({ title: 'First' }), { 'if-match': etag });
    expect(first.status).toBe(200);
    const second = await send('PUT', `/alerts/${id}`, often({ title: 'Second' }), { 'if-match': etag });
    expect([second.status, (await ok<{ title: string }>('GET', `/alerts/${id}`)).title]).toEqual([
      412,
      'First',
    ]);
    await ok('DELETE', `/alerts/${id}`);
  }, 180_000);

  it('refuse with the reason', async () => {
    const threshold = { thresholdConfig: { operator: '>', value: 1 } };
    const bad: ReadonlyArray<readonly [object, string, string]> = [
      [{ query: 'SELECT 1 AS value' }, 'bad_alert', 'Alert should include only one dataset. Found: []'],
      [
        { ...threshold, query: 'SELECT count(*), max(n) FROM app' },
        'bad_alert',
        'Invalid alert query: Found 2 aggregate expressions, only 1 allowed; or name the number "value"',
      ],
      [
        { targets: ['01JB0000000000000000000000'] },
        'bad_alert',
        'Invalid Target ID- 01JB0000000000000000000000',
      ],
      [
        { query: 'SELECT count(*) FROM app WHERE n = $1' },
        'bad_alert',
        'the query of an alert cannot have parameters',
      ],
      [{ query: 'SELECT nothing FROM app' }, 'sql_unknown_column', 'nothing'],
      [{ query: 'SELECT 1 FROM missing' }, 'sql_unknown_relation', 'missing'],
    ];
    for (const [members, code, reason] of bad) {
      for (const path of ['/alerts', '/alerts/test']) {
        const [status, found, detail] = await problemOf(
          send('POST', path, often({ title: 'Bad', ...members })),
        );
        expect([status, found]).toEqual([400, code]);
        expect(detail).toContain(reason);
      }
    }
    for (const [method, path] of [
      ['GET', '/alerts/unknown'],
      ['GET', '/alerts/unknown/instances'],
      ['GET', '/alerts/unknown/history'],
      ['DELETE', '/alerts/unknown'],
      ['PATCH', '/alerts/unknown/enable'],
      ['PUT', '/alerts/unknown/evaluate_alert'],
    ] as const) {
      expect((await send(method, path)).status).toBe(404);
    }
  });

  it('try an alert without keeping it', async () => {
    const body = often({ title: 'Tried', thresholdConfig: { operator: '>', value: 0 }, targets: [target] });
    interface Tried {
      readonly state: string;
      readonly rows: readonly object[];
      readonly over?: {
        readonly evaluations: number;
        readonly firings: readonly object[];
        readonly isComplete: boolean;
      };
    }
    const once = await ok<Tried>('POST', '/alerts/test', body);
    expect(once.state).toBe('firing');
    expect(once.rows).toMatchObject([{ labels: {}, holds: true }]);
    const past = await ok<Tried>('POST', '/alerts/test?over=2m', {
      ...body,
      evalConfig: { rollingWindow: { evalStart: '1d' } },
    });
    expect(past.over).toMatchObject({ isComplete: true, failures: 0 });
    expect(past.over?.evaluations).toBe(25);
    expect(past.over?.firings).toHaveLength(1);
    expect((await send('POST', '/alerts/test?over=forever', body)).status).toBe(400);
    expect(await ok('GET', '/alerts')).toEqual([]);
    expect(receiver.about('Tried')).toEqual([]);
  }, 120_000);

  it('are audited, and evaluations are counted', async () => {
    const { id } = await ok<Alert>('POST', '/alerts', often({ title: 'Audited' }));
    await stateIs(id, 'firing');
    await ok('DELETE', `/alerts/${id}`);
    expect(await service.metric('millrace_alert_evaluations_total')).toBeGreaterThan(0);
    expect(await service.metric('millrace_alert_evaluation_lag_seconds_count')).toBeGreaterThan(0);
    const audited = async () =>
      (
        await service.query(
          `SELECT audit FROM millrace_audit WHERE target = '${id} Audited' ORDER BY p_timestamp`,
        )
      ).map(({ audit }) => audit);
    await expect.poll(audited).toEqual(['alert.create', 'alert.delete']);
  }, 120_000);
});

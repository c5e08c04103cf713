import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EmailSender } from '../../../src/notifications/senders/email-sender.ts';
import { slackMessage } from '../../../src/notifications/senders/slack-sender.ts';
import { type Receiver, startReceiver } from '../../support/notifications/receiver.ts';
import {
  sampleInstance,
  sampleNotification,
  senderTo,
} from '../../support/notifications/sample-notifications.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const lastBody = () => JSON.parse(receiver.received.at(-1)?.body ?? '');
const answers = (status: number, body = '', headers: Record<string, string> = {}) => {
  receiver.answer = (reply) => void reply.writeHead(status, headers).end(body);
};

describe('a webhook', () => {
  const hook = (some: object = {}) =>
    senderTo({ name: 'hook', type: 'webhook', endpoint: `${receiver.url}/in`, ...some });

  it('gets the JSON of Alertmanager', async () => {
    const resolved = sampleInstance('b', { status: 'resolved', endsAtMs: Date.UTC(2026, 0, 31, 13) });
    const outcome = await hook({ headers: { 'X-Token': 'abc' } })(
      sampleNotification('firing', [sampleInstance('a'), resolved]),
    );
    expect(outcome).toEqual({ kind: 'delivered' });
    expect(receiver.received[0]).toMatchObject({
      path: '/in',
      headers: { 'x-token': 'abc', 'webhook-id': '01JDELIVERY' },
    });
    const common = {
      alertname: 'High <load> & more',
      severity: 'high',
      alert_id: '01JALERT',
      'k8s.pod': 'p',
    };
    expect(lastBody()).toEqual({
      version: '4',
      groupKey: '01JALERT/01JTARGET',
      truncatedAlerts: 0,
      status: 'firing',
      receiver: 'hook',
      groupLabels: { alertname: 'High <load> & more', alert_id: '01JALERT' },
      commonLabels: common,
      commonAnnotations: {},
      externalURL: 'https://logs.example.com',
      alerts: [
        {
          status: 'firing',
          labels: { ...common, host: 'a' },
          annotations: { summary: 'a is loaded' },
          startsAt: '2026-01-31T12:00:00.000Z',
          endsAt: '0001-01-01T00:00:00Z',
          generatorURL: 'https://logs.example.com/api/v1/alerts/01JALERT',
          fingerprint: 'fp-a',
          value: 7.5,
        },
        {
          status: 'resolved',
          labels: { ...common, host: 'b' },
          annotations: { summary: 'b is loaded' },
          startsAt: '2026-01-31T12:00:00.000Z',
          endsAt: '2026-01-31T13:00:00.000Z',
          generatorURL: 'https://logs.example.com/api/v1/alerts/01JALERT',
          fingerprint: 'fp-b',
          value: 7.5,
        },
      ],
    });
  });

  it('is signed with each secret, under an id that stays and the time of the try', async () => {
    const keys = [Buffer.alloc(24, 1), Buffer.alloc(64, 2)];
    const signingSecret = keys.map((key) => `whsec_${key.toString('base64')}`);
    const send = hook({ signingSecret });
    const nowMs = Date.UTC(2026, 0, 31, 12, 0, 0, 999);
    await send(sampleNotification('firing'), { nowMs });
    await send(sampleNotification('firing'), { nowMs: nowMs + 5000 });
    for (const [index, { headers, body }] of receiver.received.entries()) {
      const timestamp = String(Math.floor(nowMs / 1000) + 5 * index);
      const signed = `01JDELIVERY.${timestamp}.${body}`;
      const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
      expect(headers).toMatchObject({
        'webhook-id': '01JDELIVERY',
        'webhook-timestamp': timestamp,
        'webhook-signature': keys.map(sign).join(' '),
      });
    }
  });

  it('that fails, asks to wait, or refuses for good gets what it deserves', async () => {
    answers(503);
    expect(await hook()(sampleNotification('firing'))).toMatchObject({
      kind: 'retry',
      error: { status: 503 },
    });
    answers(429, '', { 'retry-after': '90' });
    expect(await hook()(sampleNotification('firing'))).toMatchObject({ kind: 'retry', afterMs: 90_000 });
    answers(404, 'internal secret');
    const refused = await hook()(sampleNotification('firing'));
    expect(refused).toMatchObject({ kind: 'failed', error: { code: 'target_status', status: 404 } });
    expect(JSON.stringify(refused)).not.toContain('internal secret');
  });

  it('that stalls or closes is tried again', async () => {
    const timeouts = { connectMs: 10_000, totalMs: 200 };
    const request = { name: 'hook', type: 'webhook' as const, endpoint: receiver.url };
    receiver.answer = () => {};
    const late = await senderTo(request, { timeouts })(sampleNotification('firing'));
    expect(late).toMatchObject({ kind: 'retry', error: { code: 'target_unreachable' } });
    receiver.answer = (reply) => void reply.destroy();
    expect(await hook()(sampleNotification('firing'))).toMatchObject({ kind: 'retry' });
  });
});

describe('Slack', () => {
  const slack = () => senderTo({ name: 's', type: 'slack', endpoint: `${receiver.url}/services/T/B/x` });

  it('gets text and blocks, with its control characters escaped', async () => {
    expect(await slack()(sampleNotification('firing'))).toEqual({ kind: 'delivered' });
    const { text, blocks } = lastBody();
    expect(text).toBe('[FIRING:1] High &lt;load&gt; &amp; more');
    expect(blocks[0].text.text).toContain(
      '*<https://logs.example.com/api/v1/alerts/01JALERT|[FIRING:1] High',
    );
    expect(blocks[1].text.text).toContain('Severity: high');
    expect(blocks[2].text.text).toContain(
      '- host=a, k8s.pod=p: value 7.5, firing since 2026-01-31T12:00:00.000Z',
    );
    expect(blocks[2].text.text).toContain('summary: a is loaded');
  });

  it('gets no more than it takes, whatever an instance is called', () => {
    const long = Array.from({ length: 100 }, (_, index) => sampleInstance(`${index}${'&'.repeat(5000)}`));
    const notification = sampleNotification('firing', long);
    const alert = { ...notification.alert, title: '<'.repeat(999), query: '&'.repeat(9999) };
    const { blocks } = slackMessage({ ...notification, alert }, `https://${'x'.repeat(99)}.example`);
    expect(blocks.length).toBeLessThanOrEqual(50);
    for (const { text } of blocks) expect(text.text.length).toBeLessThanOrEqual(3000);
  });

  it.each([
    [400, 'invalid_payload', 'failed'],
    [403, 'action_prohibited', 'failed'],
    [404, 'no_service', 'failed'],
    [404, 'channel_not_found', 'failed'],
    [410, 'channel_is_archived', 'failed'],
    [429, 'rate_limited', 'retry'],
    [500, 'rollup_error', 'retry'],
  ])('that answers %i %s is understood', async (status, body, kind) => {
    answers(status, body, { 'retry-after': '3' });
    const outcome = await slack()(sampleNotification('firing'));
    expect(outcome).toMatchObject({
      kind,
      error: { status, message: `Slack answered with status ${status} ${body}` },
    });
  });

  it('must say ok', async () => {
    answers(200, '<html>');
    const outcome = await slack()(sampleNotification('firing'));
    expect(outcome).toMatchObject({ kind: 'retry' });
    expect(JSON.stringify(outcome)).not.toContain('html');
  });

  it('is not sent to another host that the operator has not allowed', async () => {
    const send = senderTo({ name: 's', type: 'slack', endpoint: 'https://8.8.8.8/services' });
    expect(await send(sampleNotification('firing'))).toMatchObject({
      kind: 'failed',
      error: { code: 'target_refused' },
    });
  });
});

describe('PagerDuty', () => {
  const pagerduty = () =>
    senderTo({
      name: 'p',
      type: 'pagerduty',
      endpoint: `${receiver.url}/v2/enqueue`,
      routingKey: 'r'.repeat(32),
    });

  it('gets one incident for a group, which is resolved under the same key', async () => {
    answers(202, '{"status":"success"}');
    expect(await pagerduty()(sampleNotification('firing'))).toEqual({ kind: 'delivered' });
    expect(lastBody()).toMatchObject({
      routing_key: 'r'.repeat(32),
      dedup_key: '01JALERT/01JTARGET',
      event_action: 'trigger',
      payload: { summary: '[FIRING:1] High <load> & more', source: 'app', severity: 'error' },
      client_url: 'https://logs.example.com/api/v1/alerts/01JALERT',
    });
    await pagerduty()(sampleNotification('resolved'));
    expect(lastBody()).toEqual({
      routing_key: 'r'.repeat(32),
      dedup_key: '01JALERT/01JTARGET',
      event_action: 'resolve',
    });
  });

  it('refuses for good with 400, and may be asked again after 429 and 5xx', async () => {
    for (const [status, kind] of [
      [400, 'failed'],
      [429, 'retry'],
      [502, 'retry'],
    ] as const) {
      answers(status);
      expect(await pagerduty()(sampleNotification('firing'))).toMatchObject({ kind });
    }
  });
});

describe('e-mail', () => {
  interface Mail {
    readonly from: string;
    readonly to: readonly string[];
    readonly text: string;
  }
  const mails: Mail[] = [];
  let refusal: { code: number; on: 'rcpt' | 'data' } | undefined;
  let server: SMTPServer;
  let email: EmailSender;
  const fail = (code: number) => Object.assign(new Error('no'), { responseCode: code });

  beforeAll(async () => {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onRcptTo: (_address, _session, done) => done(refusal?.on === 'rcpt' ? fail(refusal.code) : undefined),
      onData: async (stream, session, done) => {
        let text = '';
        for await (const piece of stream) text += String(piece);
        if (refusal?.on === 'data') return done(fail(refusal.code));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text,
        });
        return done();
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.server.address() as AddressInfo;
    const policy = { hasServer: true, domains: new Set(['example.com']) };
    email = new EmailSender(
      { url: new URL(`smtp://127.0.0.1:${port}`), from: 'alerts@logs.example' },
      policy,
    );
  });
  afterAll(async () => {
    email.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  beforeEach(() => {
    mails.length = 0;
    refusal = undefined;
  });
  const send = (recipients: string[]) => senderTo({ name: 'e', type: 'email', recipients }, { email });

  it('goes to all recipients, with a fixed id and a thread', async () => {
    expect(await send(['a@example.com', 'b@example.com'])(sampleNotification('firing'))).toEqual({
      kind: 'delivered',
    });
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ from: 'alerts@logs.example', to: ['a@example.com', 'b@example.com'] });
    const text = mails[0]?.text ?? '';
    for (const line of [
      'Subject: [FIRING:1] High <load> & more',
      'Message-ID: <01JDELIVERY@logs.example>',
      'References: <01JALERT.01JTARGET@logs.example>',
      'Auto-Submitted: auto-generated',
      'Severity: high',
      'https://logs.example.com/api/v1/alerts/01JALERT',
    ])
      expect(text).toContain(line);
  });

  it('is tried again after 4xx, and never after 5xx', async () => {
    for (const on of ['rcpt', 'data'] as const) {
      refusal = { code: 450, on };
      expect(await send(['a@example.com'])(sampleNotification('firing'))).toMatchObject({ kind: 'retry' });
      refusal = { code: 550, on };
      expect(await send(['a@example.com'])(sampleNotification('firing'))).toMatchObject({
        kind: 'failed',
        error: { status: 550 },
      });
    }
    expect(mails).toEqual([]);
  });

  it('is tried again while the server does not answer', async () => {
    const policy = { hasServer: true, domains: undefined };
    const nobody = new EmailSender({ url: new URL('smtp://127.0.0.1:1'), from: 'a@b.example' }, policy);
    const outcome = await senderTo(
      { name: 'e', type: 'email', recipients: ['a@b.example'] },
      { email: nobody },
    )(sampleNotification('firing'));
    expect(outcome).toMatchObject({ kind: 'retry' });
    nobody.close();
  });

  it('goes only to domains of the operator', async () => {
    const outcome = await send(['a@elsewhere.example'])(sampleNotification('firing'));
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'target_refused' } });
    const none = senderTo({ name: 'e', type: 'email', recipients: ['a@example.com'] });
    expect(await none(sampleNotification('firing'))).toMatchObject({ kind: 'failed' });
  });
});

describe('Alertmanager', () => {
  it('is told at each of its addresses, and one that takes it is enough', async () => {
    const second = await startReceiver();
    const send = senderTo({
      name: 'am',
      type: 'alertManager',
      endpoints: [receiver.url, `${second.url}/prefix/api/v2/alerts`],
      username: 'u',
      password: 'p',
    });
    answers(503);
    const nowMs = Date.UTC(2026, 0, 31, 13);
    expect(await send(sampleNotification('firing'), { nowMs })).toEqual({ kind: 'delivered' });
    expect(receiver.received[0]?.path).toBe('/api/v2/alerts');
    expect(second.received[0]?.path).toBe('/prefix/api/v2/alerts');
    expect(second.received[0]?.headers.authorization).toBe(`Basic ${btoa('u:p')}`);
    expect(JSON.parse(second.received[0]?.body ?? '')).toEqual([
      {
        labels: {
          alertname: 'High <load> & more',
          severity: 'high',
          alert_id: '01JALERT',
          host: 'a',
          k8s_pod: 'p',
        },
        annotations: { summary: 'a is loaded' },
        startsAt: '2026-01-31T12:00:00.000Z',
        // Four times the interval of a minute
        endsAt: '2026-01-31T13:04:00.000Z',
        generatorURL: 'https://logs.example.com/api/v1/alerts/01JALERT',
      },
    ]);
    second.answer = (reply) => void reply.writeHead(400).end();
    expect(await send(sampleNotification('firing'))).toMatchObject({ kind: 'retry' });
    answers(400);
    expect(await send(sampleNotification('firing'))).toMatchObject({ kind: 'failed' });
    await second.close();
  });
});

import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/lib/validation.ts';
import {
  maskedTarget,
  type Target,
  targetExpectation,
  targetOf,
} from '../../../src/notifications/target-body.ts';
import { caughtError } from '../../support/lib/caught.ts';

const read = (body: unknown, before?: Target): Target => targetOf(validate(targetExpectation, body), before);
const refusal = (body: unknown, before?: Target): string => {
  const { code, message } = caughtError(() => read(body, before));
  expect(code).toBe('bad_target');
  return message;
};

const signing = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const webhook = {
  name: 'hook',
  type: 'webhook',
  endpoint: 'https://example.com/secret-path',
  headers: { 'X-Token': 'abc' },
  signingSecret: signing,
  skipTlsCheck: true,
  note: { kept: true },
};
const routingKey = 'r'.repeat(32);

describe('a target', () => {
  it('is shown without its secrets, and with members that nobody knows', () => {
    const shown = maskedTarget('ID', read(webhook));
    expect(shown).toEqual({
      id: 'ID',
      name: 'hook',
      type: 'webhook',
      endpoint: 'https://********',
      headers: { 'X-Token': '********' },
      signingSecret: ['********'],
      skipTlsCheck: true,
      note: { kept: true },
    });
    const others = [
      { name: 'a', type: 'alertManager', endpoint: 'http://am:9093', username: 'u', password: 'hidden' },
      { name: 'p', type: 'pagerduty', routingKey },
      { name: 's', type: 'slack', endpoint: 'https://hooks.slack.com/services/hidden' },
    ];
    for (const each of others)
      expect(JSON.stringify(maskedTarget('ID', read(each)))).not.toMatch(/hidden|rrr|am:9093/);
  });

  it('keeps what a change leaves out or masks', () => {
    const before = read(webhook);
    expect(read({ name: 'hook', type: 'webhook' }, before)).toMatchObject({ secrets: before.secrets });
    expect(read({ ...maskedTarget('ID', before), enabled: true, target: {} }, before)).toEqual(before);
    const changed = read(
      { name: 'hook', type: 'webhook', headers: { 'X-Token': '********', 'X-New': 'n' } },
      before,
    );
    expect(changed.secrets.headers).toEqual({ 'X-Token': 'abc', 'X-New': 'n' });
    expect(read({ name: 'hook', type: 'webhook', signingSecret: null, headers: {} }, before).secrets).toEqual(
      {
        endpoints: ['https://example.com/secret-path'],
        headers: {},
        signingSecrets: [],
      },
    );
  });

  it('cannot change its name or type', () => {
    const before = read(webhook);
    expect(refusal({ ...webhook, name: 'other' }, before)).toBe('name cannot be changed');
    expect(refusal({ name: 'hook', type: 'slack' }, before)).toBe('type cannot be changed');
  });

  it('is complete', () => {
    for (const type of ['webhook', 'slack', 'alertManager'])
      expect(refusal({ name: 'a', type })).toContain('needs an endpoint');
    expect(refusal({ name: 'a', type: 'pagerduty' })).toContain('routingKey');
    expect(refusal({ name: 'a', type: 'email' })).toContain('needs recipients');
    expect(refusal({ name: 'a', type: 'fax' })).toContain('type must be one of webhook');
    expect(refusal({ type: 'webhook' })).toContain('name is missing');
    expect(refusal({ ...webhook, routingKey })).toBe('a target of the type webhook has no routingKey');
  });

  it('has a plain URL of the web', () => {
    for (const endpoint of ['ftp://a/b', 'file:///etc/passwd', '//a', 'a', 'https://', 'gopher://a', '***'])
      expect(refusal({ name: 'a', type: 'webhook', endpoint })).toContain('must be a URL');
    expect(refusal({ ...webhook, endpoint: 'https://u:p@example.com' })).toContain('must not hold a user');
    const two = { name: 'a', type: 'webhook', endpoints: ['https://a.example', 'https://b.example'] };
    expect(refusal(two)).toContain('several endpoints');
    expect(read({ ...two, type: 'alertManager' }).secrets.endpoints).toHaveLength(2);
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'upgrade',
    'Cookie',
    'Proxy-Authorization',
  ])('cannot set the header %s', (name) => {
    expect(refusal({ ...webhook, headers: { [name]: 'x' } })).toContain('cannot be set');
  });

  it('cannot split a request by a header', () => {
    expect(refusal({ ...webhook, headers: { 'X-A': 'a\r\nHost: b' } })).toContain('not allowed');
    expect(refusal({ ...webhook, headers: { 'X A': 'a' } })).toContain('a name that is none');
  });

  it('has signing secrets as Standard Webhooks has them', () => {
    expect(read({ ...webhook, signingSecret: [signing, signing] }).secrets.signingSecrets).toHaveLength(2);
    for (const bad of ['abc', 'whsec_abc', `whsec_${'A'.repeat(100)}`, [signing, 'x']])
      expect(refusal({ ...webhook, signingSecret: bad })).toContain('24 to 64 bytes');
  });

  it('has plain addresses as recipients', () => {
    const email = (recipient: string) => ({ name: 'a', type: 'email', recipients: [recipient] });
    expect(read(email('a.b+c@example.com')).settings.recipients).toEqual(['a.b+c@example.com']);
    for (const bad of ['a', 'a@b, c@d', '<a@b>', 'a@b\r\nBcc: c@d', '"a b"@c', 'a@b c'])
      expect(refusal(email(bad))).toContain('plain e-mail addresses');
  });
});

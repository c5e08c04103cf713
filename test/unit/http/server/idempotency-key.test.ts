import { expect, test } from 'vitest';
import { idempotencyKey, type RequestHeaders } from '../../../../src/http/server/headers.ts';
import { caughtCode } from '../../../support/lib/caught.ts';

const headers = (value: string): RequestHeaders => ({
  accept: '',
  consistency: '',
  ifMatch: '',
  lastEventId: '',
  userAgent: '',
  authorization: '',
  apiKey: '',
  tenant: '',
  stream: '',
  contentType: '',
  contentEncoding: '',
  contentLength: '',
  transferEncoding: '',
  cookie: '',
  host: '',
  connection: '',
  origin: '',
  fetchSite: '',
  requestedWith: '',
  forwardedProto: '',
  forwardedFor: '',
  forwarded: '',
  extensions: new Map(),
  idempotencyKey: value,
});

test.each([
  ['', undefined],
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['"two words, and; more"', 'two words, and; more'],
  [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
])('the header %s is the key %s', (value, key) => {
  expect(idempotencyKey(headers(value))).toBe(key);
});

test.each([
  '""',
  '"open',
  'open"',
  '"a"b"',
  String.raw`"a\nb"`,
  String.raw`"a\"`,
  '"a"; p=1',
  'two words',
  'a, b',
  '"tab\t"',
  '"ü"',
  'ü',
  'x'.repeat(256),
])('the header %s is refused', (value) => {
  expect(caughtCode(() => idempotencyKey(headers(value)))).toBe('bad_header');
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCredentials, schemeOf } from '../../../src/auth/credentials.ts';

const tenant = 'acme';
const authorization = (value: string) => parseCredentials({ header: 'authorization', value, tenant });
const basic = (pair: string | Uint8Array) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('Basic credentials', () => {
  it('split at the first colon', () => {
    expect(authorization(basic('admin:a:b'))).toEqual({
      scheme: 'basic',
      tenant,
      username: 'admin',
      password: 'a:b',
    });
  });

  it('may have an empty name or password', () => {
    expect(authorization(basic(':'))).toEqual({ scheme: 'basic', tenant, username: '', password: '' });
  });

  it('carry any name without a colon and any password, as UTF-8', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(
        text.filter((name) => !name.includes(':')),
        text,
        (username, password) => {
          expect(authorization(basic(`${username}:${password}`))).toEqual({
            scheme: 'basic',
            tenant,
            username,
            password,
          });
        },
      ),
    );
  });

  it('keep a byte order mark, which is part of the password', () => {
    expect(authorization(basic('a:\ufeffb'))).toMatchObject({ password: '\ufeffb' });
    expect(authorization(basic('\ufeffa:b'))).toMatchObject({ username: '\ufeffa' });
  });

  it('take the scheme in any case', () => {
    expect(authorization(basic('a:b').replace('Basic', 'bAsIc'))).toMatchObject({ username: 'a' });
  });

  it.each([
    ['an unknown scheme', 'Digest abc'],
    ['no scheme', Buffer.from('a:b').toString('base64')],
    ['no value', 'Basic'],
    ['an empty value', 'Basic '],
    ['broken base64', 'Basic !!!!'],
    ['base64 with a break', `${basic('a:b')} ${basic('a:b')}`],
    ['no colon', basic('ab')],
    ['bytes that are not UTF-8', basic(Uint8Array.of(0x61, 0x3a, 0xff))],
  ])('are refused with %s', (_, value) => {
    expect(authorization(value)).toBeUndefined();
  });
});

describe('a bearer token', () => {
  it('is what follows the scheme, in any case', () => {
    const token = 'eyJ.a-b_c~d+e/f.g=';
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const presented = { tenant: 'default', header: 'authorization', value: `${scheme} ${token}` } as const;
      expect(parseCredentials(presented)).toEqual({ scheme: 'bearer', token });
      expect(schemeOf(presented)).toBe('bearer');
    }
    expect(schemeOf({ header: 'authorization', value: basic('a:b') })).toBe('basic');
  });

  it.each(['Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b', 'Bearerabc', 'Bearer a\u00e4'])(
    'is none with %j',
    (value) => {
      expect(authorization(value)).toBeUndefined();
    },
  );
});

describe('an API key', () => {
  it('is taken as it is', () => {
    expect(parseCredentials({ header: 'x-api-key', value: 'k:1', tenant })).toEqual({
      scheme: 'apiKey',
      key: 'k:1',
    });
  });
});

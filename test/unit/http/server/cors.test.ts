import { describe, expect, it } from 'vitest';
import { isTrustedOrigin, preflightReply, withCors } from '../../../../src/http/server/cors.ts';
import { jsonReply } from '../../../../src/http/server/reply.ts';

const named = new Set(['https://app.example.com', 'http://localhost:3000']);
const asked = (origin: string, requestHeaders = '') => ({ origin, requestMethod: 'POST', requestHeaders });
const headersOf = ({ headers = [] }: ReturnType<typeof preflightReply>) => Object.fromEntries(headers);

describe('a preflight', () => {
  it('tells a page of a named origin what it may send', () => {
    const wanted = 'authorization, X-P-Meta-Host, x-p-stream, x-evil, x-p-a b';
    const reply = preflightReply(named, asked('https://app.example.com', wanted));
    expect([reply.status, headersOf(reply)]).toEqual([
      204,
      {
        'Access-Control-Allow-Origin': 'https://app.example.com',
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'Access-Control-Allow-Headers': 'authorization, x-p-meta-host, x-p-stream',
        'Access-Control-Max-Age': '7200',
        Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      },
    ]);
  });

  it.each(['https://evil.example', 'null', '', 'https://app.example.com.evil.example'])(
    'tells pages of %j nothing',
    (origin) => {
      expect(Object.keys(headersOf(preflightReply(named, asked(origin))))).toEqual(['Vary']);
    },
  );

  it('gives no credentials to all', () => {
    const headers = headersOf(preflightReply('*', asked('https://evil.example', 'x-api-key')));
    expect(headers).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
    expect(headers).not.toHaveProperty('Access-Control-Allow-Credentials');
  });
});

describe('a reply', () => {
  it('is as it was where no page may call', () => {
    const reply = jsonReply(1);
    expect(withCors(reply, undefined, 'https://app.example.com')).toBe(reply);
  });

  it('says for whom it is', () => {
    const own = headersOf(withCors(jsonReply(1), named, 'http://localhost:3000'));
    expect(own).toMatchObject({
      'Access-Control-Allow-Origin': 'http://localhost:3000',
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': expect.stringContaining('Millrace-Query-Id'),
      Vary: 'Origin',
    });
    expect(headersOf(withCors(jsonReply(1), named, 'https://evil.example'))).toEqual({ Vary: 'Origin' });
    const forAll = headersOf(withCors(jsonReply(1), '*', 'https://evil.example'));
    expect(forAll).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
    expect(forAll).not.toHaveProperty('Access-Control-Allow-Credentials');
  });
});

it('only origins that are named are trusted with sessions', () => {
  expect(isTrustedOrigin(named, 'http://localhost:3000')).toBe(true);
  expect(isTrustedOrigin(named, 'http://localhost')).toBe(false);
  expect(isTrustedOrigin('*', 'http://localhost:3000')).toBe(false);
  expect(isTrustedOrigin(undefined, 'http://localhost:3000')).toBe(false);
});

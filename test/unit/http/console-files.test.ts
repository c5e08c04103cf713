import { describe, expect, it } from 'vitest';
import { acceptsHtml, ConsoleFiles } from '../../../src/http/routes/console/console-files.ts';
import type { PublicRequest } from '../../../src/http/server/route.ts';
import { caughtCode } from '../../support/lib/caught.ts';

const request = (headers: Readonly<Record<string, string>> = {}): PublicRequest => ({
  queryString: '',
  forwardedProto: '',
  header: (name) => headers[name] ?? '',
  clientAddress: () => '',
  parameter: '',
  body: new Uint8Array(0),
});

const files = ConsoleFiles.of([
  { path: 'index.html', bytes: Buffer.from('<!doctype html>') },
  { path: 'assets/a-1.js', bytes: Buffer.from('plain') },
  { path: 'assets/a-1.js.gz', bytes: Buffer.from('gzip') },
  { path: 'assets/a-1.js.br', bytes: Buffer.from('brotli') },
]);
const textOf = (reply: { readonly body: unknown }) => Buffer.concat(reply.body as Uint8Array[]).toString();
const headersOf = (reply: { readonly headers?: ReadonlyArray<readonly [string, string]> }) =>
  Object.fromEntries(reply.headers ?? []);

describe('files of the console', () => {
  it.each([
    ['', 'plain'],
    ['gzip, deflate, br, zstd', 'brotli'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br; q=0.000', 'plain'],
    ['identity', 'plain'],
    ['*', 'plain'],
  ])('are sent in an encoding that the client takes: %j', (accepted, text) => {
    const reply = files.asset('a-1.js', request({ 'accept-encoding': accepted }));
    expect(textOf(reply)).toBe(text);
    expect(reply.contentType).toBe('text/javascript; charset=utf-8');
    expect(reply.cacheControl).toBe('public, max-age=31536000, immutable');
    expect(headersOf(reply)).toMatchObject({ Vary: 'Accept-Encoding' });
  });

  it('are not sent again to who has them', () => {
    const etag = headersOf(files.page(request()))['ETag'] ?? '';
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const reply = files.page(request({ 'if-none-match': sent }));
      expect([reply.status, reply.body, headersOf(reply)['ETag']]).toEqual([304, '', etag]);
    }
    expect(files.page(request({ 'if-none-match': '"x"' })).status).toBe(200);
    // Each encoding is another thing with a tag of its own.
    const plain = headersOf(files.asset('a-1.js', request()))['ETag'];
    expect(headersOf(files.asset('a-1.js', request({ 'accept-encoding': 'br' })))['ETag']).not.toBe(plain);
  });

  it('have names that lead nowhere else', () => {
    for (const name of ['', '..', '../index.html', 'b.js', 'a-1.js.br/..', '__proto__'])
      expect(
        caughtCode(() => files.asset(name, request())),
        name,
      ).toBe('not_found');
  });

  it('forbid scripts, styles and frames of others on the page', () => {
    const headers = headersOf(files.page(request()));
    expect(headers['Content-Security-Policy']).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(headers['Content-Security-Policy']).toContain(
      "frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(headers['Content-Security-Policy']).not.toContain('unsafe');
    expect(headers['Referrer-Policy']).toBe('same-origin');
  });
});

it('browsers name HTML, and programs do not', () => {
  expect(acceptsHtml('text/html,application/xhtml+xml,*/*;q=0.8')).toBe(true);
  for (const accept of ['', '*/*', 'application/json', 'text/*']) expect(acceptsHtml(accept)).toBe(false);
});

it('where the console was not built, there is none', async () => {
  expect(await ConsoleFiles.load('/nowhere/at/all')).toBeUndefined();
});

/** What `npm run build` makes of the console, and how the service sends it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/lib/package-root.ts';
import { authorization, Service } from '../support/service/service.ts';

const folder = join(packageRoot(), 'dist/console');
const assets = join(folder, 'assets');
const names = readdirSync(assets).filter((name) => /\.(?:js|css)$/.test(name));
/** kB of 1,000 bytes. */
const compressedSize = (chosen: readonly string[]): number =>
  chosen.reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name)), { level: 9 }).byteLength, 0) /
  1000;
const html = readFileSync(join(folder, 'index.html'), 'utf8');

describe('the built console', () => {
  test('is small: what is loaded at once, the editor, and all of it', () => {
    const entry = names.filter((name) => html.includes(name));
    expect(entry.map((name) => name.replace(/^.*\./, '')).toSorted()).toEqual(['css', 'js']);
    expect(compressedSize(entry)).toBeLessThan(100);
    expect(compressedSize(names.filter((name) => name.startsWith('sql-editor-')))).toBeLessThan(140);
    expect(compressedSize(names)).toBeLessThan(300);
  });

  test('is compressed by the build, and says whose work is in it', () => {
    for (const name of names)
      for (const end of ['br', 'gz'])
        expect(statSync(join(assets, `${name}.${end}`)).size).toBeLessThan(statSync(join(assets, name)).size);
    const licenses = readFileSync(join(folder, 'licenses.txt'), 'utf8');
    for (const name of ['preact', '@preact/signals', 'uplot', '@tanstack/virtual-core', '@codemirror/view'])
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  test('names no other place, and no script or style is in the page itself', () => {
    expect(html).not.toMatch(/https?:|<style|style=|<script>/);
    for (const name of names) {
      const text = readFileSync(join(assets, name), 'utf8');
      expect(text, name).not.toContain('dangerouslySetInnerHTML={');
      expect(text, name).not.toMatch(/@import|url\(\s*['"]?https?:/);
    }
  });

  test('sends requests, keeps things and makes SQL in one place each', () => {
    const sources = readdirSync(join(packageRoot(), 'src/console'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [name, readFileSync(join(packageRoot(), 'src/console', name), 'utf8')] as const);
    const holding = (pattern: RegExp) =>
      sources.filter(([, text]) => pattern.test(text)).map(([name]) => name);
    expect(holding(/\bfetch\(/)).toEqual(['api/api-client.ts']);
    expect(holding(/localStorage\./)).toEqual(['state/settings.ts']);
    expect(holding(/innerHTML|insertAdjacentHTML|document\.write|\beval\(/i)).toEqual([]);
    expect(holding(/Authorization/)).toEqual([]);
  });
});

test('the service sends the page to browsers, its files compressed, and rows as arrays', async () => {
  const service = await Service.start();
  try {
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(service.url + path, { headers });
    const page = await get('/', { accept: 'text/html' });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(await page.text()).toBe(html);
    expect(await (await get('/')).text()).toMatch(/^Millrace\n/);
    for (const path of ['/explore', '/sql', '/start']) expect(await (await get(path)).text()).toBe(html);
    const script = names.find((name) => name.startsWith('index-') && name.endsWith('.js')) ?? '';
    const sent = await get(`/assets/${script}`, { 'accept-encoding': 'br' });
    expect(sent.headers.get('content-encoding')).toBe('br');
    expect(await sent.text()).toBe(readFileSync(join(assets, script), 'utf8'));
    const head = await fetch(`${service.url}/assets/${script}`, { method: 'HEAD' });
    expect(head.headers.get('cache-control')).toContain('immutable');
    const etag = page.headers.get('etag') ?? '';
    expect((await get('/', { accept: 'text/html', 'if-none-match': etag })).status).toBe(304);
    expect((await get('/licenses.txt')).status).toBe(200);
    const missing = await get('/nowhere', { accept: 'text/html' });
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    for (const path of ['/assets/..%2findex.html', '/assets/none.js', '/explore/x'])
      expect((await get(path)).status, path).toBe(404);
    const lines = async (parameters: string) => {
      const reply = await fetch(`${service.url}/api/v1/query?${parameters}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query: `SELECT 1 AS "1", 'a' AS "1", 9007199254740993 AS n, NULL AS x` }),
      });
      return [reply.status, (await reply.text()).split('\n')] as const;
    };
    const [status, [columns = '', row, end = '', ...rest]] = await lines('format=ndjson&fields=arrays');
    expect(status).toBe(200);
    expect(JSON.parse(columns)).toEqual({
      columns: [
        { name: '1', type: 'integer' },
        { name: '1', type: 'text' },
        { name: 'n', type: 'bigint' },
        { name: 'x', type: 'text' },
      ],
    });
    expect(row).toBe('[1, "a", 9007199254740993, null]');
    expect(JSON.parse(end)).toMatchObject({ statistics: { elapsedMs: expect.any(Number) } });
    expect(rest).toEqual(['']);
    expect((await lines('format=csv&fields=arrays'))[0]).toBe(400);
  } finally {
    await service.dispose();
  }
});

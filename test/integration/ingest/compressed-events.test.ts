/** JSON events in every Content-Encoding, through the built service, and what SQL then says. */
import { deflateSync, gzipSync } from 'node:zlib';
import { compress } from '@foxglove/wasm-zstd';
import { compressSync } from 'snappy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorization, Service } from '../../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '50' } });
});
afterAll(() => service?.dispose());

const post = (path: string, encoding: string, body: Uint8Array, type = 'application/json') =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': type, 'content-encoding': encoding, 'x-p-stream': 'packed' },
    body: Buffer.from(body),
  });

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['snappy', compressSync],
  ['zstd', compress],
] as const)('%s', async (encoding, pack) => {
  const events = Array.from({ length: 3000 }, (_, n) => ({ encoding, n, text: `event ${n}` }));
  const ingested = await post('/api/v1/ingest', encoding, pack(Buffer.from(JSON.stringify(events))));
  expect([ingested.status, await ingested.json()]).toEqual([200, { accepted: 3000 }]);
  const lines = events.map((event) => JSON.stringify(event)).join('\n');
  const again = await post(
    '/api/v1/logstream/packed',
    encoding,
    pack(Buffer.from(lines)),
    'application/x-ndjson',
  );
  expect(again.status).toBe(200);
  await service.drained();
  const sql = `SELECT count(*) AS rows, sum(n) AS total FROM packed WHERE encoding = '${encoding}'`;
  expect(await service.query(sql)).toEqual([{ rows: 6000, total: 8_997_000 }]);
  const schema = await post('/api/v1/logstream/schema/detect', encoding, pack(Buffer.from('[{"a":1}]')));
  expect(schema.status).toBe(200);
});

test('zstd that is damaged is 400, and one that expands beyond the bound is 413', async () => {
  const whole = compress(Buffer.from(JSON.stringify([{ a: 1 }])));
  const damaged = await post('/api/v1/ingest', 'zstd', whole.subarray(0, whole.length - 2));
  expect([damaged.status, ((await damaged.json()) as { code: string }).code]).toEqual([400, 'bad_encoding']);
  const bomb = await post('/api/v1/ingest', 'zstd', compress(Buffer.alloc(200 << 20, ' ')));
  expect([bomb.status, ((await bomb.json()) as { code: string }).code]).toEqual([413, 'body_too_large']);
});

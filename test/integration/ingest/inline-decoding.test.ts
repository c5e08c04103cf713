import { existsSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../../../src/decode/decoder.ts';
import { RemoteWriteKernel } from '../../../src/decode/remote-write/remote-write-kernel.ts';
import type { DecodeResult } from '../../../src/decode/task.ts';
import { DecodePool } from '../../../src/ingest/decode-pool.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { decodeCosts } from '../../support/decode/decode-costs.ts';
import { compileKernel } from '../../support/remote-write/compile-kernel.ts';
import { buildWriteRequest, type TestSeries } from '../../support/remote-write/remote-write-requests.ts';

/** Small bodies are decoded in the thread that takes them, with the results that the real workers have. */
const worker = new URL('../../../dist/workers/decode.js', import.meta.url);
const dayMs = 86_400_000;

let kernel: ReturnType<typeof compileKernel>;

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
  kernel = compileKernel();
});

async function poolOf(kind: 'with inline' | 'workers only') {
  const hashes = await xxhash();
  const pool = new DecodePool({
    worker,
    threads: 1,
    ...(kind === 'with inline'
      ? { inline: (outcomes) => new Decoder(outcomes, hashes, new RemoteWriteKernel(kernel)) }
      : {}),
    costs: decodeCosts(),
    metrics: createMetrics(),
    log: createLogger('silent'),
  });
  onTestFinished(() => pool.close());
  return async (bytes: Uint8Array) => {
    const body = new Uint8Array(bytes);
    const { result } = await pool.decode({
      tenant: 'default',
      dataset: 'm',
      format: 'remote-write-1',
      encoding: 'snappy',
      receivedMicros: 0,
      maxDecodedBytes: limits.maxBodyBytes,
      body,
    });
    // The memory of a body that went to a worker went with it.
    return { result: comparable(result), tookWorker: body.byteLength === 0 };
  };
}

/** Bytes as text: millions of them are compared at once, and a Buffer is the same as a plain array. */
const comparable = (result: DecodeResult) => {
  if (!result.ok) return result;
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return { ...result, blocks: result.blocks.map((block) => ({ ...block, bytes: textOf(block.bytes) })) };
};

async function decodeTwice(body: Uint8Array) {
  const [inline, worker] = [await poolOf('with inline'), await poolOf('workers only')];
  return { inline: await inline(body), worker: await worker(body) };
}

const seriesOf = (count: number, days: number, padding = ''): TestSeries[] =>
  Array.from({ length: count }, (_, index) => ({
    labels: { __name__: 'm', index: String(index), padding },
    samples: Array.from({ length: days }, (_, day) => ({ value: index, timestampMs: day * dayMs })),
  }));

it('decodes a small body as a worker does', async () => {
  const body = buildWriteRequest(seriesOf(40, 1));
  expect(body.length).toBeLessThanOrEqual(limits.maxInlineBodyBytes);
  const { inline, worker } = await decodeTwice(body);
  expect(inline.tookWorker).toBe(false);
  expect(worker.tookWorker).toBe(true);
  expect(inline.result.ok).toBe(true);
  expect(inline.result).toEqual(worker.result);
});

it('leaves larger bodies to the workers', async () => {
  const body = buildWriteRequest(seriesOf(2000, 1));
  expect(body.length).toBeGreaterThan(limits.maxInlineBodyBytes);
  const { inline } = await decodeTwice(body);
  expect(inline.tookWorker).toBe(true);
  expect(inline.result.ok).toBe(true);
});

it('leaves it to a worker to say what is wrong', async () => {
  const { inline, worker } = await decodeTwice(
    buildWriteRequest([
      { labels: { a: '1' }, samples: [] },
      ...seriesOf(1, 1),
      { labels: { b: '1' }, samples: [{ value: 1, timestampMs: 0 }] },
    ]),
  );
  expect(inline.tookWorker).toBe(true);
  expect(inline.result.ok).toBe(false);
  expect(inline.result).toEqual(worker.result);
});

it('leaves a small body that inflates to the workers', async () => {
  const body = buildWriteRequest(seriesOf(1, 150, 'x'.repeat(20_000)));
  expect(body.length).toBeLessThanOrEqual(limits.maxInlineBodyBytes);
  const { inline, worker } = await decodeTwice(body);
  expect(inline.tookWorker).toBe(true);
  expect(inline.result.ok).toBe(true);
  expect(inline.result).toEqual(worker.result);
});

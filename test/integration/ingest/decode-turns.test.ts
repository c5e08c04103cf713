import { existsSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { DecodePool, type DecodePoolOptions } from '../../../src/ingest/decode-pool.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { metricsProtobuf, oneScope, textAttributes } from '../../support/otlp/otlp-metrics.ts';

/** In which order the bodies of several tenants are decoded, by real workers. */
const worker = new URL('../../../dist/workers/decode.js', import.meta.url);
const { maxShortBodyBytes, maxDecodeBatchBytes, maxDecodeBatchRequests } = limits;

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
});

const eventOf = (bytes: number): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ text: 'x'.repeat(bytes) }));

/** Costs that are given, and not those that were measured. */
function givenCosts(costOf: Readonly<Record<string, number>> = {}): DecodePoolOptions['costs'] {
  const costs = new Map<string, number>();
  return {
    of: (tenant) => costs.get(tenant) ?? 0,
    add: (tenant) => costs.set(tenant, (costs.get(tenant) ?? 0) + (costOf[tenant] ?? 0)),
  };
}

/** Sends bodies; `order` is whose were decoded, by the first letter of the tenant. */
function startPool(costs = givenCosts()) {
  const [metrics, log] = [createMetrics(), createLogger('silent')];
  const pool = new DecodePool({ worker, threads: 1, costs, metrics, log });
  onTestFinished(() => pool.close());
  const sent: Promise<unknown>[] = [];
  const outcome = { order: '', refused: '' };
  const decode = async (
    tenant: string,
    body: Uint8Array,
    format: 'json' | 'otlp-metrics-protobuf' = 'json',
  ): Promise<void> => {
    try {
      const { result, release } = await pool.decode({
        tenant,
        dataset: 'app',
        format,
        encoding: 'identity',
        receivedMicros: 0,
        maxDecodedBytes: limits.maxBodyBytes,
        body: new Uint8Array(body),
      });
      expect(result.ok).toBe(true);
      outcome.order += tenant.charAt(0);
      release();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'overloaded')) throw error;
      outcome.refused += tenant.charAt(0);
    }
  };
  const send = (tenant: string, count: number, body: Uint8Array, format?: 'otlp-metrics-protobuf') => {
    for (let left = count; left > 0; left -= 1) sent.push(decode(tenant, body, format));
  };
  return { pool, send, done: () => Promise.all(sent).then(() => outcome) };
}

it('small bodies of a tenant wait for one turn of another, not for all that it has sent', async () => {
  const { send, done } = startPool();
  send('noisy', 12, eventOf(maxDecodeBatchBytes / 2 - 1024));
  send('quiet', 1, eventOf(100));
  send('other', 10, eventOf(100));
  const { order } = await done();
  expect(order).toHaveLength(23);
  // The first was taken at once; then come as many as make a task, and the small ones as one together.
  expect(order.indexOf('q')).toBeLessThanOrEqual(3);
  expect(order.lastIndexOf('o')).toBeLessThanOrEqual(3 + 1 + 10);
});

it('who has cost workers more goes after the others, whatever the number and the size of its bodies', async () => {
  const { send, done } = startPool(givenCosts({ dear: 1000, cheap: 1 }));
  send('dear', 3 * maxDecodeBatchRequests, eventOf(100));
  send('cheap', 3 * maxDecodeBatchRequests, eventOf(10_000));
  const { order } = await done();
  // One was taken at once. From then on that tenant waits until the other has nothing left.
  expect(order.slice(0, 1 + 3 * maxDecodeBatchRequests)).toBe(`d${'c'.repeat(3 * maxDecodeBatchRequests)}`);
});

it('short bodies are decoded while a long one is, and long ones take turns with each other', async () => {
  const { send, done } = startPool(givenCosts({ large: 1000, other: 1 }));
  const long = eventOf(12 * maxShortBodyBytes);
  send('large', 4, long);
  send('other', 1, long);
  send('small', 1, eventOf(100));
  const { order } = await done();
  expect(order).toHaveLength(6);
  expect(order.replace('s', '')).toBe('lolll');
  expect(order.indexOf('s')).toBeLessThan(3);
});

it('a short body that takes long is decoded as a long one, to the same result', async () => {
  const { pool, send, done } = startPool();
  const numbers = Array.from({ length: limits.maxShortNewSeries + 1 }, (_, index) => index);
  const dataPoints = numbers.map((index) => ({ attributes: textAttributes({ i: `${index}` }), asInt: 1n }));
  const body = metricsProtobuf(oneScope([{ name: 'g', gauge: { dataPoints } }]));
  expect(body.length).toBeLessThan(maxShortBodyBytes);
  send('tenant', 1, eventOf(1000));
  const { result } = await pool.decode({
    tenant: 'tenant',
    dataset: 'm',
    format: 'otlp-metrics-protobuf',
    encoding: 'identity',
    receivedMicros: 0,
    maxDecodedBytes: limits.maxBodyBytes,
    body: new Uint8Array(body),
  });
  expect(result).toMatchObject({ ok: true, counts: { points: numbers.length }, refused: undefined });
  expect(result.ok && result.blocks.map(({ table, rows }) => [table, rows])).toEqual([
    ['metadata', 1],
    ['series', numbers.length],
    ['samples', numbers.length],
  ]);
  await done();
});

it('long bodies wait while too much that was decoded is needed', async () => {
  const { pool, send, done } = startPool();
  const long = eventOf(14 * maxShortBodyBytes);
  const held: (() => void)[] = [];
  for (let bytes = 0; bytes < limits.maxDecodedBlockBytes; bytes += long.length) {
    const { result, release } = await pool.decode({
      tenant: 'large',
      dataset: 'app',
      format: 'json',
      encoding: 'identity',
      receivedMicros: 0,
      maxDecodedBytes: limits.maxBodyBytes,
      body: new Uint8Array(long),
    });
    expect(result.ok).toBe(true);
    held.push(release);
  }
  send('large', 1, long);
  send('small', 1, eventOf(100));
  for (const release of held.splice(0, 2)) setTimeout(release, 100);
  expect((await done()).order).toBe('sl');
  for (const release of held) release();
}, 60_000);

it('where too many wait, the tenant with most of them is refused', async () => {
  const { send, done } = startPool();
  send('noisy', limits.maxQueuedDecodes + 3, eventOf(100));
  send('quiet', 5, eventOf(100));
  const { order, refused } = await done();
  expect(refused).toBe('n'.repeat(7));
  expect(order.lastIndexOf('q')).toBeLessThan(2 * maxDecodeBatchRequests);
});

it('bodies that share their memory with others, or are empty, leave it to the others', async () => {
  const { pool } = startPool();
  const empty = new Uint8Array(0);
  const decode = async (body: Uint8Array) =>
    await pool.decode({
      tenant: 'tenant',
      dataset: 'm',
      format: 'otlp-metrics-protobuf',
      encoding: 'identity',
      receivedMicros: 0,
      maxDecodedBytes: limits.maxBodyBytes,
      body,
    });
  const dataPoints = [{ asInt: 1n }];
  const full = metricsProtobuf(oneScope([{ name: 'g', gauge: { dataPoints } }]));
  const twice = new Uint8Array(2 * full.length);
  twice.set(full);
  twice.set(full, full.length);
  const [first, second] = [twice.subarray(0, full.length), twice.subarray(full.length)];
  // Buffer's pool holds what is small; Node.js refuses to transfer it.
  const pooled = () => Buffer.from(full);
  for (let round = 0; round < 2; round += 1) {
    const bodies = [empty, first, second, empty, pooled(), new Uint8Array(full)];
    const decoded = await Promise.all(bodies.map(decode));
    const points = decoded.map(({ result }) => result.ok && result.counts.points);
    expect(points).toEqual([0, 1, 1, 0, 1, 1]);
    for (const { release } of decoded) release();
    // Of memory that was given away, nothing can be made.
    for (const shared of [empty, twice]) expect(() => new Uint8Array(shared.buffer)).not.toThrow();
  }
});

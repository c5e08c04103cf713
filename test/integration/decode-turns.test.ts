import { existsSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { DecodePool } from '../../src/ingest/decode-pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { limits } from '../../src/limits.ts';

/** In which order the bodies of several tenants are decoded, by a real worker. */
const worker = new URL('../../dist/workers/decode.js', import.meta.url);

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
});

/** Sends bodies of one JSON event; `order` is whose were decoded, by the first letter of the tenant. */
function startPool() {
  const pool = new DecodePool({ worker, threads: 1, metrics: createMetrics(), log: createLogger('silent') });
  onTestFinished(() => pool.close());
  const sent: Promise<unknown>[] = [];
  const outcome = { order: '', refused: '' };
  const decode = async (tenant: string, bytes: number): Promise<void> => {
    try {
      const { result } = await pool.decode({
        tenant,
        dataset: 'app',
        format: 'json',
        encoding: 'identity',
        receivedMicros: 0,
        maxDecodedBytes: limits.maxBodyBytes,
        body: new TextEncoder().encode(JSON.stringify({ text: 'x'.repeat(bytes) })),
      });
      expect(result.ok).toBe(true);
      outcome.order += tenant.charAt(0);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'overloaded')) throw error;
      outcome.refused += tenant.charAt(0);
    }
  };
  const send = (tenant: string, count: number, bytes: number) => {
    for (let left = count; left > 0; left -= 1) sent.push(decode(tenant, bytes));
  };
  return { send, done: () => Promise.all(sent).then(() => outcome) };
}

it('small bodies of a tenant wait for one turn of another, not for all that it has sent', async () => {
  const { send, done } = startPool();
  send('noisy', 12, limits.maxDecodeBatchBytes / 2 - 1024);
  send('quiet', 1, 100);
  send('other', 10, 100);
  // The first was taken at once; then come as many as make a task, and the small ones as one together.
  expect(await done()).toEqual({ order: `nnn${'q'}${'o'.repeat(10)}${'n'.repeat(9)}`, refused: '' });
});

it('the turn of a tenant is as long whether its bodies are small or large', async () => {
  const { send, done } = startPool();
  send('large', 4, limits.maxDecodeBatchBytes);
  send('small', 2 * limits.maxDecodeBatchRequests, 100);
  const batch = 's'.repeat(limits.maxDecodeBatchRequests);
  expect(await done()).toEqual({ order: `ll${batch}l${batch}l`, refused: '' });
});

it('where too many wait, the tenant with most of them is refused', async () => {
  const { send, done } = startPool();
  send('noisy', limits.maxQueuedDecodes + 3, 100);
  send('quiet', 5, 100);
  const { order, refused } = await done();
  expect(refused).toBe('n'.repeat(7));
  expect(order.lastIndexOf('q')).toBeLessThan(2 * limits.maxDecodeBatchRequests);
});

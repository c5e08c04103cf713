import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Piscina } from 'piscina';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shortBounds } from '../../../src/decode/decode-bounds.ts';
import { Decoder } from '../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import type {
  DecodeBatch,
  DecodeReply,
  DecodeResult,
  DecodeTask,
  DecodeWorkerData,
} from '../../../src/decode/task.ts';
import { noCounts } from '../../../src/model/counts.ts';
import { buildWriteRequest } from '../../support/remote-write/remote-write-requests.ts';

/** The worker as it runs: built, in a thread of its own. */
const worker = new URL('../../../dist/workers/decode.js', import.meta.url);
const outcomes = new DecodeOutcomes();
let pool: Piscina<DecodeBatch, DecodeReply[]>;

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
  const workerData: DecodeWorkerData = { outcomes: outcomes.shared };
  pool = new Piscina({ filename: worker.href, name: 'decode', maxThreads: 1, workerData });
});
afterAll(() => pool.close());

const task = (sequence: number, fields: Partial<DecodeTask>): DecodeTask => ({
  tenant: 'default',
  dataset: 'd',
  format: 'json',
  encoding: 'identity',
  receivedMicros: 1_763_600_000_000_000,
  body: Buffer.from('[{"a":1}]'),
  maxDecodedBytes: 1 << 20,
  sequence,
  ...fields,
});
const up = buildWriteRequest([
  { labels: { __name__: 'up' }, samples: [{ value: 1, timestampMs: 1_763_600_000_000 }] },
]);
const remoteWrite = { format: 'remote-write-1', encoding: 'snappy', body: up } as const;

/** What comes back because the slice is over, as in a thread that begins, is sent again. */
async function decodeAll(tasks: readonly DecodeTask[]): Promise<(DecodeResult | undefined)[]> {
  const replies = await pool.run({ tasks });
  const done = replies.filter(({ result }) => result !== undefined).map(({ result }) => result);
  return done.length === tasks.length ? done : [...done, ...(await decodeAll(tasks.slice(done.length)))];
}

test('a batch of all formats comes back in order, and a bad body touches no other', async () => {
  const results = await decodeAll([
    task(1, {}),
    task(2, { body: Buffer.from('{"a":') }),
    task(3, { format: 'ndjson', encoding: 'gzip', body: gzipSync('{"a":1}\n{"a":2}') }),
    task(4, remoteWrite),
  ]);
  expect(
    results.map((result) =>
      result?.ok === true ? [result.counts, result.blocks.map(({ rows }) => rows)] : result?.code,
    ),
  ).toEqual([
    [{ ...noCounts, events: 1 }, [1]],
    'bad_json',
    [{ ...noCounts, events: 2 }, [2]],
    [{ ...noCounts, samples: 1 }, [1, 1]],
  ]);
});

test('what a worker has not begun within a slice goes back, and so does what becomes too long', async () => {
  const long = Buffer.from(`{"a":"${'\\u0041'.repeat(2_000_000)}"}`);
  const [first, second] = await pool.run({
    tasks: [task(10, { body: long, maxDecodedBytes: 1 << 26 }), task(11, {})],
  });
  expect([first?.result?.ok, second?.result, second?.costMs]).toEqual([true, undefined, 0]);
  expect(second?.unfinished?.isTooLong).toBe(false);
  expect(Buffer.from(second?.unfinished?.body ?? []).toString()).toBe('[{"a":1}]');

  const bounds = { ...shortBounds, maxInflatedBytes: 1000 };
  const wide = Buffer.from(`{"a":1,"b":1}\n${'{}\n'.repeat(1000)}`);
  const [tooLong] = await pool.run({ tasks: [task(12, { body: wide, bounds })] });
  expect([tooLong?.result, tooLong?.unfinished?.isTooLong]).toEqual([undefined, true]);
  expect(Buffer.from(tooLong?.unfinished?.body ?? [])).toEqual(wide);
});

test('the worker sees what was committed', async () => {
  const tables = async (sequence: number): Promise<string[]> => {
    const [reply] = await pool.run({ tasks: [task(sequence, { ...remoteWrite, dataset: 'm' })] });
    const result = reply?.result;
    return result?.ok ? result.blocks.map(({ table }) => table) : [];
  };
  expect(await tables(5)).toEqual(['series', 'samples']);
  expect(await tables(6)).toEqual(['series', 'samples']);
  outcomes.commit(6);
  expect(await tables(7)).toEqual(['samples']);
});

test('a fault in the decoder fails its task alone, and its stack is not for the client', () => {
  const decoder = new Decoder(outcomes, {
    h64Raw: () => {
      throw new TypeError('a fault with data in it');
    },
  } as never);
  const results = [task(8, remoteWrite), task(9, {})].map((one) => decoder.decode(one));
  expect(results[0]).toMatchObject({
    ok: false,
    code: 'internal',
    message: 'The body could not be decoded because of a fault in the service',
    stack: expect.stringContaining('a fault with data in it'),
  });
  expect(results[1]?.ok).toBe(true);
});

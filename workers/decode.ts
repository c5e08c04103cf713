/** The Piscina entry of the decoding workers: bodies in, Native blocks out. */
import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../src/decode/decoder.ts';
import { overflowColumns } from '../src/decode/events/overflow.ts';
import { DecodeOutcomes } from '../src/decode/outcomes.ts';
import { RemoteWriteKernel } from '../src/decode/remote-write/remote-write-kernel.ts';
import type {
  DecodeBatch,
  DecodeReply,
  DecodeTask,
  DecodeWorkerData,
  OverflowReply,
  OverflowTask,
} from '../src/decode/task.ts';
import { limits } from '../src/limits/limits.ts';

const { outcomes } = workerData as DecodeWorkerData;
const kernelBinary = readFileSync(new URL('../src/decode/remote-write/kernel/kernel.wasm', import.meta.url));
const kernel = new RemoteWriteKernel(new WebAssembly.Module(kernelBinary));
const decoder = new Decoder(new DecodeOutcomes(outcomes), await xxhash(), kernel);

/**
 * A Piscina handler. Resolves to a `readonly DecodeReply[]`, one reply for each task, in order. The memory of
 * blocks and of returned bodies is transferred, not copied. Tasks that were not started within a time slice
 * are returned, so that other tenants get this worker.
 */
export function decode({ tasks }: DecodeBatch): ReturnType<typeof move> {
  const startMs = performance.now();
  let beforeMs = startMs;
  const replies = tasks.map((task, index): DecodeReply => {
    if (index > 0 && beforeMs - startMs > limits.decodeSliceMs) {
      return { costMs: 0, unfinished: { body: task.body, isTooLong: false } };
    }
    const reply = decodeOne(task);
    const nowMs = performance.now();
    const costMs = nowMs - beforeMs;
    beforeMs = nowMs;
    return { costMs, ...reply };
  });
  const buffers = replies.flatMap(({ result, unfinished }) =>
    unfinished !== undefined
      ? [unfinished.body.buffer]
      : result?.ok === true
        ? result.blocks.map(({ bytes }) => bytes.buffer)
        : [],
  );
  return move({ [transferableSymbol]: buffers, [valueSymbol]: replies });
}

function decodeOne(task: DecodeTask): Omit<DecodeReply, 'costMs'> {
  const result = decoder.decode(task);
  return task.bounds?.isPreliminary === true && !result.ok && result.code === 'body_too_large'
    ? { unfinished: { body: task.body, isTooLong: true } }
    : { result };
}

/**
 * A Piscina handler for a block with more columns than its dataset may have. Resolves to an `OverflowReply`:
 * the block with those columns in its map.
 */
export function overflow({ block, columns }: OverflowTask): ReturnType<typeof move> {
  const startMs = performance.now();
  const fitting = overflowColumns(block, columns);
  const reply: OverflowReply = { costMs: performance.now() - startMs, block: fitting };
  return move({ [transferableSymbol]: [fitting.bytes.buffer], [valueSymbol]: reply });
}

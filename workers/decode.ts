/** The Piscina entry of the decoding workers: bodies in, Native blocks out. */
import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../src/decode/decoder.ts';
import { DecodeOutcomes } from '../src/decode/outcomes.ts';
import { overflowColumns } from '../src/decode/overflow.ts';
import { RemoteWriteKernel } from '../src/decode/remote-write-kernel.ts';
import type { DecodeBatch, DecodeWorkerData, OverflowTask } from '../src/decode/task.ts';

const { outcomes } = workerData as DecodeWorkerData;
const kernelBinary = readFileSync(new URL('../src/decode/kernel/kernel.wasm', import.meta.url));
const kernel = new RemoteWriteKernel(new WebAssembly.Module(kernelBinary));
const decoder = new Decoder(new DecodeOutcomes(outcomes), await xxhash(), kernel);

/**
 * Piscina's handler, by name. It resolves to a `readonly DecodeResult[]`: one for each task, in their order. The
 * memory of the blocks is transferred, not copied.
 */
export function decode({ tasks }: DecodeBatch): ReturnType<typeof move> {
  const results = tasks.map((task) => decoder.decode(task));
  const buffers = results.flatMap((result) =>
    result.ok ? result.blocks.map(({ bytes }) => bytes.buffer) : [],
  );
  return move({ [transferableSymbol]: buffers, [valueSymbol]: results });
}

/** The same for a block whose columns are too many for its dataset; it resolves to the block with them in its map. */
export function overflow({ block, columns }: OverflowTask): ReturnType<typeof move> {
  const fitting = overflowColumns(block, columns);
  return move({ [transferableSymbol]: [fitting.bytes.buffer], [valueSymbol]: fitting });
}

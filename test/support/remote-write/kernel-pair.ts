import { compressSync } from 'snappy';
import { expect } from 'vitest';
import xxhash from 'xxhash-wasm';
import { requestBounds } from '../../../src/decode/decode-bounds.ts';
import { Decoder } from '../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import { RemoteWriteKernel } from '../../../src/decode/remote-write/remote-write-kernel.ts';
import type { DecodeResult, DecodeTask } from '../../../src/decode/task.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { TableName } from '../../../src/model/dataset.ts';
import { nativeRows } from '../clickhouse/native-rows.ts';
import { sampleRows } from '../clickhouse/sample-rows.ts';
import { bytesField, varintField } from '../decode/wire.ts';
import { compileKernel } from './compile-kernel.ts';
import type { Version } from './remote-write-oracle.ts';

export const hashes = await xxhash();
export const compiled = compileKernel();
export const kernel = new RemoteWriteKernel(compiled);

/**
 * All tests share the kernel and its table. Each run has its own dataset, and so its own series.
 */
let datasets = 0;
export const newDataset = (): string => `d${++datasets}`;

export const dayMs = 86_400_000;
export const noonMs = 1_763_640_000_000;

/** The number of runs and the time limit of a property of messages. */
export const runs = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: 5000 }) as const;

export const taskOf = (
  dataset: string,
  sequence: number,
  body: Uint8Array,
  version: Version = 1,
): DecodeTask => ({
  tenant: 'default',
  dataset,
  format: version === 1 ? 'remote-write-1' : 'remote-write-2',
  encoding: 'snappy',
  receivedMicros: 0,
  body,
  maxDecodedBytes: limits.maxBodyBytes,
  sequence,
});

let strangers = 0;
const insertStranger = (): void => {
  kernel.table.insert(++strangers, -1);
};

/** Fills the table that all tests share, as far as it goes without growing. */
export const fillTable = (): void => {
  while (kernel.table.room > 0) insertStranger();
};

/**
 * Makes the table grow if it is nearly full, since the kernel skips a new series that would make it grow. How
 * full earlier tests have left it is random, as their messages are.
 */
const makeRoom = (): void => {
  if (kernel.table.room >= 100) return;
  fillTable();
  insertStranger();
};

/** The decoder with the kernel and the one without, side by side, with the same outcomes. */
export class Pair {
  readonly #outcomes = new DecodeOutcomes();
  readonly #fast = new Decoder(this.#outcomes, hashes, kernel);
  readonly #full = new Decoder(this.#outcomes, hashes);
  readonly #dataset = newDataset();
  readonly #version: Version;
  #sequence = 0;
  /** When the next request arrives. */
  receivedMicros = 0;
  maxInflatedBytes: number = limits.maxInflatedBlockBytes;

  constructor(version: Version = 1) {
    this.#version = version;
    makeRoom();
  }

  /** Decodes with both and expects the same of them. */
  decode(message: Buffer): DecodeResult {
    return this.decodeBody(compressSync(message));
  }

  decodeBody(body: Buffer): DecodeResult {
    this.#sequence += 1;
    const { receivedMicros, maxInflatedBytes } = this;
    const bounds = { ...requestBounds, maxInflatedBytes };
    const plain = taskOf(this.#dataset, this.#sequence, body, this.#version);
    const task = { ...plain, receivedMicros, bounds };
    const fast = this.#fast.decode(task);
    const full = this.#full.decode(task);
    if (!fast.ok || !full.ok) {
      expect(fast).toEqual(full);
      expect(fast).not.toHaveProperty('stack');
      return fast;
    }
    expect(fast.counts).toEqual(full.counts);
    expect(fast.refused).toEqual(full.refused);
    expect(sampleRows(fast)).toEqual(sampleRows(full));
    for (const table of ['series', 'metadata', 'exemplars', 'histograms'] as const) {
      expect(tableRows(fast, table), table).toEqual(tableRows(full, table));
    }
    return fast;
  }

  /** The last request is durable. */
  commit(): void {
    this.#outcomes.commit(this.#sequence);
  }

  /** Makes the series of a message known: the kernel takes their samples of that day from now on. */
  learn(message: Buffer): void {
    expect(this.decode(message)).toMatchObject({ ok: true });
    this.commit();
    this.decode(message);
  }

  /** How many samples the kernel takes of a message by itself. */
  taken(message: Buffer): number {
    this.decode(message);
    expect(kernel.message.equals(message)).toBe(true);
    return kernel.samples;
  }
}

/**
 * The rows of all blocks of a table, sorted, as text: the kernel and the decoder beside it make a block each.
 */
export const tableRows = (result: DecodeResult, name: TableName): string[] => {
  const blocks = result.ok ? result.blocks.filter(({ table }) => table === name) : [];
  return blocks
    .flatMap(nativeRows)
    .map((row) => JSON.stringify(row))
    .sort();
};
export const seriesRows = (result: DecodeResult): string[] => tableRows(result, 'series');

// Messages --------------------------------------------------------------------------------------------------

export const label = (name: string, value: string): Buffer =>
  bytesField(1, Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, Buffer.from(value))]));
/** A field of eight bytes, given as its bits: through a number, a NaN may lose its payload. */
export const bitsField = (field: number, bits: bigint): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(field * 8 + 1);
  bytes.writeBigUInt64LE(bits, 1);
  return bytes;
};
export const pointField = (field: number, ...parts: readonly Buffer[]): Buffer =>
  bytesField(field, Buffer.concat(parts));
export const sample = (bits: bigint, timestampMs: number): Buffer =>
  pointField(2, bitsField(1, bits), varintField(2, timestampMs));
export const series = (...fields: readonly Buffer[]): Buffer => bytesField(1, Buffer.concat(fields));
export const up = [label('__name__', 'up'), label('job', 'x')];
export const one = 0x3ff0000000000000n;
export const staleMarker = 0x7ff0000000000002n;

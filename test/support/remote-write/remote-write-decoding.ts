import { compressSync } from 'snappy';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import { RemoteWriteKernel } from '../../../src/decode/remote-write/remote-write-kernel.ts';
import type { DecodeResult } from '../../../src/decode/task.ts';
import { limits } from '../../../src/limits/limits.ts';
import { compileKernel } from './compile-kernel.ts';
import type { Version } from './remote-write-oracle.ts';
import {
  encodeRequestV2,
  encodeWriteRequest,
  type TestMetricMetadata,
  type TestSeries,
} from './remote-write-requests.ts';

const hashes = await xxhash();
const kernel = compileKernel();

/** A worker's decoder, and what becomes of what it decodes. */
export class RemoteWriteDecoding {
  readonly #outcomes = new DecodeOutcomes();
  readonly #decoder = new Decoder(this.#outcomes, hashes, new RemoteWriteKernel(kernel));
  #sequence = 0;
  receivedMicros = 1_763_640_000_000_000;

  /** Decodes a protobuf message. */
  message(version: Version, message: Uint8Array): DecodeResult {
    this.#sequence++;
    return this.#decoder.decode({
      tenant: 'default',
      dataset: 'm',
      format: version === 1 ? 'remote-write-1' : 'remote-write-2',
      encoding: 'snappy',
      receivedMicros: this.receivedMicros,
      body: compressSync(Buffer.from(message)),
      maxDecodedBytes: limits.maxBodyBytes,
      sequence: this.#sequence,
    });
  }

  series(
    version: Version,
    series: readonly TestSeries[],
    metadata?: readonly TestMetricMetadata[],
  ): DecodeResult {
    return this.message(
      version,
      version === 1 ? encodeWriteRequest(series, metadata) : encodeRequestV2(series),
    );
  }

  /** What was decoded last becomes durable. */
  commit(): void {
    this.#outcomes.commit(this.#sequence);
  }
}

import type { XXHashAPI } from 'xxhash-wasm';
import type { BodyFormat } from '../decode/task.ts';
import type { RequestIdentity } from '../model/replay.ts';
import type { IngestRequest } from './ingest-request.ts';

/**
 * By what a repetition is known. Equal bodies of metrics hold the same samples of the same times, and were meant
 * once. Equal JSON events may well be two events, so only their sender can tell, by an `Idempotency-Key`.
 */
const knownBy = {
  json: 'key',
  ndjson: 'key',
  'remote-write-1': 'body',
  'remote-write-2': 'body',
  'otlp-logs-json': 'body',
  'otlp-logs-protobuf': 'body',
  'otlp-traces-json': 'body',
  'otlp-traces-protobuf': 'body',
  'otlp-metrics-json': 'body',
  'otlp-metrics-protobuf': 'body',
} as const satisfies Record<BodyFormat, 'key' | 'body'>;

/** Larger bodies are hashed in pieces, since the memory that the hash function copies them to never shrinks. */
const pieceBytes = 1024 * 1024;

/**
 * Names requests by hashes (XXH64). They are seeded with the node's name, which is random, never leaves the
 * data directory and stays the same across restarts: nobody outside can make two bodies that look alike.
 */
export class RequestIdentifier {
  readonly #hashes: XXHashAPI;
  readonly #seed: bigint;

  /** @param node this node's name */
  constructor(hashes: XXHashAPI, node: string) {
    this.#hashes = hashes;
    this.#seed = hashes.h64(node);
  }

  /** Undefined for a request that is never taken for another: an empty one, or one that does not say so. */
  identify(request: IngestRequest): RequestIdentity | undefined {
    const { format, body, idempotencyKey, labels } = request;
    if (body.byteLength === 0) return undefined;
    if (knownBy[format] === 'body') return { name: `${format}:${this.#fingerprint(body)}` };
    if (idempotencyKey === undefined) return undefined;
    const name = `key:${this.#fingerprint(Buffer.from(idempotencyKey))}`;
    return { name, body: `${this.#fingerprint(body)}${this.#labelsPrint(labels)}` };
  }

  /** What headers add to the events is stored like the body. */
  #labelsPrint(labels: IngestRequest['labels']): string {
    return labels === undefined ? '' : `+${this.#fingerprint(Buffer.from(JSON.stringify(labels)))}`;
  }

  #fingerprint(bytes: Uint8Array): string {
    return `${this.#hash(bytes).toString(16).padStart(16, '0')}-${bytes.byteLength}`;
  }

  #hash(bytes: Uint8Array): bigint {
    if (bytes.byteLength <= pieceBytes) return this.#hashes.h64Raw(bytes, this.#seed);
    const state = this.#hashes.create64(this.#seed);
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
      state.update(bytes.subarray(at, at + pieceBytes));
    }
    return state.digest();
  }
}

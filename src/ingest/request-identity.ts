import type { XXHashAPI } from 'xxhash-wasm';
import type { BodyFormat } from '../decode/task.ts';
import type { RequestIdentity } from '../model/replay.ts';
import type { IngestRequest } from './ingest-request.ts';

/**
 * How a retry is recognised. Identical bodies of metrics, OTLP logs or spans carry their own times
 * and are the same data. Identical JSON events may be two events, so only the sender can tell, with
 * an `Idempotency-Key`.
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

/** Larger bodies are hashed in pieces: the hash function copies its input into memory that never shrinks. */
const pieceBytes = 1024 * 1024;

/**
 * Identifies requests by hashes (XXH64). The seed is the node's name, which is random, never leaves the data
 * directory and survives restarts, so nobody outside can construct two bodies with the same hash.
 */
export class RequestIdentifier {
  readonly #hashes: XXHashAPI;
  readonly #seed: bigint;

  /** @param node the name of this node */
  constructor(hashes: XXHashAPI, node: string) {
    this.#hashes = hashes;
    this.#seed = hashes.h64(node);
  }

  /** Undefined if the request is never treated as a retry: an empty body, or JSON events without a key. */
  identify(request: IngestRequest): RequestIdentity | undefined {
    const { format, body, idempotencyKey, labels } = request;
    if (body.byteLength === 0) return undefined;
    if (knownBy[format] === 'body') return { name: `${format}:${this.#fingerprint(body)}` };
    if (idempotencyKey === undefined) return undefined;
    const name = `key:${this.#fingerprint(Buffer.from(idempotencyKey))}`;
    return { name, body: `${this.#fingerprint(body)}${this.#labelsPrint(labels)}` };
  }

  /** Labels from headers are stored with the events, so they are part of the identity. */
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

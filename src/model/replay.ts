import type { DecodeCounts } from './counts.ts';

/** By what a request is known again when its sender repeats it. */
export interface RequestIdentity {
  /** What the sender repeats, as a hash: its body or its Idempotency-Key. Unique within a dataset. */
  readonly name: string;
  /** Hash and length of the body, where the name is not made of them. */
  readonly body?: string;
}

/** What is remembered of a request that was stored, to answer its repetitions. Plain JSON. */
export interface StoredRequest extends RequestIdentity {
  readonly receivedMicros: number;
  readonly counts: DecodeCounts;
}

import type { DecodeCounts } from './counts.ts';

/** Identifies a request, so that a retry is recognised. */
export interface RequestIdentity {
  /** A hash of the body or of the Idempotency-Key. Unique within a dataset. */
  readonly name: string;
  /** Hash and length of the body, if `name` is not made from the body. */
  readonly body?: string;
}

/** What is remembered of a stored request, in order to answer its retries. Plain JSON. */
export interface StoredRequest extends RequestIdentity {
  readonly receivedMicros: number;
  readonly counts: DecodeCounts;
}

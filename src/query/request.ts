import type { Principal } from '../model/identity.ts';

export interface QueryRequest {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  /** As the client wrote them: RFC 3339, `YYYY-MM-DD HH:MM:SS`, a duration back from now, or `now`. */
  readonly startTime?: string;
  readonly endTime?: string;
  /** If given, the query must read this dataset. */
  readonly streamName?: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export interface QueryResult {
  /** Output columns in order. */
  readonly fields: readonly string[];
  /** A JSON array of row objects, UTF-8, as the store wrote it: rows are never parsed on their way out. */
  readonly records: Uint8Array;
}

export interface Query {
  /** @throws AppError */
  run(request: QueryRequest): Promise<QueryResult>;
}

import type { BodyEncoding, BodyFormat, EventLabels, EventOrigin } from '../decode/task.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { DecodeCounts, RefusedPart } from '../model/counts.ts';

/** A body from a sender that may write to the dataset. */
export interface IngestRequest {
  readonly tenant: string;
  readonly dataset: string;
  readonly format: BodyFormat;
  readonly encoding: BodyEncoding;
  readonly body: Uint8Array;
  /** Refuse with `dataset_not_found` rather than create the dataset. */
  readonly mustExist: boolean;
  /** The sender's `Idempotency-Key`. With it, a retry is recognised. */
  readonly idempotencyKey?: string | undefined;
  /** Fields that are added to each event of the body, for formats that have events. */
  readonly labels?: EventLabels | undefined;
  /** Stored with each event of the body, for formats that have events. */
  readonly origin?: EventOrigin | undefined;
}

/** What is stored durably now. */
export interface Acknowledgement {
  readonly counts: DecodeCounts;
  /** The refused part of the body, for protocols that can report it; undefined if there is none. */
  readonly refused: RefusedPart | undefined;
  /** The request had been stored before. Nothing was stored this time. */
  readonly replayed: boolean;
}

/** The write path as the protocols see it. */
export interface Ingest {
  /**
   * Checks the rate limits of the dataset before its body is read.
   * @returns reserves memory for the body
   * @throws AppError `rate_limited`
   */
  admit(tenant: string, dataset: string): Reserve;
  /**
   * Decodes a body and stores it durably, once. When the promise fulfils, the rows survive a power failure.
   * @throws AppError
   */
  write(request: IngestRequest): Promise<Acknowledgement>;
  /**
   * The columns that these JSON events would get, in order of appearance. Nothing is stored.
   * @throws AppError
   */
  columnsOf(events: SampleEvents): Promise<readonly ColumnSpec[]>;
}

/** JSON events that belong to no dataset. */
export type SampleEvents = Pick<IngestRequest, 'tenant' | 'encoding' | 'body'> & {
  readonly format: 'json' | 'ndjson';
};

/**
 * Reserves memory for a body or a part of one. The caller releases it when the request ends.
 * @throws AppError `overloaded`, `log_full`, `shutting_down`
 */
export type Reserve = (bytes: number) => Reservation;

export interface Reservation {
  release(): void;
}

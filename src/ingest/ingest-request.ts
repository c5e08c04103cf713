import type { BodyEncoding, BodyFormat, EventLabels } from '../decode/task.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { DecodeCounts, RefusedPart } from '../model/counts.ts';

/** A body that was received, from somebody who may write to that dataset. */
export interface IngestRequest {
  readonly tenant: string;
  readonly dataset: string;
  readonly format: BodyFormat;
  readonly encoding: BodyEncoding;
  readonly body: Uint8Array;
  /** Refuse with `dataset_not_found` rather than create the dataset. */
  readonly mustExist: boolean;
  /** The sender's own name for this request; with it, a repetition is recognised. */
  readonly idempotencyKey?: string | undefined;
  /** Fields that each event of the body gets, of a format that has events. */
  readonly labels?: EventLabels | undefined;
}

/** What is durable now. */
export interface Acknowledgement {
  readonly counts: DecodeCounts;
  /** What was left out, where the protocol can say so; undefined if nothing was. */
  readonly refused: RefusedPart | undefined;
  /** The request had been stored before; nothing was stored this time. */
  readonly replayed: boolean;
}

/** The write path as the protocols see it. */
export interface Ingest {
  /**
   * Whether a body may come that is for this dataset. What it returns takes room for it before it is read.
   * @throws AppError `rate_limited`
   */
  admit(tenant: string, dataset: string): Reserve;
  /**
   * Decodes a body and makes it durable, once. When the promise fulfils, the rows survive a power cut.
   * @throws AppError
   */
  write(request: IngestRequest): Promise<Acknowledgement>;
  /**
   * The columns that JSON events would get, in the order in which they come. Nothing is stored.
   * @throws AppError
   */
  columnsOf(events: SampleEvents): Promise<readonly ColumnSpec[]>;
}

/** A body of JSON events of no dataset. */
export type SampleEvents = Pick<IngestRequest, 'tenant' | 'encoding' | 'body'> & {
  readonly format: 'json' | 'ndjson';
};

/**
 * Takes room for a body, or a portion of it; the caller gives it back when the request has ended.
 * @throws AppError `overloaded`, `log_full`, `shutting_down`
 */
export type Reserve = (bytes: number) => Reservation;

export interface Reservation {
  release(): void;
}

import type { ErrorCode } from '../errors.ts';
import type { TableBlock } from '../model/block.ts';
import type { DecodeCounts, RefusedPart } from '../model/counts.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import type { DecodeBounds } from './decode-bounds.ts';

/** What a body holds. One decoder each. */
export type BodyFormat =
  | 'json'
  | 'ndjson'
  | 'remote-write-1'
  | 'remote-write-2'
  | 'otlp-logs-json'
  | 'otlp-logs-protobuf'
  | 'otlp-traces-json'
  | 'otlp-traces-protobuf'
  | 'otlp-metrics-json'
  | 'otlp-metrics-protobuf';

/** `Content-Encoding` of a body. */
export type BodyEncoding = 'identity' | 'gzip' | 'deflate' | 'snappy' | 'zstd';

/**
 * Fields that every event of a request gets beside its own: names and values. A field of the event with
 * that name gives way.
 */
export type EventLabels = ReadonlyArray<readonly [field: string, value: string]>;

/** What is known of a request, and stored with each of its events. */
export interface EventOrigin {
  /** Of the client, as text. */
  readonly address: string;
  /** What the client calls itself; empty if it does not. */
  readonly userAgent: string;
}

/**
 * What is asked of JSON events beside their being JSON: by their dataset, and by the headers of the request.
 */
export interface EventOptions extends Pick<DatasetOptions, 'schema' | 'timeField' | 'timeLimitDays'> {
  readonly labels?: EventLabels | undefined;
}

/** One request's body on its way to a worker. Plain data: it is posted between threads. */
export interface DecodeTask {
  readonly tenant: string;
  readonly dataset: string;
  readonly format: BodyFormat;
  readonly encoding: BodyEncoding;
  /** Receive time, microseconds since 1970. */
  readonly receivedMicros: number;
  readonly body: Uint8Array;
  readonly maxDecodedBytes: number;
  /** Of JSON events. */
  readonly events?: EventOptions | undefined;
  /** Likewise; undefined for those that no client has sent. */
  readonly origin?: EventOrigin | undefined;
  /** Of one JSON event; `limits.maxEventBytes` unless given. */
  readonly maxEventBytes?: number | undefined;
  /** What it may become; `requestBounds` unless given. */
  readonly bounds?: DecodeBounds | undefined;
  /**
   * Number of this task, counted up by the sender from 1. The worker looks up under it whether the rows that
   * it made became durable (`outcomes.ts`).
   */
  readonly sequence: number;
}

/** What the decoders of metrics need of a task. */
export type MetricsTask = Pick<DecodeTask, 'tenant' | 'dataset' | 'sequence' | 'receivedMicros' | 'bounds'>;

/** A body as blocks; none if it held nothing to store. */
export interface DecodedBody {
  readonly blocks: readonly TableBlock[];
  /** What the blocks hold. */
  readonly counts: DecodeCounts;
  /** What they leave out, where the protocol can say so. Others take a body whole or not at all. */
  readonly refused?: RefusedPart | undefined;
}

/** A body as blocks, or what is wrong with it as a whole. */
export type DecodeResult = ({ readonly ok: true } & DecodedBody) | DecodeFailure;

export interface DecodeFailure {
  readonly ok: false;
  readonly code: ErrorCode;
  /** For the client. */
  readonly message: string;
  /** With code `internal` only: the stack of the exception, for the service's own log and nobody else. */
  readonly stack?: string;
}

/** What a worker is called with: requests that arrived together. */
export interface DecodeBatch {
  readonly tasks: readonly DecodeTask[];
}

/** What became of a task of a batch. */
export interface DecodeReply {
  /** The time that it took. */
  readonly costMs: number;
  readonly result?: DecodeResult;
  /** In place of a result: the body of a task that was not begun, or that went beyond preliminary bounds. */
  readonly unfinished?: { readonly body: Uint8Array; readonly isTooLong: boolean };
}

export interface OverflowReply {
  readonly costMs: number;
  readonly block: TableBlock;
}

/** A block of events whose dataset has no room for some of its columns. */
export interface OverflowTask {
  readonly block: TableBlock;
  readonly columns: ReadonlySet<string>;
}

/** What a worker is started with. */
export interface DecodeWorkerData {
  /** The memory of the `DecodeOutcomes` that the sender of tasks writes. */
  readonly outcomes: SharedArrayBuffer;
}

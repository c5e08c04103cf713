import type { CancelSignal } from '../lib/cancellation.ts';
import type { ColumnSpec } from '../model/column.ts';

/**
 * ClickHouse as the rest of the program sees it: embedded (chDB) or remote, the same interface.
 *
 * Every method throws `StoreError` when ClickHouse or the way to it fails. Values never go into a statement
 * unescaped: `quoteIdentifier` and `quoteString` of `lib/quote.ts` are the only way in.
 */
export interface Store {
  /** Runs a statement that returns nothing (DDL, metadata). Statements run one after another. */
  command(statement: string): Promise<void>;
  /**
   * Runs a SELECT of the service itself, whose result is small; after the statements that wait already.
   * @param format the ClickHouse output format of the bytes returned
   * @param party the tenant that asks, if one does: they take turns, with each other and with the service
   *   itself
   */
  select(query: string, format: SelectFormat, party?: string): Promise<Uint8Array>;
  /**
   * Writes one batch: same token, same bytes, same order means stored once, however often it is sent.
   * @param signal aborting it ends the wait for a server; whether the batch was stored is then not known
   */
  insert(batch: InsertBatch, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** ClickHouse as the queries of clients see it: their results may be larger than memory. */
export interface ResultStore {
  /**
   * Starts when the result is first read. Reading it throws `StoreError`, `AppError` or the reason of the
   * abort.
   */
  stream(query: string, options: StreamOptions): ResultStream;
}

export interface StreamOptions {
  /** Names the query in the store, by which it is cancelled from another connection. Never used twice. */
  readonly id: string;
  /** Whose query it is: the connections are shared between the parties, fairly. */
  readonly party: string;
  /** Who of the party asks. */
  readonly user?: string | undefined;
  readonly format: StreamFormat;
  /** The result has no more rows, if that is known: small results take a shorter way. */
  readonly maxRows?: number | undefined;
  /** It never takes the large share of the memory, which others would wait for: it may run for long. */
  readonly leavesLargeShare?: boolean;
  /**
   * Rendered into the statement's own SETTINGS clause. This is cached by object, so queries should share
   * objects.
   */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Aborting it cancels the query in the engine; its reason is then thrown, if that is an `AppError`. */
  readonly signal: CancelSignal;
}

/** Formats of which the store makes one document, piece by piece. */
export type StreamFormat =
  | 'JSONEachRow'
  | 'JSONCompactEachRow'
  | 'CSVWithNames'
  | 'ArrowStream'
  | 'Parquet'
  | 'TabSeparated';

/** A part of a result. */
export interface ResultChunk {
  readonly parts: readonly Uint8Array[];
  /**
   * True if nothing follows and the query has ended, so that there is no need to read on. False if that is
   * not known.
   */
  readonly isLast: boolean;
}

/**
 * The output of a query, produced no faster than it is read. Iterate over it once; stopping early cancels the
 * query. If the first chunk is also the last one, it is the whole result.
 */
export interface ResultStream extends AsyncIterable<ResultChunk> {
  /** Known when the result has been read to its end, if the store reports it. */
  readonly progress: ReadProgress | undefined;
}

/** What a query read from its tables. */
export interface ReadProgress {
  readonly rows: number;
  readonly bytes: number;
}

export type SelectFormat = 'JSONEachRow' | 'JSONCompactEachRow' | 'JSON';

export interface InsertBatch {
  readonly database: string;
  /** Unquoted. */
  readonly table: string;
  /** All columns that occur in any of the blocks. */
  readonly columns: readonly ColumnSpec[];
  /** `insert_deduplication_token`. */
  readonly token: string;
  /** Native blocks, in order. */
  readonly blocks: readonly Uint8Array[];
}

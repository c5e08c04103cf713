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
   * Runs a SELECT on a connection of the query pool.
   * @param format the ClickHouse output format of the bytes returned
   */
  select(query: string, format: SelectFormat, options?: SelectOptions): Promise<Uint8Array>;
  /**
   * Writes one batch: same token, same bytes, same order means stored once, however often it is sent.
   * @param signal aborting it ends the wait for a server; whether the batch was stored is then not known
   */
  insert(batch: InsertBatch, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type SelectFormat = 'JSONEachRow' | 'JSONCompactEachRow' | 'JSON';

export interface SelectOptions {
  /** Rendered into the statement's own SETTINGS clause, so that nothing leaks into the session. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Aborting it cancels the query in the engine. */
  readonly signal?: AbortSignal;
}

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

import type { CancelSignal } from '../lib/cancellation.ts';
import { quoteString } from '../lib/quote.ts';
import { renderShared, type StatementSettings } from './statement-settings.ts';
import type { InsertBatch, ReadProgress, ResultChunk, StreamFormat } from './store.ts';

/** How statements and batches get to ClickHouse. The embedded and the remote store differ only in this. */
export interface Transport<Client> {
  /** Runs a statement; its whole output. */
  execute(client: Client, statement: string): Promise<Uint8Array>;
  /**
   * Runs a query and yields its output as it is produced, no faster than it is consumed. When the consumer
   * stops, the connection may be needed for longer; `control` is told so.
   */
  stream(
    client: Client,
    statement: StreamStatement,
    control: StreamControl,
  ): AsyncGenerator<ResultChunk, ReadProgress | undefined>;
  /** Whether `stream` has a shorter way for small results, which gives them as one chunk. */
  readonly sendsSmallResultsWhole: boolean;
  /** Writes the Native blocks of a batch. */
  insert(client: Client, batch: InsertBatch, signal?: AbortSignal): Promise<void>;
}

export interface StreamControl {
  /** Asks the engine to stop the query. */
  readonly kill: () => void;
  /** Aborted when nobody waits for the query any more; the engine is then asked to stop it already. */
  readonly signal: CancelSignal;
  /**
   * Settles as `work` does, or as soon as nobody waits for the query any more. @throws unknown the signal's
   * reason
   */
  unlessAborted<T>(work: Promise<T>): Promise<T>;
  /** Keeps the connection until `work` settles, though nobody waits for the query any more. */
  occupy(work: Promise<unknown>): void;
}

/** A query, and how its output is to look. */
export interface StreamStatement {
  readonly query: string;
  readonly format: StreamFormat;
  readonly settings: StatementSettings;
  /** Names the query in the store: its setting `log_comment`. */
  readonly id: string;
  /** The settings bound the result to what can be in memory as a whole. */
  readonly isSmall: boolean;
}

/** The clauses at the end of a query. */
export function endingOf({ format, settings, id }: Omit<StreamStatement, 'query' | 'isSmall'>): string {
  const others = renderShared(settings);
  return `FORMAT ${format}\nSETTINGS log_comment = ${quoteString(id)}${others === '' ? '' : `, ${others}`}`;
}

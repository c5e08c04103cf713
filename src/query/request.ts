import type { ReadProgress, ResultChunk } from '../clickhouse/store.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Principal } from '../model/identity.ts';
import type { ArrivalQuestion } from '../sql/arrival-query.ts';
import type { CatalogSession, SessionEffect } from '../sql/catalog-session.ts';
import type { ParameterValue } from '../sql/parameters.ts';
import type { InsertRange } from '../sql/placeholders.ts';
import type { PostgresType } from '../sql/postgres-types.ts';
import type { TimeSettings } from '../sql/session-times.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import type { OutputForm } from './result-format.ts';

/** A query with its principal, tenant and time range. */
export interface QueryQuestion {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  /** Values of `$1`, `$2`, … */
  readonly parameters?: readonly ParameterValue[] | undefined;
  /**
   * The types of the parameters as PostgreSQL's object ids. A type that is 0 or missing is inferred.
   */
  readonly parameterTypes?: readonly number[];
  /** As the client wrote them: RFC 3339, `YYYY-MM-DD HH:MM:SS`, a duration back from now, or `now`. */
  readonly startTime?: string | undefined;
  readonly endTime?: string | undefined;
  /** If given, the query must read this dataset. */
  readonly streamName?: string | undefined;
  /** Whether the query first waits until all rows that this node has acknowledged are in the store. */
  readonly latest?: boolean;
  /**
   * Returns the session for functions such as `current_setting`; called only if the query needs it. Without
   * it, there is only the principal.
   */
  readonly session?: (showsSessions: boolean) => CatalogSession;
  /** As `SET` takes them: the zone in which the query computes, and how times are written and read. */
  readonly timeSettings?: TimeSettings | undefined;
  /** Aborted when the client goes away. */
  readonly signal: CancelSignal;
}

export interface QueryRequest extends QueryQuestion {
  readonly format: OutputForm;
  /** Whether the result may have any size, which needs the right to export; false unless given. */
  readonly isExport?: boolean;
}

export interface QueryResult {
  /** Names the query, here and in the store. */
  readonly id: string;
  /** Output columns in order. */
  readonly columns: readonly ResultColumn[];
  /** Names of the datasets that are read. */
  readonly datasets: readonly string[];
  /** What the query does to the session that runs it. */
  readonly effects?: readonly SessionEffect[];
  /**
   * The output. It can be iterated once. There is at least one chunk; if the first chunk is the last, it is
   * the whole output. Errors are `AppError`s.
   */
  readonly chunks: AsyncIterable<ResultChunk>;
  /** May be called when the output has been read to its end. */
  statistics(): QueryStatistics;
}

export interface QueryStatistics {
  /** From the request to the end of the output, ms. */
  readonly elapsedMs: number;
  /** Undefined if the store does not report it. */
  readonly read: ReadProgress | undefined;
}

export interface Explanation {
  /** The SQL that the store would run. */
  readonly sql: string;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  /** Types of the parameters, if there are any. */
  readonly parameters?: readonly string[];
  /** The datasets that it reads. */
  readonly datasets: readonly string[];
}

/** What is known of a query without running it and without the values of its parameters. */
export interface Description {
  readonly columns: readonly ResultColumn[];
  /** Names of the columns that are aggregates, or are computed from them. */
  readonly aggregateColumns: readonly string[];
  /** Names of the datasets that are read. */
  readonly datasets: readonly string[];
  /** Of `$1`, `$2`, … */
  readonly parameters: readonly PostgresType[];
}

/** Asks for the number of rows of a dataset in equal parts of a time range. */
export interface CountsRequest {
  readonly principal: Principal;
  readonly tenant: string;
  readonly stream: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly numBins?: number;
  readonly signal: CancelSignal;
}

export interface CountsBin {
  /** RFC 3339; the end is not part of the bin. */
  readonly startTime: string;
  readonly endTime: string;
  readonly count: number;
}

/** Asks for rows of one dataset in the order of their arrival (`sql/arrival-query.ts`). */
export interface ArrivalRequest extends ArrivalQuestion {
  readonly principal: Principal;
  readonly tenant: string;
  /** In SQL; empty for all rows. */
  readonly condition: string;
  readonly inserts: InsertRange;
  readonly signal: CancelSignal;
}

export interface Query {
  /**
   * @throws AppError if the query is refused before there is output; reading the output throws later errors
   */
  run(request: QueryRequest): Promise<QueryResult>;
  /**
   * The columns and parameters of a query. The query is not run, and values of its parameters are ignored.
   * @throws AppError as `run` does, up to the point where it would ask the store
   */
  describe(question: QueryQuestion): Promise<Description>;
  /** @throws AppError as `run` does, up to the point where it would ask the store */
  explain(question: QueryQuestion): Promise<Explanation>;
  /** @throws AppError */
  counts(request: CountsRequest): Promise<readonly CountsBin[]>;
}

/** What live tails ask. */
export interface ArrivalQuery {
  /**
   * The rows that arrived with a range of inserts, or how many came with each, as NDJSON.
   * @throws AppError as `Query.run` does
   */
  arrivals(request: ArrivalRequest): Promise<QueryResult>;
}

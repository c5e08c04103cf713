import type { ReadProgress, ResultChunk } from '../clickhouse/store.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Principal } from '../model/identity.ts';
import type { CatalogSession, SettingChange } from '../sql/catalog-session.ts';
import type { ParameterValue } from '../sql/parameters.ts';
import type { PostgresType } from '../sql/postgres-types.ts';
import type { ResultColumn } from '../sql/translate.ts';
import type { OutputForm } from './result-format.ts';

/** What is asked, by whom, about which time. */
export interface QueryQuestion {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  /** Values of `$1`, `$2`, … */
  readonly parameters?: readonly ParameterValue[];
  /**
   * Types that the client gives to parameters, by PostgreSQL's object ids; 0 or none: the type is inferred.
   */
  readonly parameterTypes?: readonly number[];
  /** As the client wrote them: RFC 3339, `YYYY-MM-DD HH:MM:SS`, a duration back from now, or `now`. */
  readonly startTime?: string;
  readonly endTime?: string;
  /** If given, the query must read this dataset. */
  readonly streamName?: string;
  /** Whether it waits until it can see all that this node acknowledged before. */
  readonly latest?: boolean;
  /**
   * Who asks, for `current_setting` and the like, called where it is needed; without it, the principal
   * outside of any session.
   */
  readonly session?: () => CatalogSession;
  /** Aborted when the client goes away. */
  readonly signal: CancelSignal;
}

export interface QueryRequest extends QueryQuestion {
  readonly format: OutputForm;
  /** The result may have any size, for who may export; undefined: the usual bounds hold. */
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
  readonly settings?: readonly SettingChange[];
  /**
   * The document, as the store makes it: iterate once. There is at least one chunk, and if the first is the
   * last it is the whole document. What it throws is an `AppError`.
   */
  readonly chunks: AsyncIterable<ResultChunk>;
  /** Once the output has been read to its end. */
  statistics(): QueryStatistics;
}

export interface QueryStatistics {
  /** From the request to the end of the output, ms. */
  readonly elapsedMs: number;
  /** Undefined where the store does not tell. */
  readonly read: ReadProgress | undefined;
}

export interface Explanation {
  /** What the store would run. */
  readonly sql: string;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  /** Types of the parameters, if there are any. */
  readonly parameters?: readonly string[];
  /** The datasets that it reads. */
  readonly datasets: readonly string[];
}

/** What is known of a query before it runs, and without values of its parameters. */
export interface Description {
  readonly columns: readonly ResultColumn[];
  /** Of `$1`, `$2`, … */
  readonly parameters: readonly PostgresType[];
}

/** How much of a dataset falls into equal parts of a time range. */
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

export interface Query {
  /**
   * @throws AppError before there is output, unless the query is refused later: then reading
   *   the output throws it
   */
  run(request: QueryRequest): Promise<QueryResult>;
  /**
   * The columns and the parameters of a query, which is not run; values of parameters are not looked at.
   * @throws AppError as `run` would before it asks the store
   */
  describe(question: QueryQuestion): Promise<Description>;
  /** @throws AppError as `run` would before it asks the store */
  explain(question: QueryQuestion): Promise<Explanation>;
  /** @throws AppError */
  counts(request: CountsRequest): Promise<readonly CountsBin[]>;
}

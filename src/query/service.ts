import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Principal, ReadableRows } from '../model/identity.ts';
import type { Query as QueryTree } from '../sql/ast.ts';
import { located } from '../sql/errors.ts';
import { narrowedSettings, semanticSettings } from '../sql/print/settings.ts';
import { type Translation, translate } from '../sql/translate.ts';
import type { CatalogView } from '../store/dataset-entry.ts';
import type { Store } from '../store/store.ts';
import type { SqlParser } from './parser.ts';
import type { Query, QueryRequest, QueryResult } from './request.ts';
import { queryFailure } from './store-failures.ts';
import { parseTimeRange } from './time-range.ts';
import { relationNames, visibleCatalog } from './visible-catalog.ts';

export interface QueryServiceParts {
  readonly store: Pick<Store, 'select'>;
  readonly catalog: CatalogView;
  readonly parser: Pick<SqlParser, 'parse'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly bounds: QueryBounds;
  /** Which rows of a dataset of its tenant the principal may read. */
  readableRows(principal: Principal, dataset: string): ReadableRows;
  /** Waits until what was acknowledged is in the store, or for a bounded time; false if nothing is on its way. */
  waitForPending(): Promise<boolean>;
}

/** What one query may use. */
export interface QueryBounds {
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
}

/** SQL in, rows out: parse, authorize, translate, execute. */
export class QueryService implements Query {
  readonly #parts: QueryServiceParts;
  readonly #settings: Readonly<Record<string, string | number>>;

  constructor(parts: QueryServiceParts) {
    this.#parts = parts;
    this.#settings = { ...semanticSettings, ...boundSettings(parts.bounds) };
  }

  async run(request: QueryRequest): Promise<QueryResult> {
    const { parser, store, clock } = this.#parts;
    const nowMicros = clock.nowMicros();
    const range = parseTimeRange(request.startTime, request.endTime, nowMicros);
    const tree = await parser.parse(request.sql);
    const translation = await this.#translate(tree, request, () =>
      translate(tree, this.#visible(request), { range, nowMicros }),
    );
    checkStreamName(request.streamName, translation);
    try {
      const records = await store.select(translation.sql, 'JSONEachRow', {
        settings: translation.narrowed ? { ...this.#settings, ...narrowedSettings } : this.#settings,
        signal: request.signal,
      });
      return { fields: translation.columns.map((column) => column.name), records };
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  #visible({ principal, tenant }: QueryRequest) {
    const { catalog, readableRows } = this.#parts;
    return visibleCatalog(catalog, tenant, (dataset) => readableRows(principal, dataset));
  }

  /**
   * Translates, and once more if something is missing that may be on its way: data is acknowledged before its
   * tables and columns exist in the store.
   */
  async #translate(tree: QueryTree, request: QueryRequest, attempt: () => Translation): Promise<Translation> {
    const { catalog, waitForPending } = this.#parts;
    const unready = (): string | undefined =>
      relationNames(tree).find((name) => catalog.get(request.tenant, name)?.ready === false);
    try {
      if (unready() !== undefined) await waitForPending();
      const missing = unready();
      if (missing !== undefined) {
        throw new AppError('store_unavailable', `the dataset "${missing}" is new and not in the store yet`);
      }
      return await attemptTwice(attempt, waitForPending);
    } catch (thrown) {
      throw located(thrown, request.sql);
    }
  }

  #failure(thrown: unknown): unknown {
    const failure = queryFailure(thrown);
    if (failure instanceof AppError && failure.code === 'sql_failed') {
      this.#parts.log.warn({ err: failure.cause }, 'a query failed in the store');
    }
    return failure;
  }
}

const mayAppear: ReadonlySet<string> = new Set(['sql_unknown_column', 'sql_unknown_relation']);

async function attemptTwice<T>(attempt: () => T, wait: () => Promise<boolean>): Promise<T> {
  try {
    return attempt();
  } catch (thrown) {
    if (!(thrown instanceof AppError) || !mayAppear.has(thrown.code) || !(await wait())) throw thrown;
    return attempt();
  }
}

const boundSettings = (bounds: QueryBounds): Readonly<Record<string, string | number>> => ({
  max_execution_time: bounds.timeoutMs / 1000,
  max_memory_usage: bounds.maxMemoryBytes,
  max_result_rows: bounds.maxResultRows,
  max_result_bytes: bounds.maxResultBytes,
  result_overflow_mode: 'throw',
  output_format_json_array_of_rows: 1,
});

function checkStreamName(streamName: string | undefined, { datasets }: Translation): void {
  if (streamName === undefined || datasets.includes(streamName)) return;
  const read = datasets.length === 0 ? 'none' : datasets.join(', ');
  throw new AppError(
    'bad_request',
    `streamName is "${streamName}", which the query does not read; it reads ${read}`,
  );
}

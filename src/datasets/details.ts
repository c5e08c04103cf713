import { AppError } from '../errors.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { auditDataset, type DatasetKind, databaseOf, physicalTable, tablesOfKind } from '../model/dataset.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import type { Catalog } from '../store/catalog.ts';
import type { DatasetInfo } from '../store/dataset-entry.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { type Schema, schemaOf } from './schema.ts';

/** How much the store has of a dataset, of all days or of one. */
export interface StoredAmount {
  /** Events, records, spans or samples. */
  readonly rows: number;
  readonly uncompressedBytes: number;
  readonly diskBytes: number;
}

export interface DatasetDetails {
  readonly kind: DatasetKind;
  /** ISO 8601, UTC; undefined while the store has nothing of it, and for datasets of before this was noted. */
  readonly createdAt: string | undefined;
  /** The same; undefined for a dataset without rows in the store. */
  readonly firstEventAt: string | undefined;
  readonly latestEventAt: string | undefined;
  /** Whether the service itself writes it. */
  readonly isInternal: boolean;
  /** As it was made; undefined for none. */
  readonly options: DatasetOptions | undefined;
}

export interface DatasetQuestionsOptions {
  readonly catalog: Pick<Catalog, 'get' | 'list' | 'datasets'>;
  readonly store: Pick<Store, 'select'>;
}

/** Where the time of a row is; the first is the table whose rows count. */
const timed = {
  events: { table: 'events', column: 'p_timestamp' },
  logs: { table: 'logs', column: 'timestamp' },
  traces: { table: 'spans', column: 'timestamp' },
  metrics: { table: 'samples', column: 'timestamp' },
} as const satisfies Record<DatasetKind, { readonly table: string; readonly column: string }>;

/**
 * What is known of datasets. The store answers from what it keeps about its parts, and reads no rows. Callers have
 * checked that it is allowed.
 */
export class DatasetQuestions {
  readonly #options: DatasetQuestionsOptions;

  constructor(options: DatasetQuestionsOptions) {
    this.#options = options;
  }

  /**
   * By name, in its order.
   * @throws AppError `store_unavailable`
   */
  names(tenant: string): readonly string[] {
    return this.#options.catalog.list(tenant).map(({ name }) => name);
  }

  /** @throws AppError `dataset_not_found`, `store_unavailable` */
  schema(tenant: string, name: string): Schema {
    const { kind, columns } = this.#get(tenant, name);
    return schemaOf(kind, columns.values());
  }

  /** @throws AppError `dataset_not_found`, `store_unavailable` */
  async details(tenant: string, name: string): Promise<DatasetDetails> {
    const dataset = this.#get(tenant, name);
    const { table, column } = timed[dataset.kind];
    const time = (which: 'min' | 'max') => `formatDateTime(${which}(${column}), '%FT%T.%fZ', 'UTC')`;
    const from = `${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(physicalTable(dataset.id, table))}`;
    const times = dataset.ready
      ? await this.#row<readonly [number, string, string]>(
          tenant,
          `SELECT toUInt8(count() > 0), ${time('min')}, ${time('max')} FROM ${from}`,
        )
      : undefined;
    const hasRows = times !== undefined && times[0] > 0;
    const noted = this.#options.catalog.datasets.get(tenant, name);
    return {
      kind: dataset.kind,
      createdAt: noted?.createdAt,
      firstEventAt: hasRows ? times[1] : undefined,
      latestEventAt: hasRows ? times[2] : undefined,
      isInternal: name === auditDataset,
      options: noted?.options,
    };
  }

  /**
   * @param date `YYYY-MM-DD`: of the rows of that day alone
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  async stored(tenant: string, name: string, date: string | undefined): Promise<StoredAmount> {
    const { id, kind } = this.#get(tenant, name);
    const tables = tablesOfKind[kind].map((table) => quoteString(physicalTable(id, table))).join(', ');
    const counted = quoteString(physicalTable(id, timed[kind].table));
    const day = date === undefined ? '' : ` AND partition = ${quoteString(date)}`;
    const [rows, uncompressedBytes, diskBytes] = await this.#row<readonly [number, number, number]>(
      tenant,
      `SELECT toFloat64(sumIf(rows, table = ${counted})), toFloat64(sum(data_uncompressed_bytes)), toFloat64(sum(bytes_on_disk))
       FROM system.parts WHERE active AND database = ${quoteString(databaseOf(tenant))} AND table IN (${tables})${day}`,
    );
    return { rows, uncompressedBytes, diskBytes };
  }

  #get(tenant: string, name: string): DatasetInfo {
    const dataset = this.#options.catalog.get(tenant, name);
    if (dataset === undefined) throw new AppError('dataset_not_found', `there is no dataset ${name}`);
    return dataset;
  }

  async #row<Row>(tenant: string, query: string): Promise<Row> {
    try {
      const bytes = await this.#options.store.select(query, 'JSONCompactEachRow', tenant);
      return JSON.parse(Buffer.from(bytes).toString('utf8')) as Row;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new AppError('store_unavailable', 'the store does not answer', { cause: error });
    }
  }
}

import type { Catalog } from '../catalog/catalog.ts';
import type { DatasetInfo } from '../catalog/dataset-entry.ts';
import type { ReceivedTable } from '../catalog/received-table.ts';
import { selectRow } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { parseDay } from '../lib/timestamp.ts';
import {
  auditDataset,
  countedTable,
  type DatasetKind,
  databaseOf,
  physicalTable,
  tablesOfKind,
} from '../model/dataset.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import { oldestReceived, type ReceivedAmount, sumOfReceived } from '../model/received-amounts.ts';
import { existingDataset, orUnavailable } from './existing.ts';
import { type Schema, schemaOf } from './schema.ts';

/** How much the store has of a dataset, of all days or of one by the times of its rows. */
export interface StoredAmount {
  /** Events, records, spans or samples. */
  readonly rows: number;
  readonly uncompressedBytes: number;
  readonly diskBytes: number;
}

/** All that was ever received of a dataset, or on one day, and what became of it. */
export interface DatasetStatistics {
  readonly kind: DatasetKind;
  readonly received: ReceivedAmount;
  /** The part of it that is in the log of this node, and not in the store yet. */
  readonly waiting: ReceivedAmount;
  readonly stored: StoredAmount;
  /**
   * The part of it that is neither in the log nor in the store any more: retention takes the oldest, whose
   * bytes these are. Undefined for one day, since events of one day may have been received on others.
   */
  readonly deleted: ReceivedAmount | undefined;
}

export interface DatasetDetails {
  readonly kind: DatasetKind;
  /**
   * ISO 8601, UTC; undefined while the store has nothing of it, and for datasets that are
   * older than this record.
   */
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
  readonly received: Pick<ReceivedTable, 'days'>;
  /** What of it the log has; `date` is `YYYY-MM-DD`. */
  readonly waiting: (tenant: string, id: string, date: string | undefined) => ReceivedAmount;
}

/** Where the time of a row is. */
const timeColumn = {
  events: 'p_timestamp',
  logs: 'timestamp',
  traces: 'timestamp',
  metrics: 'timestamp',
} as const satisfies Record<DatasetKind, string>;

/**
 * What is known of datasets. The store answers from what it keeps about its parts, and reads no rows. Callers
 * have checked that it is allowed.
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
    const { options } = this.#options.catalog.datasets.get(tenant, name) ?? {};
    return schemaOf(kind, columns.values(), options?.schema);
  }

  /** @throws AppError `dataset_not_found`, `store_unavailable` */
  async details(tenant: string, name: string): Promise<DatasetDetails> {
    const dataset = this.#get(tenant, name);
    const table = countedTable[dataset.kind];
    const column = timeColumn[dataset.kind];
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
   * @param date `YYYY-MM-DD`: what was received on that day, and rows of that day
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  async statistics(tenant: string, name: string, date: string | undefined): Promise<DatasetStatistics> {
    const { id, kind } = this.#get(tenant, name);
    const stored = await this.#stored(tenant, id, kind, date);
    const days = await orUnavailable(() => this.#options.received.days(tenant, id));
    const waiting = this.#options.waiting(tenant, id, date);
    const asked = date === undefined ? undefined : parseDay(date);
    const received = sumOfReceived([
      ...days.filter(({ day }) => asked === undefined || day === asked),
      waiting,
    ]);
    const gone = Math.max(0, received.events - waiting.events - stored.rows);
    const deleted = date === undefined ? oldestReceived(days, gone) : undefined;
    return { kind, received, waiting, stored, deleted };
  }

  async #stored(
    tenant: string,
    id: string,
    kind: DatasetKind,
    date: string | undefined,
  ): Promise<StoredAmount> {
    const tables = tablesOfKind[kind].map((table) => quoteString(physicalTable(id, table))).join(', ');
    const counted = quoteString(physicalTable(id, countedTable[kind]));
    const day = date === undefined ? '' : ` AND partition = ${quoteString(date)}`;
    const [rows, uncompressedBytes, diskBytes] = await this.#row<readonly [number, number, number]>(
      tenant,
      `SELECT toFloat64(sumIf(rows, table = ${counted})), toFloat64(sum(data_uncompressed_bytes)), toFloat64(sum(bytes_on_disk))
       FROM system.parts WHERE active AND database = ${quoteString(databaseOf(tenant))} AND table IN (${tables})${day}`,
    );
    return { rows, uncompressedBytes, diskBytes };
  }

  #get(tenant: string, name: string): DatasetInfo {
    return existingDataset(this.#options.catalog, tenant, name);
  }

  async #row<Row extends readonly unknown[]>(tenant: string, query: string): Promise<Row> {
    return await orUnavailable(() => selectRow<Row>(this.#options.store, query, tenant));
  }
}

import { selectRow } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { limits } from '../limits/limits.ts';
import { type DatasetKind, databaseOf, physicalTable } from '../model/dataset.ts';

/**
 * Which tables of events have changed: other nodes add columns to them, too. The store keeps the second of a table's
 * last change. By its clock each question begins some seconds before the last one, so that no change falls between two
 * of them; one that is told twice does no harm.
 */
export class ColumnWatch {
  readonly #store: Store;
  /** Seconds since 1970, by the store's clock. */
  #since = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * What has changed since the last question; at the first one, everything.
   * @throws StoreError
   */
  async changed(): Promise<(dataset: WatchedDataset) => boolean> {
    const [now, names] = await selectRow<[number, string[]]>(
      this.#store,
      `SELECT toUnixTimestamp(now()), groupArray(concat(database, '/', name)) FROM system.tables
       WHERE startsWith(database, 't_') AND endsWith(name, '.events')
       AND metadata_modification_time >= fromUnixTimestamp(${this.#since})`,
    );
    this.#since = now - limits.columnWatchOverlapSeconds;
    const changed = new Set(names);
    return ({ tenant, id, kind }) =>
      kind === 'events' && changed.has(`${databaseOf(tenant)}/${physicalTable(id, 'events')}`);
  }
}

export interface WatchedDataset {
  readonly tenant: string;
  readonly id: string;
  readonly kind: DatasetKind;
}

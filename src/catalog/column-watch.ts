import { selectRow } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { limits } from '../limits/limits.ts';
import { type DatasetKind, databaseOf, physicalTable } from '../model/dataset.ts';

/**
 * Finds event tables that have changed, since other nodes add columns too. The store keeps the second of each
 * table's last change. Each request looks back some seconds beyond the previous one, by the store's clock, so
 * that no change is missed. A change that is reported twice does no harm.
 */
export class ColumnWatch {
  readonly #store: Store;
  /** Seconds since 1970, by the store's clock. */
  #since = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The tables that changed since the last call; all of them on the first one.
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

import type { Store } from '../clickhouse/store.ts';
import { datasetStatements } from '../clickhouse/table-definitions.ts';
import type { ColumnSpec } from '../model/column.ts';
import { ColumnWatch } from './column-watch.ts';
import type { DatasetEntries } from './dataset-entries.ts';
import { type Entry, expectRows, learn, rowsArrived } from './dataset-entry.ts';
import type { DatasetIds } from './dataset-ids.ts';
import type { DatasetRegistry, RegisteredDataset } from './dataset-registry.ts';
import { addEventColumns, readColumns, readEventColumns } from './event-table.ts';
import { applyRetention } from './table-retention.ts';

/**
 * The tables and columns of datasets in the store. They are created before the first insert that needs them.
 * Changes of one dataset run one after another; datasets do not wait for each other.
 */
export class DatasetTables {
  readonly #store: Store;
  readonly #datasets: DatasetRegistry;
  readonly #ids: DatasetIds;
  readonly #entries: DatasetEntries;
  readonly #watch: ColumnWatch;

  constructor(store: Store, datasets: DatasetRegistry, ids: DatasetIds, entries: DatasetEntries) {
    this.#store = store;
    this.#datasets = datasets;
    this.#ids = ids;
    this.#entries = entries;
    this.#watch = new ColumnWatch(store);
  }

  /**
   * Creates what is not known to exist. Idempotent, and safe to repeat after any failure.
   * @param forRows rows follow: until they are stored, readers do not see what is created
   * @throws StoreError
   * @throws AppError `tenant_not_found`, `dataset_not_found` if it was deleted
   */
  async ensure(entry: Entry, columns: readonly ColumnSpec[], forRows: boolean): Promise<void> {
    const { tenant, id, kind } = entry;
    const change = async () => {
      // Checked when its turn comes: the dataset may have been deleted while this change waited.
      this.#ids.requireLiving(tenant, id);
      if (forRows) expectRows(entry, columns);
      if (!entry.ready) await this.#prepare(entry, columns);
      if (kind !== 'events') return;
      const options = this.#datasets.optionsOf(tenant, id);
      if (await addEventColumns(this.#store, entry, columns, options)) this.#entries.changed(tenant);
    };
    const done = entry.changing.then(change);
    // `done` reports the failure to the caller; the next change only waits for the end of this one.
    entry.changing = done.catch(() => undefined);
    await done;
  }

  /** The store has the rows for which these columns were ensured. */
  stored(entry: Entry, columns: readonly ColumnSpec[]): void {
    if (rowsArrived(entry, columns)) this.#entries.changed(entry.tenant);
  }

  /** The next `ensure` checks the tables again. */
  forget(entry: Entry): void {
    entry.ready = false;
    entry.columns.clear();
    this.#entries.changed(entry.tenant);
  }

  /**
   * Reads the columns that other nodes have added to these datasets.
   * @throws StoreError
   */
  async learnColumns(datasets: readonly RegisteredDataset[]): Promise<void> {
    const changed = await this.#watch.changed();
    for (const [{ tenant, id, kind }, columns] of await readColumns(this.#store, datasets.filter(changed))) {
      const entry = this.#entries.get(tenant, id, kind);
      if (entry?.ready !== true || columns.every(({ name }) => entry.columns.has(name))) continue;
      learn(entry, columns);
      this.#entries.changed(tenant);
    }
  }

  /**
   * A dataset of events is registered before its table is created: the node that registers it first decides
   * on its options. A dataset of another kind is registered after its tables were created.
   */
  async #prepare(entry: Entry, columns: readonly ColumnSpec[]): Promise<void> {
    const { tenant, id, kind } = entry;
    const note = async () => {
      if (this.#entries.isVisible(entry)) await this.#datasets.register(tenant, id, kind);
    };
    if (kind === 'events') await note();
    const options = this.#datasets.optionsOf(tenant, id);
    for (const statement of datasetStatements(tenant, id, kind, options, columns))
      await this.#store.command(statement);
    if (kind !== 'events') await note();
    const retention = this.#datasets.retentionOf(tenant, id);
    if (retention !== undefined) await applyRetention(this.#store, entry, retention);
    // The table may have existed before, with other columns.
    if (kind === 'events') learn(entry, await readEventColumns(this.#store, entry));
    entry.ready = true;
    this.#entries.changed(tenant);
  }
}

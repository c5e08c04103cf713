import type { Store } from '../clickhouse/store.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import type { MetadataLog } from '../metadata/metadata-log.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import { parseGenerationId } from '../model/generation.ts';
import { defaultLimits, type LimitsInForce } from '../model/tenant-limits.ts';
import { type Claim, claimEntry, DatasetEntries, notLoaded } from './dataset-entries.ts';
import type { CatalogView, DatasetInfo, Entry, KindConflict } from './dataset-entry.ts';
import { DatasetIds } from './dataset-ids.ts';
import type { DatasetOptionsFile } from './dataset-options-file.ts';
import { DatasetRegistry, type RegisteredDataset } from './dataset-registry.ts';
import { DatasetTables } from './dataset-tables.ts';
import { readColumns } from './event-table.ts';
import { ReservedColumns } from './reserved-columns.ts';
import type { HasEnded, TenantHolder } from './tenant-cleaner.ts';
import type { Tenants } from './tenants.ts';

/** What the catalog needs to know about tenants. */
export type CatalogTenants = Pick<Tenants, 'refresh' | 'hasEnded' | 'limitsOf'>;

/**
 * The datasets, their kinds and columns. Held in memory and read from the store as soon as it answers; writes
 * do not wait for that.
 *
 * A dataset is created in three steps, so that no failure leaves half of one behind:
 * 1. `claim`: a decoded write needs it. From here on other kinds are refused. It is not visible yet.
 * 2. `confirm`: its first record is durable in the log. The dataset exists; after a crash it is
 *    found again in the log.
 * 3. `ensure`: before the first insert its tables and columns are created, and the metadata log is told.
 * The claim of a failed write is released, and the dataset is dropped if nobody else claims it.
 *
 * A write that comes before the store was read takes the kind that this node knows, or else its own kind. If
 * the store then says otherwise, the store is right: the dataset keeps its kind, and later writes of the
 * wrong kind are refused. No two kinds share a table name, so rows that were acknowledged with the wrong kind
 * still have tables of their own. They are stored there and `load` reports them; SQL does not show them.
 *
 * Writers identify a dataset by its id (`dataset-ids.ts`), readers by its name. Nothing is stored for what
 * was deleted: writes to a deleted tenant are refused, and records that are on their way to a deleted
 * dataset are dropped.
 */
export class Catalog implements CatalogView, TenantHolder {
  readonly #store: Store;
  readonly #metadata: MetadataLog;
  readonly #tenants: CatalogTenants | undefined;
  /**
   * The datasets of the metadata log. A dataset that is only in this node's write-ahead log is not among
   * them.
   */
  readonly datasets: DatasetRegistry;
  readonly #ids: DatasetIds;
  readonly #entries = new DatasetEntries();
  readonly #tables: DatasetTables;
  #loaded = false;
  /** Datasets of other nodes are known up to this position of the metadata log. */
  #adopted = 0;

  /**
   * @param tenants without it, no tenant is ever deleted and none has limits of its own
   * @param onEnd called when a dataset was deleted, on this node or another one
   * @param kept the options of datasets, for the time before the store was read
   */
  constructor(
    store: Store,
    metadata: MetadataLog,
    tenants?: CatalogTenants,
    onEnd: () => void = () => {},
    kept?: DatasetOptionsFile | undefined,
  ) {
    this.#store = store;
    this.#metadata = metadata;
    this.#tenants = tenants;
    this.datasets = new DatasetRegistry(metadata, onEnd, kept);
    this.#ids = new DatasetIds(this.datasets, tenants);
    for (const { tenant, id } of kept?.datasets ?? []) this.#ids.recover(tenant, id);
    this.#tables = new DatasetTables(store, this.datasets, this.#ids, this.#entries);
  }

  version(tenant: string): number {
    return this.#entries.version(tenant) + this.datasets.versions.of(tenant);
  }

  /** True once the store has been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /**
   * Reads the store, once. May be repeated after a failure.
   * @returns the datasets that were written with another kind before
   * @throws StoreError
   */
  async load(): Promise<readonly KindConflict[]> {
    if (this.#loaded) return [];
    await this.#metadata.prepare();
    await this.#tenants?.refresh();
    await this.datasets.refresh();
    const stored = await readColumns(this.#store, this.#living());
    // In one turn of the event loop: concurrent writes see all of it or nothing.
    const conflicts = stored.flatMap(([dataset, columns]) => this.#entries.adopt(dataset, columns));
    this.#loaded = true;
    for (const tenant of this.#entries.tenants) {
      this.#entries.changed(tenant);
      for (const { id, kind } of this.#entries.of(tenant)) this.recover(tenant, id, kind, true);
    }
    return conflicts;
  }

  /**
   * Reads which datasets other nodes have created and deleted, and which columns they have added. `load` must
   * have succeeded before.
   * @throws StoreError
   */
  async refresh(): Promise<void> {
    if (!this.#loaded) return;
    await this.datasets.refresh();
    await this.#tables.learnColumns(this.#living());
    const { position } = this.datasets;
    if (position === this.#adopted) return;
    const isNews = ({ tenant, id, kind }: RegisteredDataset) => {
      const entry = this.#entries.get(tenant, id, kind);
      return entry === undefined || (kind === 'events' && !entry.ready);
    };
    for (const [dataset, columns] of await readColumns(this.#store, this.#living().filter(isNews))) {
      if (isNews(dataset) && !this.hasEnded(dataset.tenant, dataset.id))
        this.#entries.adopt(dataset, columns);
    }
    // Stays where it is while tables of a new dataset are being created, so that they are looked for again.
    if (!this.#living().some(isNews)) this.#adopted = position;
  }

  get(tenant: string, dataset: string): DatasetInfo | undefined {
    const entry = this.#entries.visible(tenant, this.idOf(tenant, dataset));
    if (entry?.confirmed === true) return entry;
    if (!this.#loaded) throw notLoaded(`whether the dataset ${dataset} exists`);
    return undefined;
  }

  list(tenant: string): readonly DatasetInfo[] {
    if (!this.#loaded) throw notLoaded('which datasets exist');
    return this.#entries
      .of(tenant)
      .filter(
        (entry) => entry.confirmed && this.#entries.isVisible(entry) && !this.hasEnded(tenant, entry.id),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The id of the dataset that a write to this name goes to; presumed while `loaded` is false. */
  idOf(tenant: string, dataset: string): string {
    return this.#ids.of(tenant, dataset);
  }

  /**
   * Claims a dataset for a write of `kind` with these columns, and creates it if it is new. A dataset that
   * was deleted while the write was in progress is accepted: the write came before the deletion.
   * @throws AppError `kind_conflict` naming both kinds, `too_many_datasets`,
   *   `tenant_not_found` if it was deleted
   */
  claim(tenant: string, id: string, kind: DatasetKind, columns: readonly ColumnSpec[]): Claim {
    if (this.hasEnded(tenant)) throw new AppError('tenant_not_found', 'the tenant has been deleted');
    if (this.hasEnded(tenant, id)) return { confirm: () => {}, release: () => {} };
    this.checkKind(tenant, id, kind);
    const entry =
      this.#entries.visible(tenant, id) ??
      this.#entries.makeWithin(this.limitsOfTenant(tenant), tenant, id, kind);
    return claimEntry(this.#entries, entry, columns);
  }

  /**
   * The names of those columns of an events block for which the dataset has no room. They
   * belong in `p_overflow`.
   */
  excess(tenant: string, id: string, columns: readonly ColumnSpec[]): ReadonlySet<string> {
    const reserved = this.#entries.get(tenant, id, 'events')?.reserved ?? new ReservedColumns('events');
    return reserved.excess(columns, this.limitsOf(tenant, parseGenerationId(id).name).maxColumns);
  }

  /** The limits of the tenant's datasets, unless a dataset has its own. */
  limitsOfTenant(tenant: string): LimitsInForce {
    return this.#tenants?.limitsOf(tenant) ?? defaultLimits;
  }

  /**
   * The limits of the dataset with this name, or of the next one to have it. Lower limits do not
   * remove existing data.
   */
  limitsOf(tenant: string, dataset: string): LimitsInForce {
    return this.datasets.limitsOf(tenant, dataset, this.limitsOfTenant(tenant));
  }

  /** The options with which the dataset was created, as far as this node knows; undefined for none. */
  optionsOf(tenant: string, id: string): DatasetOptions | undefined {
    return this.datasets.optionsOf(tenant, id);
  }

  /**
   * Registers a dataset for which an earlier process left records in the log.
   * @param presumed they were written before the store was read
   * @param columns that the records need
   */
  recover(
    tenant: string,
    id: string,
    kind: DatasetKind,
    presumed = false,
    columns: readonly ColumnSpec[] = [],
  ): void {
    this.#ids.recover(tenant, id);
    const destination = this.#ids.destination(tenant, id, presumed);
    if (destination === undefined) return;
    const entry = this.#entries.getOrMake(tenant, destination, kind);
    entry.confirmed = true;
    if (kind === 'events') for (const { name } of columns) entry.reserved.keep(name);
    this.#entries.changed(tenant);
  }

  /** @throws AppError `kind_conflict` if the dataset exists with another kind */
  checkKind(tenant: string, id: string, kind: DatasetKind): void {
    const held = this.#entries.kindOf(tenant, id);
    if (held === undefined || held === kind) return;
    const { name } = parseGenerationId(id);
    throw new AppError(
      'kind_conflict',
      `the dataset ${name} holds ${held}; ${kind} cannot be written to it. Use another dataset`,
    );
  }

  /**
   * Creates the tables and columns that an insert needs. Idempotent, and safe to repeat after any failure.
   * @param forRows rows follow: readers see what is created once they are `stored`
   * @throws StoreError retryable while the store has not been read: its kinds have precedence over ours
   * @throws AppError `tenant_not_found`, `dataset_not_found` if it was deleted
   */
  async ensure(
    tenant: string,
    id: string,
    kind: DatasetKind,
    columns: readonly ColumnSpec[],
    forRows = false,
  ): Promise<void> {
    this.#ids.requireLiving(tenant, id);
    const entry = this.#claimed(tenant, id, kind);
    if (!this.#loaded) {
      throw new StoreError('the store has not answered since the service was started', undefined, undefined);
    }
    await this.#tables.ensure(entry, columns, forRows);
  }

  /** The store has the rows, of all tables of the dataset, for which these columns were ensured. */
  stored(tenant: string, id: string, kind: DatasetKind, columns: readonly ColumnSpec[]): void {
    const entry = this.#entries.get(tenant, id, kind);
    if (entry !== undefined) this.#tables.stored(entry, columns);
  }

  /** Whether the tables of a dataset are known to exist. */
  isReady(tenant: string, id: string, kind: DatasetKind): boolean {
    return this.#entries.get(tenant, id, kind)?.ready === true;
  }

  /**
   * Called when the tables are not as expected: somebody may have dropped a table or a column by hand. The
   * next `ensure` checks them again.
   */
  forget(tenant: string, id: string, kind: DatasetKind): void {
    if (this.hasEnded(tenant, id)) return;
    this.#tables.forget(this.#claimed(tenant, id, kind));
  }

  /**
   * Deletes the dataset with this name for readers and writers. Its tables are removed later
   * (`tenant-cleaner.ts`), and its records in the log are dropped.
   * @returns its id
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  async end(tenant: string, name: string): Promise<string> {
    await this.datasets.catchUp();
    // A dataset that is only in the log counts too. Otherwise its name would still mean the deleted one.
    const ending = this.datasets.get(tenant, name) ?? this.get(tenant, name);
    if (ending === undefined)
      throw new AppError('dataset_not_found', `there is no dataset ${quotedName(name)}`);
    await this.datasets.end(tenant, ending.id);
    return ending.id;
  }

  /** Whether the tenant, or the given dataset of it, was deleted, as far as this node knows. */
  hasEnded(tenant: string, id?: string): boolean {
    return this.#ids.hasEnded(tenant, id);
  }

  /**
   * The id of the dataset that receives what was written under an id; undefined if its rows are dropped.
   * @param presumed some of it was written before the store was read
   */
  destination(tenant: string, id: string, kind: DatasetKind, presumed: boolean): string | undefined {
    const destination = this.#ids.destination(tenant, id, presumed);
    if (destination !== undefined && destination !== id) this.recover(tenant, destination, kind);
    return destination;
  }

  /** Fulfils when no tables of them are being created any more. */
  async forgetEnded(hasEnded: HasEnded): Promise<void> {
    for (const tenant of this.#entries.tenants) {
      const gone = this.#entries.of(tenant).filter(({ id }) => hasEnded(tenant, id));
      for (const entry of gone) this.#entries.remove(entry);
      await Promise.all(gone.map(({ changing }) => changing));
    }
  }

  #living(): readonly RegisteredDataset[] {
    return this.datasets.living().filter(({ tenant }) => !this.hasEnded(tenant));
  }

  #claimed(tenant: string, id: string, kind: DatasetKind): Entry {
    const entry = this.#entries.get(tenant, id, kind);
    if (entry === undefined) throw new Error(`BUG: no claim was confirmed for the dataset ${id}`);
    return entry;
  }
}

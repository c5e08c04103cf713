import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type ColumnSpec, eventTimeColumn } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import {
  type Claim,
  type DatasetInfo,
  type Entry,
  entryKey,
  type KindConflict,
  keyOf,
  learn,
} from './dataset-entry.ts';
import { StoreError } from './errors.ts';
import { addEventColumns, readEventColumns } from './event-table.ts';
import type { DatasetEntry, MetadataLog } from './metadata.ts';
import { datasetStatements } from './schema.ts';
import type { Store } from './store.ts';
import type { TenantHolder } from './tenant-cleaner.ts';
import type { Tenants } from './tenants.ts';
import { TenantVersions } from './versions.ts';

/**
 * What the readers of the catalog need: all of it is in memory. Until the store has been read once, what this
 * node does not know of may still exist.
 */
export interface CatalogView {
  /** Another number whenever anything changes that `get` or `list` tell of the tenant. */
  version(tenant: string): number;
  /** @throws AppError `store_unavailable` when the dataset is not known and the store has not been read */
  get(tenant: string, dataset: string): DatasetInfo | undefined;
  /** @throws AppError `store_unavailable` when the store has not been read */
  list(tenant: string): readonly DatasetInfo[];
}

/**
 * Which datasets exist, of which kind, with which columns. Held in memory, fed from the store as soon as it
 * answers; writes do not wait for that.
 *
 * A dataset comes into being in three steps, so that no failure leaves half of one behind:
 * 1. `claim`: a decoded write wants it. Other kinds are refused from here on. It is not visible yet.
 * 2. `confirm`: its first record is durable in the log. It exists; a crash finds it again through the log.
 * 3. `ensure`: before the first insert its tables are made, and columns added, and the metadata log told.
 * A claim whose write failed is released, and the dataset is forgotten when nobody else claims it.
 *
 * A write that comes before the store was read takes its dataset with the kind that this node knows, or else its
 * own. If the store then says otherwise, the store is right: the dataset is what it was, and later writes of the
 * wrong kind are refused. Those that were acknowledged have tables of their own kind to go to, since no two kinds
 * share a table name. They are stored there and `load` reports them; SQL does not show them.
 *
 * A tenant that has ended has no datasets, and gets none: whatever is still on its way to one is refused.
 */
export class Catalog implements CatalogView, TenantHolder {
  readonly #store: Store;
  readonly #metadata: MetadataLog;
  readonly #tenants: Pick<Tenants, 'refresh' | 'hasEnded'> | undefined;
  /** By tenant, dataset and kind. */
  readonly #entries = new Map<string, Entry>();
  /** The same, so that no tenant waits while others are looked through. */
  readonly #byTenant = new Map<string, Set<Entry>>();
  /** The kind of each dataset; entries of another kind belong to a conflict. */
  readonly #kinds = new Map<string, DatasetKind>();
  readonly #versions = new TenantVersions();
  #loaded = false;

  /** @param tenants without them, no tenant ever ends */
  constructor(store: Store, metadata: MetadataLog, tenants?: Pick<Tenants, 'refresh' | 'hasEnded'>) {
    this.#store = store;
    this.#metadata = metadata;
    this.#tenants = tenants;
  }

  version(tenant: string): number {
    return this.#versions.of(tenant);
  }

  /** True once what the store knows has been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /**
   * Reads what the store knows; does nothing when that has been done. Can be repeated after a failure.
   * @returns the conflicts with what was written before
   * @throws StoreError
   */
  async load(): Promise<readonly KindConflict[]> {
    if (this.#loaded) return [];
    await this.#metadata.prepare();
    await this.#tenants?.refresh();
    const stored: Array<DatasetEntry & { readonly columns: readonly ColumnSpec[] }> = [];
    for (const dataset of await this.#metadata.datasets()) {
      if (this.hasEnded(dataset.tenant)) continue;
      const columns = dataset.kind === 'events' ? await readEventColumns(this.#store, dataset) : [];
      stored.push({ ...dataset, columns });
    }
    // At once, since writes come in meanwhile: they see all of it or nothing.
    const conflicts = stored.flatMap((dataset) => this.#adopt(dataset, dataset.columns));
    this.#loaded = true;
    return conflicts;
  }

  get(tenant: string, dataset: string): DatasetInfo | undefined {
    const entry = this.#visible(tenant, dataset);
    if (entry?.confirmed === true) return entry;
    if (!this.#loaded) throw notLoaded(`whether the dataset ${dataset} exists`);
    return undefined;
  }

  list(tenant: string): readonly DatasetInfo[] {
    if (!this.#loaded) throw notLoaded('which datasets exist');
    return [...(this.#byTenant.get(tenant) ?? [])]
      .filter((entry) => entry.confirmed && this.#isVisible(entry))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Takes a dataset for a write of `kind` with these columns, making it if it is new.
   * @throws AppError `kind_conflict` naming both kinds, `too_many_columns`, `tenant_not_found` if it was deleted
   */
  claim(tenant: string, dataset: string, kind: DatasetKind, columns: readonly ColumnSpec[]): Claim {
    if (this.hasEnded(tenant)) throw new AppError('tenant_not_found', 'the tenant has been deleted');
    this.checkKind(tenant, dataset, kind);
    const entry = this.#visible(tenant, dataset) ?? this.#make(tenant, dataset, kind);
    const added = kind === 'events' ? columns.filter((column) => !entry.promised.has(column.name)) : [];
    if (entry.promised.size + added.length > limits.maxColumnsPerDataset) {
      this.#forgetIfUnused(entry);
      throw new AppError(
        'too_many_columns',
        `the dataset ${dataset} has ${entry.promised.size} columns and the request needs ${added.length} more, ` +
          `such as ${JSON.stringify(added[0]?.name)}; at most ${limits.maxColumnsPerDataset} are allowed`,
      );
    }
    entry.claims += 1;
    let open = true;
    const end = (confirmed: boolean) => {
      if (!open) throw new Error('BUG: a claim was ended twice');
      open = false;
      entry.claims -= 1;
      if (confirmed) {
        if (!entry.confirmed) this.#versions.changed(tenant);
        entry.confirmed = true;
        for (const column of added) entry.promised.add(column.name);
      } else this.#forgetIfUnused(entry);
    };
    return { confirm: () => end(true), release: () => end(false) };
  }

  /** A dataset of which the log holds records from an earlier life of this process. */
  recover(tenant: string, dataset: string, kind: DatasetKind): void {
    if (this.hasEnded(tenant)) return;
    const entry = this.#entry(tenant, dataset, kind) ?? this.#make(tenant, dataset, kind);
    entry.confirmed = true;
    this.#versions.changed(tenant);
  }

  /** @throws AppError `kind_conflict` when the dataset exists with another kind */
  checkKind(tenant: string, dataset: string, kind: DatasetKind): void {
    const held = this.#kinds.get(keyOf(tenant, dataset));
    if (held === undefined || held === kind) return;
    throw new AppError(
      'kind_conflict',
      `the dataset ${dataset} holds ${held}; ${kind} cannot be written to it. Use another dataset`,
    );
  }

  /**
   * Makes the tables and columns that an insert needs. Idempotent; safe to repeat after any failure.
   * @throws StoreError retryable while the store has not been read: first its kinds, then ours
   */
  async ensure(
    tenant: string,
    dataset: string,
    kind: DatasetKind,
    columns: readonly ColumnSpec[],
  ): Promise<void> {
    const entry = this.#entry(tenant, dataset, kind);
    if (entry === undefined) throw new Error(`BUG: no claim was confirmed for the dataset ${dataset}`);
    if (!this.#loaded) {
      throw new StoreError('the store has not answered since the service was started', undefined, undefined);
    }
    const change = async () => {
      // Checked when it is its turn, since `forgetEnded` waits for those whose turn it was before.
      if (this.hasEnded(tenant)) throw new AppError('tenant_not_found', 'the tenant has been deleted');
      if (!entry.ready) {
        for (const statement of datasetStatements(tenant, dataset, kind))
          await this.#store.command(statement);
        if (this.#isVisible(entry)) await this.#metadata.addDataset({ tenant, name: dataset, kind });
        // Also what an earlier life of this process added, when it ended before it told the metadata log.
        if (kind === 'events') learn(entry, await readEventColumns(this.#store, entry));
        entry.ready = true;
        this.#versions.changed(tenant);
      }
      if (kind === 'events') {
        const missing = columns.filter((column) => !entry.columns.has(column.name));
        await addEventColumns(this.#store, entry, missing);
        learn(entry, missing);
        if (missing.length > 0) this.#versions.changed(tenant);
      }
    };
    const done = entry.changing.then(change);
    // The caller learns of a failure through `done`; the next change only waits for this one to end.
    entry.changing = done.catch(() => undefined);
    await done;
  }

  /**
   * The tables are not what they should be: somebody may have dropped one, or a column, by hand. The next `ensure`
   * looks at all of it again.
   */
  forget(tenant: string, dataset: string, kind: DatasetKind): void {
    const entry = this.#entry(tenant, dataset, kind);
    if (entry === undefined) throw new Error(`BUG: no claim was confirmed for the dataset ${dataset}`);
    entry.ready = false;
    entry.columns.clear();
    this.#versions.changed(tenant);
  }

  /** Whether that tenant was deleted, as far as this node knows. Nothing of it is to be stored any more. */
  hasEnded(tenant: string): boolean {
    return this.#tenants?.hasEnded(tenant) === true;
  }

  /** Fulfils when nothing makes tables of theirs any more. */
  async forgetEnded(hasEnded: (tenant: string) => boolean): Promise<void> {
    for (const [tenant, entries] of this.#byTenant) {
      if (!hasEnded(tenant)) continue;
      const gone = [...entries];
      for (const entry of gone) this.#forget(entry);
      this.#byTenant.delete(tenant);
      this.#versions.forget(tenant);
      await Promise.all(gone.map(({ changing }) => changing));
    }
  }

  /** Takes what the store says about a dataset. */
  #adopt({ tenant, name, kind }: DatasetEntry, columns: readonly ColumnSpec[]): KindConflict[] {
    const written = this.#kinds.get(keyOf(tenant, name));
    const entry = this.#entry(tenant, name, kind) ?? this.#make(tenant, name, kind);
    this.#kinds.set(keyOf(tenant, name), kind);
    entry.confirmed = true;
    entry.ready = true;
    learn(entry, columns);
    this.#versions.changed(tenant);
    return written === undefined || written === kind ? [] : [{ tenant, dataset: name, kind, written }];
  }

  #make(tenant: string, name: string, kind: DatasetKind): Entry {
    const entry: Entry = {
      tenant,
      name,
      kind,
      columns: new Map(),
      promised: new Set(kind === 'events' ? [eventTimeColumn.name] : []),
      claims: 0,
      confirmed: false,
      ready: false,
      changing: Promise.resolve(),
    };
    this.#entries.set(entryKey(tenant, name, kind), entry);
    const siblings = this.#byTenant.get(tenant) ?? new Set();
    this.#byTenant.set(tenant, siblings.add(entry));
    // The first kind decides, until the store says otherwise.
    if (!this.#kinds.has(keyOf(tenant, name))) this.#kinds.set(keyOf(tenant, name), kind);
    return entry;
  }

  #entry(tenant: string, name: string, kind: DatasetKind): Entry | undefined {
    return this.#entries.get(entryKey(tenant, name, kind));
  }

  #visible(tenant: string, name: string): Entry | undefined {
    const kind = this.#kinds.get(keyOf(tenant, name));
    return kind === undefined ? undefined : this.#entry(tenant, name, kind);
  }

  #isVisible(entry: Entry): boolean {
    return this.#visible(entry.tenant, entry.name) === entry;
  }

  #forgetIfUnused(entry: Entry): void {
    if (entry.claims === 0 && !entry.confirmed) this.#forget(entry);
  }

  #forget(entry: Entry): void {
    if (this.#isVisible(entry)) this.#kinds.delete(keyOf(entry.tenant, entry.name));
    this.#entries.delete(entryKey(entry.tenant, entry.name, entry.kind));
    this.#byTenant.get(entry.tenant)?.delete(entry);
    this.#versions.changed(entry.tenant);
  }
}

const notLoaded = (what: string): AppError =>
  new AppError('store_unavailable', `${what} is not known: the store has not answered since the start`);

import { AppError } from '../errors.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { limits } from '../limits.ts';
import { type ColumnSpec, eventTimeColumn } from '../model/column.ts';
import { type DatasetKind, databaseOf, physicalTable } from '../model/dataset.ts';
import type { MetadataLog } from './metadata.ts';
import { datasetStatements } from './schema.ts';
import type { Store } from './store.ts';

/** A dataset as this node knows it. */
export interface DatasetInfo {
  readonly tenant: string;
  readonly name: string;
  readonly kind: DatasetKind;
  /** Physical columns of its events table that exist in the store, by name; empty for other kinds. */
  readonly columns: ReadonlyMap<string, ColumnSpec>;
  /** True once its tables exist in the store. */
  readonly ready: boolean;
}

/** What the readers of the catalog need: all of it is in memory. */
export interface CatalogView {
  get(tenant: string, dataset: string): DatasetInfo | undefined;
  list(tenant: string): readonly DatasetInfo[];
}

interface Entry extends DatasetInfo {
  readonly columns: Map<string, ColumnSpec>;
  /** Columns that acknowledged records need; a superset of `columns`. Bounds what a dataset can grow to. */
  readonly promised: Set<string>;
  /** Writes that claimed the dataset and have not ended. */
  claims: number;
  /** True once a record of it is in the log or in the store: from then on it exists for everybody. */
  confirmed: boolean;
  ready: boolean;
  /** Schema changes of one dataset run one after another. */
  changing: Promise<void>;
}

/**
 * Which datasets exist, of which kind, with which columns. Held in memory, fed from the store at start.
 *
 * A dataset comes into being in three steps, so that no failure leaves half of one behind:
 * 1. `claim`: a decoded write wants it. Other kinds are refused from here on. It is not visible yet.
 * 2. `confirm`: its first record is durable in the log. It exists; a crash finds it again through the log.
 * 3. `ensure`: before the first insert its tables are made, and columns added, and the metadata log told.
 * A claim whose write failed is released, and the dataset is forgotten when nobody else claims it.
 */
export class Catalog implements CatalogView {
  readonly #store: Store;
  readonly #metadata: MetadataLog;
  readonly #entries = new Map<string, Entry>();

  constructor(store: Store, metadata: MetadataLog) {
    this.#store = store;
    this.#metadata = metadata;
  }

  /** Reads what the store knows. Called once, before anything else. */
  async load(): Promise<void> {
    await this.#metadata.prepare();
    for (const { tenant, name, kind } of await this.#metadata.datasets()) {
      const entry = this.#make(tenant, name, kind);
      entry.confirmed = true;
      entry.ready = true;
      if (kind === 'events') await this.#learnColumns(entry);
    }
  }

  get(tenant: string, dataset: string): DatasetInfo | undefined {
    const entry = this.#entries.get(keyOf(tenant, dataset));
    return entry?.confirmed === true ? entry : undefined;
  }

  list(tenant: string): readonly DatasetInfo[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.tenant === tenant && entry.confirmed)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Takes a dataset for a write of `kind` with these columns, making it if it is new.
   * @throws AppError `kind_conflict` naming both kinds, `too_many_columns`
   */
  claim(tenant: string, dataset: string, kind: DatasetKind, columns: readonly ColumnSpec[]): Claim {
    const entry = this.#entries.get(keyOf(tenant, dataset)) ?? this.#make(tenant, dataset, kind);
    checkKind(entry, kind);
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
        entry.confirmed = true;
        for (const column of added) entry.promised.add(column.name);
      } else this.#forgetIfUnused(entry);
    };
    return { confirm: () => end(true), release: () => end(false) };
  }

  /** A dataset of which the log holds records from an earlier life of this process. */
  recover(tenant: string, dataset: string, kind: DatasetKind): void {
    const entry = this.#entries.get(keyOf(tenant, dataset)) ?? this.#make(tenant, dataset, kind);
    entry.confirmed = true;
  }

  /** @throws AppError `kind_conflict` when the dataset exists with another kind */
  checkKind(tenant: string, dataset: string, kind: DatasetKind): void {
    const entry = this.#entries.get(keyOf(tenant, dataset));
    if (entry !== undefined) checkKind(entry, kind);
  }

  /**
   * Makes the tables and columns that an insert needs. Idempotent; safe to repeat after any failure.
   * @throws StoreError
   */
  ensure(tenant: string, dataset: string, kind: DatasetKind, columns: readonly ColumnSpec[]): Promise<void> {
    const entry = this.#entries.get(keyOf(tenant, dataset));
    if (entry === undefined) throw new Error(`BUG: no claim was confirmed for the dataset ${dataset}`);
    const change = async () => {
      if (!entry.ready) {
        for (const statement of datasetStatements(tenant, dataset, kind))
          await this.#store.command(statement);
        await this.#metadata.addDataset({ tenant, name: dataset, kind });
        // Also what an earlier life of this process added, when it ended before it told the metadata log.
        if (kind === 'events') await this.#learnColumns(entry);
        entry.ready = true;
      }
      if (kind === 'events') await this.#addColumns(entry, columns);
    };
    const done = entry.changing.then(change);
    // The caller learns of a failure through `done`; the next change only waits for this one to end.
    entry.changing = done.catch(() => undefined);
    return done;
  }

  async #addColumns(entry: Entry, columns: readonly ColumnSpec[]): Promise<void> {
    const missing = columns.filter((column) => !entry.columns.has(column.name));
    if (missing.length === 0) return;
    const added = missing.map(
      (column) => `ADD COLUMN IF NOT EXISTS ${quoteIdentifier(column.name)} ${column.type}`,
    );
    const database = quoteIdentifier(databaseOf(entry.tenant));
    const table = quoteIdentifier(physicalTable(entry.name, 'events'));
    await this.#store.command(`ALTER TABLE ${database}.${table} ${added.join(', ')}`);
    for (const column of missing) entry.columns.set(column.name, column);
  }

  async #learnColumns(entry: Entry): Promise<void> {
    const database = quoteString(databaseOf(entry.tenant));
    const table = quoteString(physicalTable(entry.name, 'events'));
    const bytes = await this.#store.select(
      `SELECT name, type FROM system.columns WHERE database = ${database} AND table = ${table} ORDER BY position`,
      'JSONCompactEachRow',
    );
    for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
      if (line === '') continue;
      const [name, type] = JSON.parse(line) as [string, string];
      entry.columns.set(name, { name, type });
      entry.promised.add(name);
    }
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
    this.#entries.set(keyOf(tenant, name), entry);
    return entry;
  }

  #forgetIfUnused(entry: Entry): void {
    if (entry.claims === 0 && !entry.confirmed) this.#entries.delete(keyOf(entry.tenant, entry.name));
  }
}

/** A dataset taken for a write; ended once, either way. */
export interface Claim {
  /** The record is durable. */
  confirm(): void;
  /** Nothing was written. */
  release(): void;
}

const keyOf = (tenant: string, dataset: string): string => `${tenant}/${dataset}`;

function checkKind(entry: DatasetInfo, kind: DatasetKind): void {
  if (entry.kind === kind) return;
  throw new AppError(
    'kind_conflict',
    `the dataset ${entry.name} holds ${entry.kind}; ${kind} cannot be written to it. Use another dataset`,
  );
}

import { AppError } from '../errors.ts';
import type { ColumnSpec } from '../model/column.ts';
import { auditDataset, type DatasetKind } from '../model/dataset.ts';
import { parseGenerationId } from '../model/generation.ts';
import { type LimitsInForce, limitDetails } from '../model/tenant-limits.ts';
import { type Entry, type KindConflict, learn } from './dataset-entry.ts';
import type { RegisteredDataset } from './dataset-registry.ts';
import { ReservedColumns } from './reserved-columns.ts';
import { TenantVersions } from './tenant-versions.ts';

const keyOf = (tenant: string, id: string): string => `${tenant}/${id}`;
const entryKey = (tenant: string, id: string, kind: DatasetKind): string => `${keyOf(tenant, id)}/${kind}`;

/** The entries of a catalog, and the kind of each dataset. */
export class DatasetEntries {
  /** By tenant, id and kind. */
  readonly #entries = new Map<string, Entry>();
  /** The same entries by tenant, so that a listing does not look through other tenants. */
  readonly #byTenant = new Map<string, Set<Entry>>();
  /** The kind of each dataset. An entry of another kind is part of a conflict. */
  readonly #kinds = new Map<string, DatasetKind>();

  readonly #versions = new TenantVersions();

  /** Changes whenever something visible of the tenant changes. */
  version(tenant: string): number {
    return this.#versions.of(tenant);
  }

  /** Must be called when an entry has changed. */
  changed(tenant: string): void {
    this.#versions.changed(tenant);
  }

  get tenants(): readonly string[] {
    return [...this.#byTenant.keys()];
  }

  of(tenant: string): readonly Entry[] {
    return [...(this.#byTenant.get(tenant) ?? [])];
  }

  kindOf(tenant: string, id: string): DatasetKind | undefined {
    return this.#kinds.get(keyOf(tenant, id));
  }

  setKind(tenant: string, id: string, kind: DatasetKind): void {
    this.#kinds.set(keyOf(tenant, id), kind);
  }

  get(tenant: string, id: string, kind: DatasetKind): Entry | undefined {
    return this.#entries.get(entryKey(tenant, id, kind));
  }

  /** The entry with the dataset's kind. */
  visible(tenant: string, id: string): Entry | undefined {
    const kind = this.kindOf(tenant, id);
    return kind === undefined ? undefined : this.get(tenant, id, kind);
  }

  isVisible(entry: Entry): boolean {
    return this.visible(entry.tenant, entry.id) === entry;
  }

  make(tenant: string, id: string, kind: DatasetKind): Entry {
    const entry: Entry = {
      tenant,
      name: parseGenerationId(id).name,
      id,
      kind,
      columns: new Map(),
      reserved: new ReservedColumns(kind),
      claims: 0,
      confirmed: false,
      ready: false,
      arriving: undefined,
      changing: Promise.resolve(),
    };
    this.#entries.set(entryKey(tenant, id, kind), entry);
    const siblings = this.#byTenant.get(tenant) ?? new Set();
    this.#byTenant.set(tenant, siblings.add(entry));
    // The first write decides the kind, until the store says otherwise.
    if (this.kindOf(tenant, id) === undefined) this.setKind(tenant, id, kind);
    return entry;
  }

  getOrMake(tenant: string, id: string, kind: DatasetKind): Entry {
    return this.get(tenant, id, kind) ?? this.make(tenant, id, kind);
  }

  /**
   * Takes a dataset as the store has it.
   * @returns the conflict with earlier writes, if there is one
   */
  adopt({ tenant, name, id, kind }: RegisteredDataset, columns: readonly ColumnSpec[]): KindConflict[] {
    const written = this.kindOf(tenant, id);
    const entry = this.getOrMake(tenant, id, kind);
    this.setKind(tenant, id, kind);
    entry.confirmed = true;
    // An events table has columns as soon as it exists. Without one, its creator has not
    // created the table yet.
    entry.ready = kind !== 'events' || columns.length > 0;
    learn(entry, columns);
    this.changed(tenant);
    return written === undefined || written === kind ? [] : [{ tenant, dataset: name, kind, written }];
  }

  remove(entry: Entry): void {
    const { tenant, id, kind } = entry;
    if (this.isVisible(entry)) this.#kinds.delete(keyOf(tenant, id));
    this.#entries.delete(entryKey(tenant, id, kind));
    const siblings = this.#byTenant.get(tenant);
    siblings?.delete(entry);
    if (siblings?.size === 0) this.#byTenant.delete(tenant);
    this.changed(tenant);
  }

  /**
   * Creates an entry for a write.
   * @throws AppError `too_many_datasets`
   */
  makeWithin(inForce: LimitsInForce, tenant: string, id: string, kind: DatasetKind): Entry {
    const { maxDatasets } = inForce;
    const count = this.#byTenant.get(tenant)?.size ?? 0;
    // The service's own dataset is always allowed.
    if (count < maxDatasets || id === auditDataset) return this.make(tenant, id, kind);
    throw new AppError(
      'too_many_datasets',
      `there are ${count} datasets; at most ${maxDatasets} are allowed`,
      { details: limitDetails('maxDatasets', inForce) },
    );
  }

  removeIfUnused(entry: Entry): void {
    if (entry.claims === 0 && !entry.confirmed) this.remove(entry);
  }
}

/** A claim of a write on a dataset. Call exactly one of the methods, once. */
export interface Claim {
  /** The record is durable. */
  confirm(): void;
  /** Nothing was written. */
  release(): void;
}

/** Claims a dataset for a write with these columns. */
export function claimEntry(entries: DatasetEntries, entry: Entry, columns: readonly ColumnSpec[]): Claim {
  const endColumns = entry.reserved.take(entry.kind === 'events' ? columns : []);
  entry.claims += 1;
  let open = true;
  const end = (confirmed: boolean) => {
    if (!open) throw new Error('BUG: a claim was ended twice');
    open = false;
    entry.claims -= 1;
    endColumns(confirmed);
    if (confirmed) {
      if (!entry.confirmed) entries.changed(entry.tenant);
      entry.confirmed = true;
    } else entries.removeIfUnused(entry);
  };
  return { confirm: () => end(true), release: () => end(false) };
}

export const notLoaded = (what: string): AppError =>
  new AppError('store_unavailable', `${what} is not known: the store has not answered since the start`);

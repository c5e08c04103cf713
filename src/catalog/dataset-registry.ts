import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { systemClock } from '../lib/clock.ts';
import { quotedName } from '../lib/credential-shape.ts';
import type { MetadataKey, MetadataLog } from '../metadata/metadata-log.ts';
import { MetadataReplica } from '../metadata/metadata-replica.ts';
import { type DatasetKind, tablesOfKind } from '../model/dataset.ts';
import { narrowed, type OwnDatasetLimits, readDatasetLimits } from '../model/dataset-limits.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import { generationId, parseGenerationId } from '../model/generation.ts';
import type { Retention } from '../model/retention.ts';
import { type LimitsInForce, showLimits } from '../model/tenant-limits.ts';
import type { DatasetOptionsFile } from './dataset-options-file.ts';
import { TenantVersions } from './tenant-versions.ts';

/** A dataset that has not been deleted, as the metadata log has it. */
export interface RegisteredDataset {
  readonly tenant: string;
  readonly name: string;
  /** The id under which its tables and records are stored. */
  readonly id: string;
  readonly kind: DatasetKind;
  /** ISO 8601, UTC; undefined if it was created by a version that did not record it. */
  readonly createdAt: string | undefined;
  /** Undefined: rows are kept for ever. */
  readonly retention: Retention | undefined;
  /** The options with which it was created; undefined for none. */
  readonly options: DatasetOptions | undefined;
  /** Undefined: the limits of its tenant. */
  readonly limits: OwnDatasetLimits | undefined;
}

/** The effective limits of a dataset, valid as long as the tenant's limits are `tenant`. */
interface NarrowedLimits {
  readonly tenant: LimitsInForce;
  readonly dataset: LimitsInForce;
}

/** All datasets that have had a name. Only the last one can still exist. */
interface Named {
  readonly generation: number;
  /** Undefined once it was deleted. */
  readonly living: RegisteredDataset | undefined;
}

/**
 * The value of a record. The record of a deleted dataset stays and counts the datasets that have had its
 * name.
 */
type Value = LivingValue | { readonly ended: number };

interface LivingValue {
  readonly kind: DatasetKind;
  readonly generation?: number;
  readonly createdAt?: string | undefined;
  readonly retention?: Retention | undefined;
  readonly options?: DatasetOptions | undefined;
  /** As written by `showLimits`. */
  readonly limits?: Readonly<Record<string, number | string>> | undefined;
}

/**
 * The datasets that exist or have existed, in memory, read from the metadata log.
 *
 * The log numbers the datasets of each name, so that all nodes give a dataset the same id. Names are never
 * forgotten: their entries stay in the log.
 */
export class DatasetRegistry {
  readonly #replica: MetadataReplica;
  readonly #onEnd: () => void;
  readonly #kept: DatasetOptionsFile | undefined;
  readonly #named = new Map<string, Named>();
  /**
   * The last lookup: one request looks up the same dataset several times, and most follow a
   * request to the same one.
   */
  #last: { readonly tenant: string; readonly name: string; readonly named: Named | undefined } | undefined;
  /** How many datasets of each name had been deleted when the log was first read. */
  readonly #endedAtFirst = new Map<string, number>();
  /** Effective limits of datasets with limits of their own: read by each request, changed hardly ever. */
  readonly #narrowed = new WeakMap<RegisteredDataset, NarrowedLimits>();
  /** Versions that change with each change that was read. */
  readonly versions = new TenantVersions();

  /**
   * @param onEnd called when a dataset was deleted, on this node or another one; `hasEnded` is true by then
   * @param kept the options of datasets, for the time before the log was read
   */
  constructor(log: MetadataLog, onEnd: () => void, kept?: DatasetOptionsFile | undefined) {
    this.#onEnd = onEnd;
    this.#kept = kept;
    this.#replica = new MetadataReplica(log, ['dataset'], (key, value) => this.#apply(key, value));
  }

  /** The log has been read up to this position. */
  get position(): number {
    return this.#replica.position;
  }

  /**
   * Reads the changes since the last call. The tables of the metadata log must exist.
   * @throws StoreError
   */
  async refresh(): Promise<void> {
    await this.#replica.refresh();
    await this.#keepOptions();
  }

  /**
   * Like `refresh`, for callers that cannot continue without it.
   * @throws AppError `store_unavailable`
   */
  catchUp(): Promise<void> {
    return this.#replica.catchUp();
  }

  living(): readonly RegisteredDataset[] {
    return [...this.#named.values()].flatMap(({ living }) => living ?? []);
  }

  get(tenant: string, name: string): RegisteredDataset | undefined {
    return this.#nameOf(tenant, name)?.living;
  }

  retentionOf(tenant: string, id: string): Retention | undefined {
    const living = this.get(tenant, parseGenerationId(id).name);
    return living?.id === id ? living.retention : undefined;
  }

  optionsOf(tenant: string, id: string): DatasetOptions | undefined {
    if (!this.#replica.loaded) return this.#kept?.of(tenant, id);
    const living = this.get(tenant, parseGenerationId(id).name);
    return living?.id === id ? living.options : undefined;
  }

  /**
   * The limits of the dataset with this name, as far as the log has been read.
   * @param tenantLimits the limits of its tenant
   */
  limitsOf(tenant: string, name: string, tenantLimits: LimitsInForce): LimitsInForce {
    const living = this.get(tenant, name);
    if (living?.limits === undefined) return tenantLimits;
    const known = this.#narrowed.get(living);
    if (known?.tenant === tenantLimits) return known.dataset;
    const dataset = narrowed(tenantLimits, living.limits);
    this.#narrowed.set(living, { tenant: tenantLimits, dataset });
    return dataset;
  }

  /** The id of the dataset with this name, or of the next one to have it; undefined for an unknown name. */
  idOf(tenant: string, name: string): string | undefined {
    const named = this.#nameOf(tenant, name);
    if (named === undefined) return undefined;
    return named.living?.id ?? generationId(name, named.generation + 1);
  }

  /** Whether a dataset of that id was deleted. */
  hasEnded(tenant: string, id: string): boolean {
    const { name, generation } = parseGenerationId(id);
    const named = this.#nameOf(tenant, name);
    if (named === undefined) return false;
    return generation < named.generation || (generation === named.generation && named.living === undefined);
  }

  /** Whether the dataset was already deleted when this process first read the log. */
  hadEnded(tenant: string, id: string): boolean {
    const { name, generation } = parseGenerationId(id);
    return generation <= (this.#endedAtFirst.get(keyOf(tenant, name)) ?? 0);
  }

  /**
   * Registers a dataset. One that exists, or has existed, is left as it is.
   * @returns whether it was not registered before
   * @throws StoreError
   */
  async register(
    tenant: string,
    id: string,
    kind: DatasetKind,
    options?: DatasetOptions | undefined,
  ): Promise<boolean> {
    const { name, generation } = parseGenerationId(id);
    const createdAt = new Date(systemClock.nowMicros() / 1000).toISOString();
    const isNew = (): boolean => (this.#nameOf(tenant, name)?.generation ?? 0) < generation;
    try {
      while (isNew()) {
        if (await this.#change(tenant, name, { kind, generation, createdAt, options })) return true;
      }
      return false;
    } catch (error) {
      throw error instanceof AppError && error.cause instanceof StoreError ? error.cause : error;
    }
  }

  /**
   * Deletes a dataset, even one that was never registered. No effect on one that was deleted before.
   * @throws AppError `store_unavailable`
   */
  async end(tenant: string, id: string): Promise<void> {
    const { name, generation } = parseGenerationId(id);
    const goesOn = (): boolean => {
      const named = this.#nameOf(tenant, name);
      return named === undefined || named.generation < generation || named.living?.id === id;
    };
    while (goesOn()) await this.#change(tenant, name, { ended: generation });
  }

  /**
   * Sets how long a dataset keeps its rows.
   * @throws AppError `dataset_not_found` if it was deleted, `store_unavailable`
   */
  setRetention(tenant: string, id: string, retention: Retention | undefined): Promise<void> {
    return this.#amend(tenant, id, { retention });
  }

  /**
   * Replaces the dataset's own limits.
   * @throws AppError `dataset_not_found` if it was deleted, `store_unavailable`
   */
  setLimits(tenant: string, id: string, own: OwnDatasetLimits): Promise<void> {
    return this.#amend(tenant, id, { limits: Object.keys(own).length === 0 ? undefined : showLimits(own) });
  }

  /** Changes a part of a dataset's record; concurrent changes of other parts are kept. */
  async #amend(
    tenant: string,
    id: string,
    change: Pick<LivingValue, 'retention'> | Pick<LivingValue, 'limits'>,
  ): Promise<void> {
    const { name, generation } = parseGenerationId(id);
    let made = false;
    while (!made) {
      const living = this.get(tenant, name);
      if (living?.id !== id)
        throw new AppError('dataset_not_found', `there is no dataset ${quotedName(name)}`);
      const { kind, createdAt, retention, options, limits } = living;
      const noted = { kind, generation, createdAt, retention, options, limits: limits && showLimits(limits) };
      made = await this.#change(tenant, name, { ...noted, ...change });
    }
  }

  /** Runs before a change is acknowledged, and as soon as a change of another node was read. */
  async #keepOptions(): Promise<void> {
    if (this.#kept === undefined) return;
    const withOptions = this.living().flatMap(({ tenant, id, options }) =>
      options === undefined ? [] : [{ tenant, id, options }],
    );
    await this.#kept.keep(withOptions);
  }

  /** Tries a change; false if another writer was first. */
  async #change(tenant: string, name: string, value: Value): Promise<boolean> {
    const key: MetadataKey = { tenant, kind: 'dataset', key: name };
    const seen = this.#replica.get(tenant, key.kind, key.key);
    const made = await this.#replica.change(key, JSON.stringify(value), seen);
    await this.#keepOptions();
    return made;
  }

  #nameOf(tenant: string, name: string): Named | undefined {
    const last = this.#last;
    if (last !== undefined && last.name === name && last.tenant === tenant) return last.named;
    const named = this.#named.get(keyOf(tenant, name));
    this.#last = { tenant, name, named };
    return named;
  }

  #setName(tenant: string, name: string, named: Named): void {
    this.#named.set(keyOf(tenant, name), named);
    this.#last = undefined;
  }

  #apply({ tenant, key: name }: MetadataKey, text: string | undefined): void {
    if (text === undefined) throw new Error('BUG: the record of a dataset was removed from the metadata log');
    const value = JSON.parse(text) as Value;
    this.versions.changed(tenant);
    if ('ended' in value) {
      this.#setName(tenant, name, { generation: value.ended, living: undefined });
      if (!this.#replica.loaded) this.#endedAtFirst.set(keyOf(tenant, name), value.ended);
      this.#onEnd();
      return;
    }
    const { kind, generation = 1, createdAt, retention, options } = value;
    const limits = value.limits && readDatasetLimits(value.limits);
    if (!Object.hasOwn(tablesOfKind, kind)) {
      throw new Error(`the metadata log has a dataset of the unknown kind ${kind}`);
    }
    const id = generationId(name, generation);
    const living = { tenant, name, id, kind, createdAt, retention, options, limits };
    this.#setName(tenant, name, { generation, living });
  }
}

const keyOf = (tenant: string, name: string): string => `${tenant}/${name}`;

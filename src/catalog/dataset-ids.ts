import { AppError } from '../errors.ts';
import { generationId, parseGenerationId } from '../model/generation.ts';
import type { DatasetRegistry } from './dataset-registry.ts';
import type { Tenants } from './tenants.ts';

/**
 * Resolves the name of a dataset to its id, for writers.
 *
 * A write resolves its name once, before it is decoded. A write that starts after a deletion therefore gets
 * another id, and records of the deleted id are dropped, including those of writes that were in progress.
 *
 * Before the store was read, a writer can only presume that the name means what it meant before. If the first
 * read of the metadata log shows that the dataset was deleted, these records go to its successor: the dataset
 * that has the name then, or the next one to have it. A dataset that is deleted after that has no successor.
 */
export class DatasetIds {
  readonly #datasets: DatasetRegistry;
  readonly #tenants: Pick<Tenants, 'hasEnded'> | undefined;
  /** The newest id of each name that an earlier process of this node used. */
  readonly #recovered = new Map<string, string>();

  /** @param tenants without it, no tenant is ever deleted */
  constructor(datasets: DatasetRegistry, tenants: Pick<Tenants, 'hasEnded'> | undefined) {
    this.#datasets = datasets;
    this.#tenants = tenants;
  }

  /** The id of the dataset that a write to this name goes to; presumed until the store was read. */
  of(tenant: string, name: string): string {
    return (
      this.#datasets.idOf(tenant, name) ?? this.#recovered.get(keyOf(tenant, name)) ?? generationId(name, 1)
    );
  }

  /** Registers an id that an earlier process used, from records in the log or from the options file. */
  recover(tenant: string, id: string): void {
    const { name, generation } = parseGenerationId(id);
    const known = this.#recovered.get(keyOf(tenant, name));
    if (known !== undefined && parseGenerationId(known).generation > generation) return;
    this.#recovered.set(keyOf(tenant, name), id);
  }

  /** Whether the tenant, or the given dataset of it, was deleted, as far as this node knows. */
  hasEnded(tenant: string, id?: string): boolean {
    if (this.#tenants?.hasEnded(tenant) === true) return true;
    return id !== undefined && this.#datasets.hasEnded(tenant, id);
  }

  /** @throws AppError `tenant_not_found`, `dataset_not_found` */
  requireLiving(tenant: string, id: string): void {
    if (this.hasEnded(tenant)) throw new AppError('tenant_not_found', 'the tenant has been deleted');
    if (this.hasEnded(tenant, id)) throw new AppError('dataset_not_found', 'the dataset has been deleted');
  }

  /**
   * The id of the dataset that receives what was written under an id; undefined if its rows are dropped.
   * @param presumed some of it was written before the store was read
   */
  destination(tenant: string, id: string, presumed: boolean): string | undefined {
    if (!this.hasEnded(tenant, id)) return id;
    if (this.hasEnded(tenant) || !presumed || !this.#datasets.hadEnded(tenant, id)) return undefined;
    return this.of(tenant, parseGenerationId(id).name);
  }
}

const keyOf = (tenant: string, dataset: string): string => `${tenant}/${dataset}`;

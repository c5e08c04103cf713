import { AppError } from '../errors.ts';
import { parseGenerationId } from '../model/generation.ts';
import type { DatasetRegistry } from './dataset-registry.ts';
import type { Tenants } from './tenants.ts';

/**
 * Which dataset a name means, to those who write.
 *
 * A write asks for the id of a name once, before it is decoded, and keeps it. So what is written after a deletion has
 * another id, and what was written before it goes nowhere, also what was under way.
 *
 * Who writes before the store was read can only presume that the name means what it meant before. If the dataset turns
 * out to have been deleted when the metadata log is first read, these records belong to its heir: the dataset that has
 * the name then, or the next one. A dataset that is deleted after that has no heir.
 */
export class DatasetIds {
  readonly #datasets: DatasetRegistry;
  readonly #tenants: Pick<Tenants, 'hasEnded'> | undefined;
  /** The newest id of each name that an earlier life of this process has left. */
  readonly #recovered = new Map<string, string>();

  /** @param tenants without them, no tenant ever ends */
  constructor(datasets: DatasetRegistry, tenants: Pick<Tenants, 'hasEnded'> | undefined) {
    this.#datasets = datasets;
    this.#tenants = tenants;
  }

  /** The id of the dataset that a write to this name goes to; presumed until the store was read. */
  of(tenant: string, name: string): string {
    return this.#datasets.idOf(tenant, name) ?? this.#recovered.get(keyOf(tenant, name)) ?? name;
  }

  /** An earlier life of this process knew this id: the log holds records under it, or it is written down. */
  recover(tenant: string, id: string): void {
    const { name, generation } = parseGenerationId(id);
    const known = this.#recovered.get(keyOf(tenant, name));
    if (known !== undefined && parseGenerationId(known).generation > generation) return;
    this.#recovered.set(keyOf(tenant, name), id);
  }

  /** Whether that tenant, or that dataset of it, was deleted, as far as this node knows. */
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
   * The id of the dataset that takes what was written under an id; undefined if nothing is to be stored of it any more.
   * @param presumed some of it was written before the store was read
   */
  destination(tenant: string, id: string, presumed: boolean): string | undefined {
    if (!this.hasEnded(tenant, id)) return id;
    if (this.hasEnded(tenant) || !presumed || !this.#datasets.hadEnded(tenant, id)) return undefined;
    return this.of(tenant, parseGenerationId(id).name);
  }
}

const keyOf = (tenant: string, dataset: string): string => `${tenant}/${dataset}`;

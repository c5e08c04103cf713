import type { Catalog } from '../catalog/catalog.ts';
import type { DatasetKind } from '../model/dataset.ts';
import { type DatasetLimitName, datasetLimitNames, parseDatasetLimits } from '../model/dataset-limits.ts';
import type { LimitsInForce } from '../model/tenant-limits.ts';
import type { DatasetChanges } from './dataset-changes.ts';
import { existingDataset, orUnavailable } from './existing.ts';

export interface DatasetLimitsOptions {
  readonly catalog: Pick<Catalog, 'get' | 'ensure' | 'datasets' | 'limitsOf' | 'limitsOfTenant'>;
  readonly changes: DatasetChanges;
}

/** What a dataset may have. */
export interface ShownLimits {
  readonly inForce: LimitsInForce;
  /** Those that mean something for a dataset of its kind. */
  readonly names: readonly DatasetLimitName[];
}

/** Limits of single datasets. Callers have checked that it is allowed. */
export class DatasetLimits {
  readonly #catalog: DatasetLimitsOptions['catalog'];
  readonly #changes: DatasetChanges;

  constructor({ catalog, changes }: DatasetLimitsOptions) {
    this.#catalog = catalog;
    this.#changes = changes;
  }

  /** @throws AppError `dataset_not_found`, `store_unavailable` */
  get(tenant: string, name: string): ShownLimits {
    return this.#shown(tenant, name, existingDataset(this.#catalog, tenant, name).kind);
  }

  /**
   * Gives a dataset limits of its own, in place of those that it had. What is there already stays. Other
   * nodes go by them within a second.
   * @param wanted as `parseDatasetLimits` takes them; an empty object for none
   * @throws AppError `dataset_not_found`, `bad_limits`, `store_unavailable`, `overloaded`
   */
  async set(tenant: string, name: string, wanted: unknown): Promise<ShownLimits> {
    const catalog = this.#catalog;
    const { id, kind } = existingDataset(catalog, tenant, name);
    const own = parseDatasetLimits(wanted, kind, catalog.limitsOfTenant(tenant));
    await orUnavailable(() =>
      this.#changes.make(tenant, id, 'limits', async () => {
        // One that only the log of this node knows is not noted yet.
        await catalog.ensure(tenant, id, kind, []);
        await catalog.datasets.setLimits(tenant, id, own);
      }),
    );
    return this.#shown(tenant, name, kind);
  }

  #shown(tenant: string, name: string, kind: DatasetKind): ShownLimits {
    return { inForce: this.#catalog.limitsOf(tenant, name), names: datasetLimitNames(kind) };
  }
}

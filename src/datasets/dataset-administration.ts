import type { Catalog } from '../catalog/catalog.ts';
import { createDataset } from '../catalog/create-dataset.ts';
import type { TenantCleaner } from '../catalog/tenant-cleaner.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
import { orUnavailable } from './existing.ts';

export interface DatasetAdministrationOptions {
  readonly catalog: Catalog;
  readonly cleaner: Pick<TenantCleaner, 'clean'>;
  /** Fulfils when all nodes know what this one knows. */
  readonly caughtUp: () => Promise<void>;
  /** Waits until what is in the log now of a dataset has gone, or for a bounded time. */
  readonly waitForPending: (tenant: string, id: string) => Promise<unknown>;
}

/** Making and deleting datasets. Callers have checked that it is allowed. */
export class DatasetAdministration {
  readonly #options: DatasetAdministrationOptions;

  constructor(options: DatasetAdministrationOptions) {
    this.#options = options;
  }

  /**
   * Makes an empty dataset of events. When it returns, all nodes know how it is to be.
   * @throws AppError `dataset_exists`, `store_unavailable`
   */
  async create(tenant: string, name: string, options: DatasetOptions | undefined): Promise<void> {
    const { catalog, caughtUp } = this.#options;
    await orUnavailable(async () => {
      await createDataset(catalog, tenant, name, 'events', options);
      if (options !== undefined) await caughtUp();
    });
  }

  /**
   * Deletes a dataset with all that was written to it before, on any node. What is written after
   * this returned makes a new one. Its tables and what the log had of it are gone then, or
   * later, if the store fails.
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  async delete(tenant: string, name: string): Promise<void> {
    const { catalog, cleaner, caughtUp, waitForPending } = this.#options;
    const id = await catalog.end(tenant, name);
    await caughtUp();
    await cleaner.clean();
    await waitForPending(tenant, id);
  }
}

import type { Catalog } from '../catalog/catalog.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { limits } from '../limits/limits.ts';
import type { TableBatch } from './batch.ts';

/**
 * Has the tables and columns made that batches need, before their inserts begin: so thousands of datasets that are new at
 * the same time keep no insert of another one waiting, and no new column of one either.
 */
export class Preparation {
  readonly #catalog: Pick<Catalog, 'destination' | 'hasEnded' | 'ensure' | 'isReady'>;
  readonly #creations = new Semaphore(limits.maxParallelCreations);

  constructor(catalog: Pick<Catalog, 'destination' | 'hasEnded' | 'ensure' | 'isReady'>) {
    this.#catalog = catalog;
  }

  /**
   * About what the store refuses for good the insert decides, which asks for the same again.
   * @param signal ends the wait for a turn
   * @throws whatever is worth another try
   */
  async prepare(batch: TableBatch, signal: AbortSignal): Promise<void> {
    const { tenant, dataset, kind, presumed, columns } = batch;
    const id = this.#catalog.destination(tenant, dataset, kind, presumed);
    if (id === undefined) return;
    const ensure = async () => {
      if (signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
      if (this.#catalog.hasEnded(tenant, id)) return;
      try {
        await this.#catalog.ensure(tenant, id, kind, columns);
      } catch (error) {
        if (this.#catalog.hasEnded(tenant, id)) return;
        if (!(error instanceof StoreError) || error.retryable) throw error;
      }
    };
    if (this.#catalog.isReady(tenant, id, kind)) await ensure();
    else await this.#creations.run(ensure);
  }
}

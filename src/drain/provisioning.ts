import type { Catalog } from '../catalog/catalog.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { limits } from '../limits/limits.ts';
import { successorBatch, successorTokenOf, type TableBatch, tokenOf } from './table-batch.ts';

/** A batch as it goes into the store. */
export interface ProvisionedBatch {
  /** For the dataset's own table, or for that of its successor. */
  readonly batch: TableBatch;
  readonly token: string;
  /** Why the table cannot be made as the batch needs it, if the store refuses that permanently. */
  readonly refusal: StoreError | undefined;
}

/**
 * Provisioning: before the insert of a batch begins, finds its table and creates the tables and columns that
 * it needs. So even thousands of new datasets do not delay the inserts, or the new columns, of other
 * datasets.
 */
export class Provisioning {
  readonly #catalog: Pick<Catalog, 'destination' | 'hasEnded' | 'ensure' | 'isReady'>;
  readonly #node: string;
  readonly #creations = new Semaphore(limits.maxParallelCreations);

  /** @param node the name of this node; part of the tokens */
  constructor(catalog: Pick<Catalog, 'destination' | 'hasEnded' | 'ensure' | 'isReady'>, node: string) {
    this.#catalog = catalog;
    this.#node = node;
  }

  /**
   * @param signal ends the wait for a turn
   * @returns undefined if the tenant or the dataset was deleted: nothing of it is to be stored
   * @throws whatever is worth another try
   */
  async provision(original: TableBatch, signal: AbortSignal): Promise<ProvisionedBatch | undefined> {
    const { tenant, dataset, kind, presumed } = original;
    const id = this.#catalog.destination(tenant, dataset, kind, presumed);
    if (id === undefined) return undefined;
    const isOwn = id === dataset;
    const batch = isOwn ? original : successorBatch(original, id);
    const token = isOwn ? tokenOf(this.#node, original) : successorTokenOf(this.#node, original);
    const ensure = async (): Promise<ProvisionedBatch | undefined> => {
      if (signal.aborted) throw new AppError('shutting_down', 'the service is shutting down');
      if (this.#catalog.hasEnded(tenant, id)) return undefined;
      try {
        await this.#catalog.ensure(tenant, id, kind, batch.columns, true);
        return { batch, token, refusal: undefined };
      } catch (error) {
        if (this.#catalog.hasEnded(tenant, id)) return undefined;
        if (!(error instanceof StoreError) || error.retryable) throw error;
        return { batch, token, refusal: error };
      }
    };
    return this.#catalog.isReady(tenant, id, kind) ? await ensure() : await this.#creations.run(ensure);
  }
}

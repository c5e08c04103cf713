import type { Catalog } from '../catalog/catalog.ts';
import type { DatasetInfo } from '../catalog/dataset-entry.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';

/** @throws AppError `dataset_not_found`, `store_unavailable` */
export function existingDataset(catalog: Pick<Catalog, 'get'>, tenant: string, name: string): DatasetInfo {
  const dataset = catalog.get(tenant, name);
  if (dataset === undefined)
    throw new AppError('dataset_not_found', `there is no dataset ${quotedName(name)}`);
  return dataset;
}

/**
 * Asks the store for somebody who cannot go on without.
 * @throws AppError `store_unavailable` in place of a StoreError
 */
export async function orUnavailable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new AppError('store_unavailable', 'the store does not answer', { cause: error });
  }
}

import { AppError } from '../errors.ts';
import type { DatasetKind } from '../model/dataset.ts';
import { type DatasetOptions, sameOptions, schemaColumns } from '../model/dataset-options.ts';
import type { Catalog } from './catalog.ts';

/**
 * Creates an empty dataset with its tables. If the store fails halfway, the same call completes it.
 * @throws AppError `dataset_exists`, `store_unavailable`, StoreError
 */
export async function createDataset(
  catalog: Pick<Catalog, 'datasets' | 'refresh' | 'get' | 'idOf' | 'claim' | 'ensure'>,
  tenant: string,
  name: string,
  kind: DatasetKind,
  options?: DatasetOptions | undefined,
): Promise<void> {
  const { datasets } = catalog;
  await datasets.refresh();
  // Finds out whether another node has created its tables.
  if (datasets.get(tenant, name) !== undefined) await catalog.refresh();
  const exists = new AppError('dataset_exists', `the dataset ${name} exists already`);
  const noted = datasets.get(tenant, name);
  const known = catalog.get(tenant, name);
  const isHalfMade = noted?.kind === kind && known?.ready !== true && sameOptions(noted.options, options);
  if (!isHalfMade && (noted ?? known) !== undefined) throw exists;
  const id = catalog.idOf(tenant, name);
  const claim = catalog.claim(tenant, id, kind, []);
  try {
    // Registered first, so that any node that creates the tables knows the options.
    if (!isHalfMade && !(await datasets.register(tenant, id, kind, options))) throw exists;
    await catalog.ensure(tenant, id, kind, schemaColumns(options));
  } catch (error) {
    claim.release();
    throw error;
  }
  claim.confirm();
}

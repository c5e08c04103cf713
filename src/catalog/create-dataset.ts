import { AppError } from '../errors.ts';
import type { DatasetKind } from '../model/dataset.ts';
import { type DatasetOptions, sameOptions, schemaColumns } from '../model/dataset-options.ts';
import type { Catalog } from './catalog.ts';

/**
 * Makes a dataset that nobody has written to, with its tables. If the store fails in the middle, the same again
 * completes it.
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
  // Whether another node has made its tables.
  if (datasets.get(tenant, name) !== undefined) await catalog.refresh();
  const exists = new AppError('dataset_exists', `there is a dataset ${name}`);
  const noted = datasets.get(tenant, name);
  const known = catalog.get(tenant, name);
  const isHalfMade = noted?.kind === kind && known?.ready !== true && sameOptions(noted.options, options);
  if (!isHalfMade && (noted ?? known) !== undefined) throw exists;
  const id = catalog.idOf(tenant, name);
  const claim = catalog.claim(tenant, id, kind, []);
  try {
    // First of all, so that whoever makes its tables, on any node, knows how it is to be.
    if (!isHalfMade && !(await datasets.register(tenant, id, kind, options))) throw exists;
    await catalog.ensure(tenant, id, kind, schemaColumns(options));
  } catch (error) {
    claim.release();
    throw error;
  }
  claim.confirm();
}

import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';

/** A dataset as this node knows it. */
export interface DatasetInfo {
  readonly tenant: string;
  readonly name: string;
  readonly kind: DatasetKind;
  /** Physical columns of its events table that exist in the store, by name; empty for other kinds. */
  readonly columns: ReadonlyMap<string, ColumnSpec>;
  /** True once its tables exist in the store. */
  readonly ready: boolean;
}

/** What the readers of the catalog need: all of it is in memory. */
export interface CatalogView {
  get(tenant: string, dataset: string): DatasetInfo | undefined;
  list(tenant: string): readonly DatasetInfo[];
}

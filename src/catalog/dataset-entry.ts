import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { ReservedColumns } from './reserved-columns.ts';

/** A dataset as this node knows it. */
export interface DatasetInfo {
  readonly tenant: string;
  readonly name: string;
  /** Under which its tables and records are kept (`model/generation.ts`). */
  readonly id: string;
  readonly kind: DatasetKind;
  /** Physical columns of its events table that exist in the store, by name; empty for other kinds. */
  readonly columns: ReadonlyMap<string, ColumnSpec>;
  /** True once its tables exist in the store. */
  readonly ready: boolean;
}

/** What the catalog keeps of a dataset. */
export interface Entry extends DatasetInfo {
  readonly columns: Map<string, ColumnSpec>;
  /** Columns that it has or will have; a superset of `columns`. Bounds what a dataset can grow to. */
  readonly reserved: ReservedColumns;
  /** Writes that claimed the dataset and have not ended. */
  claims: number;
  /** True once a record of it is in the log or in the store: from then on it exists for everybody. */
  confirmed: boolean;
  ready: boolean;
  /** Schema changes of one dataset run one after another. */
  changing: Promise<void>;
}

/** Columns that exist in the store now. */
export function learn(entry: Entry, columns: readonly ColumnSpec[]): void {
  for (const column of columns) {
    entry.columns.set(column.name, column);
    entry.reserved.keep(column.name);
  }
}

/**
 * What the readers of the catalog need: all of it is in memory. Until the store has been read once, what this
 * node does not know of may still exist.
 */
export interface CatalogView {
  /** Another number whenever anything changes that `get` or `list` tell of the tenant. */
  version(tenant: string): number;
  /** @throws AppError `store_unavailable` when the dataset is not known and the store has not been read */
  get(tenant: string, dataset: string): DatasetInfo | undefined;
  /** @throws AppError `store_unavailable` when the store has not been read */
  list(tenant: string): readonly DatasetInfo[];
}

/** Writes that were acknowledged before the store could say that their dataset holds another kind. */
export interface KindConflict {
  readonly tenant: string;
  readonly dataset: string;
  /** What the dataset holds. */
  readonly kind: DatasetKind;
  /** What was written to it. */
  readonly written: DatasetKind;
}

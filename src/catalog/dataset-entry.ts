import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { ReservedColumns } from './reserved-columns.ts';

/** A dataset as this node knows it. */
export interface DatasetInfo {
  readonly tenant: string;
  readonly name: string;
  /** The id under which its tables and records are stored (`model/generation.ts`). */
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
  /** The columns that it has or will have; a superset of `columns`. They count against the limit. */
  readonly reserved: ReservedColumns;
  /** Writes in progress that have claimed the dataset. */
  claims: number;
  /** True once a record of it is in the log or in the store. From then on it is visible. */
  confirmed: boolean;
  ready: boolean;
  /** Schema changes of one dataset run one after another. */
  changing: Promise<void>;
}

/** Adds columns that exist in the store now. */
export function learn(entry: Entry, columns: readonly ColumnSpec[]): void {
  for (const column of columns) {
    entry.columns.set(column.name, column);
    entry.reserved.keep(column.name);
  }
}

/**
 * The catalog for readers, all of it in memory. Until the store has been read once, a dataset that this node
 * does not know may still exist.
 */
export interface CatalogView {
  /** Changes whenever the result of `get` or `list` for the tenant may have changed. */
  version(tenant: string): number;
  /** @throws AppError `store_unavailable` if the dataset is not known and the store has not been read */
  get(tenant: string, dataset: string): DatasetInfo | undefined;
  /** @throws AppError `store_unavailable` if the store has not been read */
  list(tenant: string): readonly DatasetInfo[];
}

/** Rows that were acknowledged before it was known that their dataset has another kind. */
export interface KindConflict {
  readonly tenant: string;
  readonly dataset: string;
  /** The kind of the dataset. */
  readonly kind: DatasetKind;
  /** The kind that was written. */
  readonly written: DatasetKind;
}

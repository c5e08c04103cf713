import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';
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
  /**
   * What exists for rows that are not in the store yet: readers are to wait for the rows, and so do not see
   * it.
   */
  readonly arriving?: Arriving | undefined;
}

export interface Arriving {
  /** Its tables: none of its rows is there. */
  readonly tables: boolean;
  /** Some of its columns, by name. */
  readonly columns: ReadonlySet<string>;
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
  arriving: Arriving | undefined;
  /** Schema changes of one dataset run one after another. */
  changing: Promise<void>;
}

/** Rows are on their way that need these columns, which may be made only now. */
export function expectRows(entry: Entry, columns: readonly ColumnSpec[]): void {
  const added = entry.kind === 'events' ? columns.filter(({ name }) => !entry.columns.has(name)) : [];
  if (entry.ready && added.length === 0) return;
  entry.arriving = {
    tables: !entry.ready || entry.arriving?.tables === true,
    columns: new Set([...(entry.arriving?.columns ?? []), ...added.map(({ name }) => name)]),
  };
}

/** The store has the rows that needed these columns. @returns whether readers see more than before */
export function rowsArrived(entry: Entry, columns: readonly ColumnSpec[]): boolean {
  if (entry.arriving === undefined) return false;
  const left = new Set(entry.arriving.columns);
  for (const { name } of columns) left.delete(name);
  const isMore = entry.arriving.tables || left.size < entry.arriving.columns.size;
  entry.arriving = left.size === 0 ? undefined : { tables: false, columns: left };
  return isMore;
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
  /** The options with which a dataset was created. */
  optionsOf?(tenant: string, id: string): DatasetOptions | undefined;
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

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

/** What the catalog keeps of a dataset. */
export interface Entry extends DatasetInfo {
  readonly columns: Map<string, ColumnSpec>;
  /** Columns that acknowledged records need; a superset of `columns`. Bounds what a dataset can grow to. */
  readonly promised: Set<string>;
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
    entry.promised.add(column.name);
  }
}

export const keyOf = (tenant: string, dataset: string): string => `${tenant}/${dataset}`;

export const entryKey = (tenant: string, dataset: string, kind: DatasetKind): string =>
  `${keyOf(tenant, dataset)}/${kind}`;

/** Writes that were acknowledged before the store could say that their dataset holds another kind. */
export interface KindConflict {
  readonly tenant: string;
  readonly dataset: string;
  /** What the dataset holds. */
  readonly kind: DatasetKind;
  /** What was written to it. */
  readonly written: DatasetKind;
}

/** A dataset taken for a write; ended once, either way. */
export interface Claim {
  /** The record is durable. */
  confirm(): void;
  /** Nothing was written. */
  release(): void;
}

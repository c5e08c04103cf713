import type { FieldType } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { Tag } from '../model/identity.ts';

/** The datasets that a query may name. What isn't in here doesn't exist for it. */
export interface SqlCatalog {
  /** ClickHouse database of the tenant, unquoted. */
  readonly database: string;
  /** Of this program, as `version()` tells it. */
  readonly version: string;
  dataset(name: string): SqlDataset | undefined;
  /** For suggestions in error messages. */
  names(): readonly string[];
}

export interface SqlDataset {
  readonly name: string;
  /** By which its tables are named. */
  readonly id: string;
  readonly kind: DatasetKind;
  /** Fields of an events dataset, each with the types of value that it has. */
  readonly fields: ReadonlyMap<string, readonly FieldType[]>;
  /** Whether further fields are in its map, under any name. */
  readonly overflows?: boolean;
  /** Those of its columns that are about requests. */
  readonly requestColumns?: readonly string[];
  /** The rows that the query may read: all, or those that carry one of these tags. */
  readonly rows: 'all' | readonly Tag[];
}

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
  /** All datasets, without their columns: the same array as long as they are the same. */
  readable(): readonly ReadableDataset[];
  /** All of them with their columns, in the same order. */
  datasets(): readonly SqlDataset[];
  /** What is stored of datasets, by their names: of those alone all of whose rows may be read. */
  sizes(): ReadonlyMap<string, DatasetSize>;
}

export interface DatasetSize {
  /** Events, records, spans or samples. */
  readonly rows: number;
  readonly diskBytes: number;
}

/** What is known of a dataset without its columns. */
export interface ReadableDataset {
  readonly name: string;
  readonly kind: DatasetKind;
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
  /** Fields of events whose texts have an index, in a column of their own or none. */
  readonly searchFields?: readonly string[] | undefined;
  /** The rows that the query may read: all, or those that carry one of these tags. */
  readonly rows: 'all' | readonly Tag[];
}

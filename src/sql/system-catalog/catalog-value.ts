/**
 * A value of a relation of the catalog. Object ids, and names of objects that are kept as such (`regclass`),
 * are numbers; moments are milliseconds since 1970; a `"char"` is a text.
 */
export type Value = null | boolean | number | string | readonly Value[];
export type Row = readonly Value[];

/** A column, with the name of its type as `pg_type` has it; arrays have `_` in front. */
export interface CatalogColumn {
  readonly name: string;
  readonly type: string;
}

/** A row where it lies: its relation reads the cells from it that are asked for. */
export type Item = object;

import { type ColumnSpec, type FieldType, fieldColumnName, fieldColumnType } from './column.ts';

/** What the fields of a fixed schema can be. */
export const staticTypes = ['int', 'double', 'float', 'boolean', 'string', 'datetime', 'date'] as const;
export type StaticType = (typeof staticTypes)[number];

/** A field of a fixed schema. */
export interface StaticField {
  readonly name: string;
  readonly type: StaticType;
}

/** How a dataset of events is to be, as its owner said when it was made. It never changes. Plain JSON. */
export interface DatasetOptions {
  /** The fields that its events may have; without it, any. */
  readonly schema?: readonly StaticField[] | undefined;
  /** The field that holds the time of an event; without it, that is the time of receipt. */
  readonly timeField?: string | undefined;
  /** The field that leads the order key. */
  readonly partitionField?: string | undefined;
}

/** Where the values of a type are. Those of `datetime` and `date` are text, as they were sent. */
export const fieldTypeOf = {
  int: 'num',
  double: 'num',
  float: 'num',
  boolean: 'bool',
  string: 'str',
  datetime: 'str',
  date: 'str',
} as const satisfies Record<StaticType, FieldType>;

/** The same options; undefined means none. */
export const sameOptions = (one: DatasetOptions | undefined, other: DatasetOptions | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const columnOf = (field: string, type: FieldType): ColumnSpec => ({
  name: fieldColumnName(field, type),
  type: fieldColumnType[type],
});

/** The columns that a dataset has from the beginning. */
export const schemaColumns = (options: DatasetOptions | undefined): readonly ColumnSpec[] =>
  (options?.schema ?? []).map(({ name, type }) => columnOf(name, fieldTypeOf[type]));

/**
 * The columns of the field that leads the order key, beside `schemaColumns`: which type its values have is not known
 * yet, so there is one for each.
 */
export function keyColumns(options: DatasetOptions | undefined): readonly ColumnSpec[] {
  const field = options?.partitionField;
  if (field === undefined) return [];
  const declared = options?.schema?.find(({ name }) => name === field);
  const types: readonly FieldType[] =
    declared === undefined ? ['str', 'num', 'bool'] : [fieldTypeOf[declared.type]];
  return types.map((type) => columnOf(field, type));
}

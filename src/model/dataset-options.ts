import { type ColumnSpec, type FieldType, fieldColumnName, fieldColumnType } from './column.ts';

/** The types of fields in a fixed schema. */
export const staticTypes = ['int', 'double', 'float', 'boolean', 'string', 'datetime', 'date'] as const;
export type StaticType = (typeof staticTypes)[number];

/** A field of a fixed schema. */
export interface StaticField {
  readonly name: string;
  readonly type: StaticType;
}

/** The options with which a dataset of events was created. They never change. Plain JSON. */
export interface DatasetOptions {
  /** The fields that its events may have; undefined for any. */
  readonly schema?: readonly StaticField[] | undefined;
  /** The field that holds the time of an event; undefined for the time of receipt. */
  readonly timeField?: string | undefined;
  /** Events whose own time is older than so many days when they come are refused; undefined for any. */
  readonly timeLimitDays?: number | undefined;
  /** The first field of the order key. */
  readonly partitionField?: string | undefined;
  /** The fields whose texts have an index for what is in them. */
  readonly searchFields?: readonly string[] | undefined;
}

/**
 * The column type for the values of each type. Values of `datetime` and `date` are kept as
 * text, as they were sent.
 */
export const fieldTypeOf = {
  int: 'num',
  double: 'num',
  float: 'num',
  boolean: 'bool',
  string: 'str',
  datetime: 'str',
  date: 'str',
} as const satisfies Record<StaticType, FieldType>;

/** Whether options are equal; undefined means none. */
export const sameOptions = (one: DatasetOptions | undefined, other: DatasetOptions | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const columnOf = (field: string, type: FieldType): ColumnSpec => ({
  name: fieldColumnName(field, type),
  type: fieldColumnType[type],
});

/** The columns that a dataset has from its creation. */
export const schemaColumns = (options: DatasetOptions | undefined): readonly ColumnSpec[] =>
  (options?.schema ?? []).map(({ name, type }) => columnOf(name, fieldTypeOf[type]));

/** The names of the columns that get an index for what is in their texts, once they are there. */
export const searchedColumns = (options: DatasetOptions | undefined): readonly string[] =>
  (options?.searchFields ?? []).map((field) => fieldColumnName(field, 'str'));

/**
 * The columns of the first field of the order key, in addition to `schemaColumns`. The type of its values is
 * not known yet, so there is one column for each type.
 */
export function keyColumns(options: DatasetOptions | undefined): readonly ColumnSpec[] {
  const field = options?.partitionField;
  if (field === undefined) return [];
  const declared = options?.schema?.find(({ name }) => name === field);
  const types: readonly FieldType[] =
    declared === undefined ? ['str', 'num', 'bool'] : [fieldTypeOf[declared.type]];
  return types.map((type) => columnOf(field, type));
}

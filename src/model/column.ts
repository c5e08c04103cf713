/**
 * Columns of `events` datasets. A field may be a number today and a string tomorrow: the physical column is
 * the field's name plus its type, so a worker can write it without knowing the dataset, and types never
 * conflict. SQL sees one logical column; the translator picks or merges the physical ones.
 */

export const fieldTypes = ['str', 'num', 'bool'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The receive time of an event in microseconds, and the order key of each events table. */
export const eventTimeColumn = {
  name: 'p_timestamp',
  type: "DateTime64(6, 'UTC')",
} as const;

/**
 * Holds the fields that got no column of their own: values as text, by the names that their columns would
 * have.
 */
export const overflowColumn = {
  name: 'p_overflow',
  type: 'Map(LowCardinality(String), String)',
} as const;

/**
 * What is known of the request that an event came with, the same for all of its events: the address of the
 * client, as far as proxies are trusted, and what the client calls itself. Empty where that is not known.
 */
export const requestColumns = ['p_src_ip', 'p_user_agent'] as const;
const requestColumnNames: ReadonlySet<string> = new Set(requestColumns);

/** Whether a column is about requests. Such columns take no room of the fields. */
export const isRequestColumn = (name: string): boolean => requestColumnNames.has(name);

/** The empty name is reserved too: SQL has no empty names. */
const reservedFields: ReadonlySet<string> = new Set([
  eventTimeColumn.name,
  overflowColumn.name,
  ...requestColumns,
  '',
]);

/** Whether SQL uses the name for something else, or cannot express it. */
export const isReservedField = (field: string): boolean => reservedFields.has(field);

/** The name under which a field of an event is stored: its own, or prefixed with `_` if it is reserved. */
export const storedFieldName = (field: string): string => (isReservedField(field) ? `_${field}` : field);

export const fieldColumnType = {
  num: 'Nullable(Float64)',
  str: 'Nullable(String)',
  bool: 'Nullable(Bool)',
} as const satisfies Record<FieldType, string>;

/** A column as ClickHouse knows it: unquoted name, type as in DDL. */
export interface ColumnSpec {
  readonly name: string;
  readonly type: string;
}

export const fieldColumnName = (field: string, type: FieldType): string => `${field}:${type}`;

/** Splits a physical column name into field and type; undefined for the service's own columns. */
export function parseFieldColumn(physical: string): { field: string; type: FieldType } | undefined {
  const colon = physical.lastIndexOf(':');
  if (colon < 0) return undefined;
  const type = physical.slice(colon + 1);
  return type === 'num' || type === 'str' || type === 'bool'
    ? { field: physical.slice(0, colon), type }
    : undefined;
}

/**
 * What datasets of logs and traces show to SQL: one relation each, with columns of fixed names, and every
 * attribute as a column of its own name; and how each is made of the physical columns
 * (`schema/clickhouse/logs.sql`, `traces.sql`).
 */
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import type { FieldType } from '../model/column.ts';
import { int4, int8, map, type SqlType, text, timestamptz } from './types.ts';

export interface RecordColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Of physical columns, in the store's SQL. */
  readonly sql: string;
}

export interface RecordTable {
  readonly table: 'logs' | 'spans';
  readonly columns: readonly RecordColumn[];
}

/** A physical column as it is. */
const plain = (name: string, type: SqlType): RecordColumn => ({ name, type, sql: quoteIdentifier(name) });
/** UInt32, which PostgreSQL does not have. */
const count = (name: string): RecordColumn => ({ name, type: int8, sql: `toInt64(${name})` });

/** Numbers of an enum by their names; those that have none by their digits. */
const named = (name: string, ...names: readonly string[]): RecordColumn => ({
  name,
  type: text,
  sql: `transform(${name}, [${names.map((_, index) => index).join(', ')}], [${names.map(quoteString).join(', ')}], toString(${name}))`,
});

/** Arrays of equal lengths as the JSON text of an array of objects. */
function items(name: string, fields: Readonly<Record<string, string>>): RecordColumn {
  const keys = Object.keys(fields);
  const type = `Tuple(${Object.entries(fields)
    .map(([field, fieldType]) => `${field} ${fieldType}`)
    .join(', ')})`;
  const arrays = keys.map((key) => `${name}_${key}`).join(', ');
  const sql = `toJSONString(arrayMap((${keys.join(', ')}) -> CAST((${keys.join(', ')}), ${quoteString(type)}), ${arrays}))`;
  return { name, type: text, sql };
}

const origin: readonly RecordColumn[] = [
  plain('resource_attributes', map),
  count('resource_dropped_attributes_count'),
  plain('resource_schema_url', text),
  plain('resource_entity_refs', text),
  plain('scope_name', text),
  plain('scope_version', text),
  plain('scope_attributes', map),
  count('scope_dropped_attributes_count'),
  plain('scope_schema_url', text),
];

const logs: RecordTable = {
  table: 'logs',
  columns: [
    plain('timestamp', timestamptz),
    {
      name: 'observed_timestamp',
      type: timestamptz,
      sql: "nullIf(observed_timestamp, toDateTime64(0, 9, 'UTC'))",
    },
    plain('service_name', text),
    plain('severity_number', int4),
    plain('severity_text', text),
    plain('body', text),
    plain('event_name', text),
    plain('trace_id', text),
    plain('span_id', text),
    count('trace_flags'),
    plain('attributes', map),
    count('dropped_attributes_count'),
    ...origin,
  ],
};

/** Of spans that have no end. */
const noDuration = '-9223372036854775808';

const traces: RecordTable = {
  table: 'spans',
  columns: [
    plain('timestamp', timestamptz),
    {
      name: 'end_timestamp',
      type: timestamptz,
      sql: `if(duration_ns = ${noDuration}, NULL, addNanoseconds(timestamp, duration_ns))`,
    },
    { name: 'duration_ns', type: int8, sql: `nullIf(duration_ns, ${noDuration})` },
    plain('service_name', text),
    plain('name', text),
    named('kind', 'unspecified', 'internal', 'server', 'client', 'producer', 'consumer'),
    named('status_code', 'unset', 'ok', 'error'),
    plain('status_message', text),
    plain('trace_id', text),
    plain('span_id', text),
    plain('parent_span_id', text),
    plain('trace_state', text),
    count('trace_flags'),
    plain('attributes', map),
    count('dropped_attributes_count'),
    items('events', {
      timestamp: "DateTime64(9, 'UTC')",
      name: 'String',
      attributes: 'Map(String, String)',
      dropped_attributes_count: 'UInt32',
    }),
    count('dropped_events_count'),
    items('links', {
      trace_id: 'String',
      span_id: 'String',
      trace_state: 'String',
      flags: 'UInt32',
      attributes: 'Map(String, String)',
      dropped_attributes_count: 'UInt32',
    }),
    count('dropped_links_count'),
    ...origin,
  ],
};

export const recordTables = { logs, traces } as const;

/** The columns that hold attributes, in the order in which a name is looked for, in the store's SQL. */
export const attributeMaps = ['attributes', 'resource_attributes', 'scope_attributes'].map(quoteIdentifier);

/**
 * Whether one of these maps has a value, in the words of the indexes on them (`schema/clickhouse/logs.sql`).
 * @param value in the store's SQL
 */
export function hasValue(maps: readonly string[], value: string): string {
  const conditions = maps.map((map) => `has(mapValues(${map}), ${value})`);
  return `(${conditions.join(' OR ')})`;
}

/** An attribute as text: of the record, else of its resource, else of its scope; else NULL. */
function attributeText(name: string): string {
  const key = quoteString(name);
  const branches = attributeMaps.map((map) => `mapContains(${map}, ${key}), ${map}[${key}]`);
  return `multiIf(${branches.join(', ')}, NULL)`;
}

/** An attribute as a value of that type; NULL where it is not written as one. */
export function attributeSql(name: string, type: FieldType): string {
  const value = attributeText(name);
  if (type === 'num') return `toFloat64OrNull(${value})`;
  return type === 'bool' ? `transform(${value}, ['true', 'false'], [true, false], NULL)` : value;
}

/** A column or an attribute as text, for what a reader's privileges ask of it. */
export function recordText({ columns }: RecordTable, name: string): string {
  const column = columns.find((each) => each.name === name);
  if (column === undefined) return attributeText(name);
  return column.type === text ? column.sql : `toString(${column.sql})`;
}

import {
  type ColumnSpec,
  eventTimeColumn,
  isRequestColumn,
  isReservedField,
  overflowColumn,
  parseFieldColumn,
} from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { StaticField } from '../model/dataset-options.ts';
import { pointTables } from '../sql/metric-tables.ts';
import { recordTables } from '../sql/record-tables.ts';
import { fieldSqlType, map, type SqlType, text, timestamptz } from '../sql/types.ts';

/**
 * A column as SQL sees it, its type in the words of Apache Arrow: numbers of JSON are Float64, whole ones
 * too, unless a static schema says that they are. Clients of this interface read an Arrow schema with all of
 * its fields, so those that mean nothing here are there as well.
 */
export interface SchemaField {
  readonly name: string;
  readonly data_type: ArrowType;
  readonly nullable: boolean;
  readonly dict_id: 0;
  readonly dict_is_ordered: false;
  readonly metadata: Readonly<Record<string, never>>;
}

type ArrowType = string | { readonly Timestamp: readonly [unit: string, zone: string] };

export interface Schema {
  readonly fields: readonly SchemaField[];
  readonly metadata: Readonly<Record<string, never>>;
}

/**
 * @param columns physical ones, of an events dataset; other kinds have the same columns always
 * @param declared its static schema
 */
export function schemaOf(
  kind: DatasetKind,
  columns: Iterable<ColumnSpec>,
  declared: readonly StaticField[] = [],
): Schema {
  if (kind === 'events') return eventSchema(columns, declared);
  const fixed: ReadonlyArray<readonly [string, SqlType]> =
    kind === 'metrics'
      ? [
          ['metric_name', text],
          ...pointTables.samples.columns.map(({ name, type }) => [name, type] as const),
          ['labels', map],
        ]
      : recordTables[kind].columns.map(({ name, type }) => [name, type] as const);
  return schema(fixed.map(([name, type]) => field(name, arrowType(type), true)));
}

/** By name. One field for all types of value that it has had; several show as text. */
function eventSchema(columns: Iterable<ColumnSpec>, declared: readonly StaticField[]): Schema {
  const types = new Map<string, ArrowType>();
  for (const column of columns) {
    const parsed = parseFieldColumn(column.name);
    if (parsed === undefined) {
      if (column.name === overflowColumn.name) types.set(column.name, arrowType(map));
      if (isRequestColumn(column.name)) types.set(column.name, arrowType(text));
      continue;
    }
    if (isReservedField(parsed.field)) continue;
    types.set(parsed.field, types.has(parsed.field) ? 'Utf8' : arrowType(fieldSqlType[parsed.type]));
  }
  for (const { name, type } of declared) if (type === 'int' && types.has(name)) types.set(name, 'Int64');
  const time = field(eventTimeColumn.name, arrowType(timestamptz), false);
  const fields = [time, ...[...types].map(([name, type]) => field(name, type, true))];
  return schema(fields.sort((one, other) => (one.name < other.name ? -1 : 1)));
}

const schema = (fields: readonly SchemaField[]): Schema => ({ fields, metadata: {} });

const field = (name: string, type: ArrowType, nullable: boolean): SchemaField => ({
  name,
  data_type: type,
  nullable,
  dict_id: 0,
  dict_is_ordered: false,
  metadata: {},
});

function arrowType({ name }: SqlType): ArrowType {
  switch (name) {
    case 'bool':
      return 'Boolean';
    case 'int4':
      return 'Int32';
    case 'int8':
      return 'Int64';
    case 'float':
      return 'Float64';
    case 'timestamptz':
      return { Timestamp: ['Microsecond', '+00:00'] };
    default:
      return 'Utf8';
  }
}

import { quoteIdentifier } from '../../lib/quote.ts';
import {
  eventTimeColumn,
  type FieldType,
  fieldColumnName,
  fieldTypes,
  overflowColumn,
} from '../../model/column.ts';
import { columnOf } from '../build.ts';
import { fieldSql } from '../event-fields.ts';
import type { Column, EventsRead, Mixed } from '../ir.ts';
import type { SqlDataset } from '../sql-catalog.ts';
import { fieldSqlType, map, mixed, type SqlType, text, timestamptz } from '../types.ts';
import { allowedEvents } from './allowed-rows.ts';
import { Reads } from './reads.ts';
import { ColumnNames, type ScopeColumns } from './scope-columns.ts';

/**
 * Events as a relation: the time, and the fields. Where a dataset has more fields than columns, the others
 * are in a map: any other name is one of them.
 */
export function eventsRelation(
  dataset: SqlDataset,
  source: Pick<EventsRead, 'database' | 'dataset' | 'range'>,
  alias: string,
): {
  readonly read: EventsRead;
  readonly columns: ScopeColumns;
  readonly otherColumn: ((name: string) => Mixed) | undefined;
} {
  const reads = new Reads<string>('c');
  const column = (label: string, sql: string, type: SqlType): Column =>
    columnOf(alias, reads.name(sql, sql), type, label);
  const ownColumn = (name: string, type: SqlType): Column => column(name, quoteIdentifier(name), type);
  // A number of JSON that is too large for a double is kept as text.
  const field = (name: string, type: FieldType): Column => ({
    ...column(name, fieldSql(dataset, name, type), fieldSqlType[type]),
    finite: type === 'num',
    ...(dataset.fields.has(name) ? { stored: type } : {}),
  });
  const several = (name: string, has: readonly FieldType[]): Mixed => ({
    kind: 'mixed',
    type: mixed,
    label: name,
    has,
    convertible: false,
    column: (type) => field(name, type),
  });
  // What is not known of a request is kept as the empty text.
  const ofRequest = (name: string): Column => column(name, `nullIf(${quoteIdentifier(name)}, '')`, text);
  const { names, fields, requestColumns } = fieldsOf(dataset);
  const expr = (place: number): Column | Mixed => {
    if (place === 0) return ownColumn(eventTimeColumn.name, timestamptz);
    const [name, types] = fields[place - 1] ?? [];
    const [only] = types ?? [];
    if (name === undefined || types === undefined || only === undefined) {
      const requestColumn = requestColumns[place - 1 - fields.length];
      return requestColumn === undefined ? ownColumn(overflowColumn.name, map) : ofRequest(requestColumn);
    }
    return types.length === 1 ? field(name, only) : several(name, types);
  };
  return {
    read: {
      ...source,
      kind: 'events',
      columns: reads.byName,
      allowed: allowedEvents(dataset),
      searched: new Set(dataset.searchFields?.map((name) => quoteIdentifier(fieldColumnName(name, 'str')))),
      filters: [],
    },
    columns: { names, expr },
    otherColumn: dataset.overflows === true ? (name) => several(name, fieldTypes) : undefined,
  };
}

interface Fields {
  /** The time, the fields, what is about requests, and the map of other fields, if there is one. */
  readonly names: ColumnNames;
  readonly fields: readonly (readonly [name: string, types: readonly FieldType[]])[];
  readonly requestColumns: readonly string[];
}

const known = new WeakMap<SqlDataset, Fields>();

/** A dataset may be named often; its fields are listed once. */
function fieldsOf(dataset: SqlDataset): Fields {
  const before = known.get(dataset);
  if (before !== undefined) return before;
  const fields = [...dataset.fields].filter(([, types]) => types.length > 0);
  const { requestColumns = [] } = dataset;
  const names = new ColumnNames([
    eventTimeColumn.name,
    ...fields.map(([name]) => name),
    ...requestColumns,
    ...(dataset.overflows === true ? [overflowColumn.name] : []),
  ]);
  const made = { names, fields, requestColumns };
  known.set(dataset, made);
  return made;
}

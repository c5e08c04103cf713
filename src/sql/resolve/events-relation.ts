import { quoteIdentifier } from '../../lib/quote.ts';
import { eventTimeColumn, type FieldType, fieldTypes, overflowColumn } from '../../model/column.ts';
import { columnOf } from '../build.ts';
import type { SqlDataset } from '../catalog.ts';
import { fieldSql } from '../event-fields.ts';
import type { Column, EventsRead, Mixed } from '../ir.ts';
import { fieldSqlType, map, mixed, type SqlType, timestamptz } from '../types.ts';
import { allowedEvents } from './allowed-rows.ts';
import { Reads } from './reads.ts';
import type { ScopeColumn } from './scope.ts';

/**
 * Events as a relation: the time, and the fields. Where a dataset has more fields than columns, the others are in a map:
 * any other name is one of them.
 */
export function eventsRelation(
  dataset: SqlDataset,
  source: Pick<EventsRead, 'database' | 'dataset' | 'range'>,
  alias: string,
): {
  readonly read: EventsRead;
  readonly columns: readonly ScopeColumn[];
  readonly otherColumn: ((name: string) => Mixed) | undefined;
} {
  const reads = new Reads<string>('c');
  const column = (label: string, sql: string, type: SqlType): Column =>
    columnOf(alias, reads.name(sql, sql), type, label);
  const ownColumn = (name: string, type: SqlType): ScopeColumn => ({
    name,
    expr: () => column(name, quoteIdentifier(name), type),
  });
  // A number of JSON that is too large for a double is kept as text.
  const field = (name: string, type: FieldType): Column => ({
    ...column(name, fieldSql(dataset, name, type), fieldSqlType[type]),
    finite: type === 'num',
  });
  const several = (name: string, has: readonly FieldType[]): Mixed => ({
    kind: 'mixed',
    type: mixed,
    label: name,
    has,
    convertible: false,
    column: (type) => field(name, type),
  });
  const columns: ScopeColumn[] = [ownColumn(eventTimeColumn.name, timestamptz)];
  for (const [name, types] of dataset.fields) {
    const [only] = types;
    if (only === undefined) continue;
    columns.push({ name, expr: () => (types.length === 1 ? field(name, only) : several(name, types)) });
  }
  if (dataset.overflows === true) columns.push(ownColumn(overflowColumn.name, map));
  return {
    read: { ...source, kind: 'events', columns: reads.byName, allowed: allowedEvents(dataset) },
    columns,
    otherColumn: dataset.overflows === true ? (name) => several(name, fieldTypes) : undefined,
  };
}

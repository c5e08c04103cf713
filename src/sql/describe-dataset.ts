import {
  type FieldType,
  isRequestColumn,
  isReservedField,
  overflowColumn,
  parseFieldColumn,
} from '../model/column.ts';
import type { SqlDataset } from './sql-catalog.ts';

/** What the columns of a dataset's table mean to SQL. */
export type DatasetColumns = Required<Pick<SqlDataset, 'fields' | 'overflows' | 'requestColumns'>>;

/**
 * A field's physical columns, together.
 * @param columns by their names in the store; those that are no fields are passed over
 */
export function describeColumns(columns: readonly string[]): DatasetColumns {
  const fields = new Map<string, FieldType[]>();
  for (const column of columns) {
    const parsed = parseFieldColumn(column);
    // A field of that name would be in the way of the system's; none is made any more.
    if (parsed === undefined || isReservedField(parsed.field)) continue;
    const types = fields.get(parsed.field) ?? [];
    types.push(parsed.type);
    fields.set(parsed.field, types);
  }
  return {
    fields,
    overflows: columns.includes(overflowColumn.name),
    requestColumns: columns.filter(isRequestColumn).sort(),
  };
}

/** How the fields of a dataset of events are made of its physical columns, in the store's SQL. */
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type FieldType, fieldColumnName, fieldTypes, overflowColumn } from '../model/column.ts';
import type { SqlDataset } from './sql-catalog.ts';

/** The types that the values of a field may have; none if there is no such field. */
export const typesOfField = ({ fields, overflows }: SqlDataset, name: string): readonly FieldType[] =>
  fields.get(name) ?? (overflows === true ? fieldTypes : []);

/** The values of a field that are of a type; NULL where it has none, or another. */
export const fieldSql = ({ fields }: SqlDataset, name: string, type: FieldType): string =>
  fields.has(name)
    ? quoteIdentifier(fieldColumnName(name, type))
    : overflowSql(fieldColumnName(name, type), type);

/** What has no column is in the map, under the name that its column would have. */
function overflowSql(column: string, type: FieldType): string {
  const map = quoteIdentifier(overflowColumn.name);
  const value = `${map}[${quoteString(column)}]`;
  if (type === 'num') return `toFloat64OrNull(${value})`;
  if (type === 'bool') return `transform(${value}, ['true', 'false'], [true, false], NULL)`;
  return `if(mapContains(${map}, ${quoteString(column)}), ${value}, NULL)`;
}

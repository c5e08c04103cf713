import { columnOf } from '../build.ts';
import type { Column, Mixed, RecordsRead } from '../ir.ts';
import { attributeSql, type RecordTable, recordText } from '../record-tables.ts';
import type { SqlDataset } from '../sql-catalog.ts';
import { fieldSqlType, mixed, type SqlType } from '../types.ts';
import { Reads } from './reads.ts';
import { type ScopeColumns, scopeColumns } from './scope-columns.ts';

/** Logs or traces as a relation: fixed columns, and any other name is an attribute. */
export function recordRelation(
  table: RecordTable,
  { rows }: SqlDataset,
  source: Pick<RecordsRead, 'database' | 'dataset' | 'range'>,
  alias: string,
): {
  readonly read: RecordsRead;
  readonly columns: ScopeColumns;
  readonly otherColumn: (name: string) => Mixed;
} {
  const reads = new Reads<string>('c');
  const attributes = new Set<string>();
  const column = (label: string, sql: string, type: SqlType): Column =>
    columnOf(alias, reads.name(sql, sql), type, label);
  // Attributes are kept as text, but what is written as a number is one where the context wants it.
  const attribute = (name: string): Mixed => ({
    kind: 'mixed',
    type: mixed,
    label: name,
    has: ['str'],
    convertible: true,
    column: (type) => {
      const sql = attributeSql(name, type);
      if (type === 'str') attributes.add(sql);
      return column(name, sql, fieldSqlType[type]);
    },
  });
  return {
    read: {
      ...source,
      kind: 'records',
      table: table.table,
      columns: reads.byName,
      attributes,
      filters: [],
      allowed:
        rows === 'all'
          ? 'all'
          : rows.map(({ field, value }) => ({ column: recordText(table, field), value })),
    },
    columns: scopeColumns(
      table.columns.map(({ name, type, sql }) => ({ name, expr: () => column(name, sql, type) })),
    ),
    otherColumn: attribute,
  };
}

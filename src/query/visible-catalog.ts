import { AppError } from '../errors.ts';
import { type FieldType, isReservedField, overflowColumn, parseFieldColumn } from '../model/column.ts';
import { auditDataset, databaseOf } from '../model/dataset.ts';
import type { ReadableRows } from '../model/identity.ts';
import type { FromItem, Query } from '../sql/ast.ts';
import type { SqlCatalog, SqlDataset } from '../sql/catalog.ts';
import type { CatalogView, DatasetInfo } from '../store/dataset-entry.ts';

/**
 * The datasets of a tenant as one principal sees them.
 * @param version of this program
 * @param readableRows of a dataset; naming one of which the principal may read none is `forbidden`, but for the audit
 *   trail, which is not there for those who may not read it
 */
export function visibleCatalog(
  catalog: CatalogView,
  tenant: string,
  version: string,
  readableRows: (dataset: string) => ReadableRows,
): SqlCatalog {
  return {
    database: databaseOf(tenant),
    version,
    dataset: (name) => {
      const info = catalog.get(tenant, name);
      if (info === undefined) return undefined;
      const rows = readableRows(name);
      if (rows === 'none' && name === auditDataset) return undefined;
      if (rows === 'none')
        throw new AppError('forbidden', `the credentials do not allow reading dataset "${name}"`);
      return describe(info, rows);
    },
    names: () =>
      catalog
        .list(tenant)
        .map((info) => info.name)
        .filter((name) => readableRows(name) !== 'none'),
  };
}

/** A field's physical columns, together. */
function describe(info: DatasetInfo, rows: SqlDataset['rows']): SqlDataset {
  const fields = new Map<string, FieldType[]>();
  for (const column of info.columns.values()) {
    const parsed = parseFieldColumn(column.name);
    // A field of that name would be in the way of the system's; none is made any more.
    if (parsed === undefined || isReservedField(parsed.field)) continue;
    const types = fields.get(parsed.field) ?? [];
    types.push(parsed.type);
    fields.set(parsed.field, types);
  }
  const overflows = info.columns.has(overflowColumn.name);
  return { name: info.name, id: info.id, kind: info.kind, fields, overflows, rows };
}

/** The names of all relations that a query mentions: datasets, and common table expressions too. */
export function relationNames(query: Query): readonly string[] {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isTable(value)) names.add(value.path[0] ?? '');
    const inner: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
    for (const each of inner) visit(each);
  };
  visit(query);
  return [...names];
}

const isTable = (value: object): value is Extract<FromItem, { kind: 'table' }> =>
  'kind' in value && value.kind === 'table';

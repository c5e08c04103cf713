import { readFileSync } from 'node:fs';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type ColumnSpec, eventTimeColumn } from '../model/column.ts';
import { type DatasetKind, databaseOf, physicalTable, tablesOfKind } from '../model/dataset.ts';
import { type DatasetOptions, keyColumns, searchedColumns } from '../model/dataset-options.ts';
import { searchIndex } from '../model/text-search.ts';

/**
 * The settings of each table. The log deletes a segment once its inserts have returned, so a returned insert
 * must survive a power failure. The log repeats inserts after a crash, so the store must remember 10,000
 * tokens. Merged parts are removed by one thread: above 100 at once the engine would start 128 threads for
 * that, and keep them.
 *
 * A merge costs one and a half times the CPU time of inserting its rows. By default ClickHouse merges five
 * parts of a size into one, so with one insert per second each row is merged seven times on its first day.
 * With ten parts it is merged five times, and a query has twice as many parts to read.
 */
const tableSettings = [
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'non_replicated_deduplication_window = 10000',
  'concurrent_part_removal_threshold = 1000000',
  'merge_selector_base = 10',
].join(', ');

/**
 * The setting by which a table keeps the number of the insert that brought a row when it merges parts
 * (`tail/arrivals.ts`). An insert writes nothing more for it.
 */
export const arrivalSettings = 'enable_block_number_column = 1';

/**
 * Marks columns that exist only for the order key: no event has had a value for them, and they are not shown.
 */
export const unusedColumnComment = 'no values yet';

const template = (name: string): string =>
  readFileSync(new URL(`../../schema/clickhouse/${name}.sql`, import.meta.url), 'utf8');

/** The statements that create the service's own database and tables. Idempotent. */
export const metadataStatements = (): string[] => render(template('metadata'), {});

/**
 * The statements that create a dataset's database and tables. Idempotent: existing tables stay as they are.
 * @param columns that a new events table gets, besides its time column
 */
export function datasetStatements(
  tenant: string,
  id: string,
  kind: DatasetKind,
  options?: DatasetOptions | undefined,
  columns: readonly ColumnSpec[] = [],
): string[] {
  const database = quoteIdentifier(databaseOf(tenant));
  const names: Record<string, string> = { database, ...eventParts(options, columns) };
  for (const table of tablesOfKind[kind]) names[table] = quoteIdentifier(physicalTable(id, table));
  return [`CREATE DATABASE IF NOT EXISTS ${database}`, ...render(template(kind), names)];
}

/** The parts of an events table that differ: columns with their indexes, and the first field of the key. */
function eventParts(
  options: DatasetOptions | undefined,
  columns: readonly ColumnSpec[],
): Readonly<Record<string, string>> {
  const declare = ({ name, type }: ColumnSpec) => `,\n    ${quoteIdentifier(name)} ${type}`;
  const key = keyColumns(options);
  const has = ({ name }: ColumnSpec) => columns.some((column) => column.name === name);
  const unused = key
    .filter((column) => !has(column))
    .map((column) => `${declare(column)} COMMENT ${quoteString(unusedColumnComment)}`);
  const added = columns.filter(({ name }) => name !== eventTimeColumn.name).map(declare);
  const present = new Set([...columns, ...key].map(({ name }) => name));
  const indexes = searchedColumns(options)
    .filter((name) => present.has(name))
    .map((name) => `,\n    INDEX ${searchIndex(name)}`);
  return {
    columns: [...added, ...unused, ...indexes].join(''),
    keyNames: key.map(({ name }) => `${quoteIdentifier(name)}, `).join(''),
    keySettings: key.length === 0 ? '' : ', allow_nullable_key = 1',
  };
}

/** Splits a template into statements without comments, and fills in `{name}`. */
function render(text: string, names: Readonly<Record<string, string>>): string[] {
  const values: Readonly<Record<string, string>> = { tableSettings, arrivalSettings, ...names };
  const fill = (statement: string): string =>
    statement.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`BUG: the schema template has no value for {${name}}`);
      return value;
    });
  return text
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .split(';\n')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map(fill);
}

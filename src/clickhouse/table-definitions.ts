import { readFileSync } from 'node:fs';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type ColumnSpec, eventTimeColumn } from '../model/column.ts';
import { type DatasetKind, databaseOf, physicalTable, tablesOfKind } from '../model/dataset.ts';
import { type DatasetOptions, keyColumns } from '../model/dataset-options.ts';

/**
 * Settings of every table. The log deletes a segment once its inserts returned, so a returned insert must
 * survive a power cut; and it repeats inserts after a crash, so the store must know 10,000 tokens back. Merged
 * parts are removed by one thread: above 100 at once the engine would start 128 threads for it, and keep them.
 *
 * A merge costs one and a half times the CPU of the inserts whose rows it takes. ClickHouse merges five parts of a
 * size into one by default, so that with an insert a second each row is merged seven times on its first day. With
 * ten at once it is five times, and there are twice as many parts for a query to look into.
 */
const tableSettings = [
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  'non_replicated_deduplication_window = 10000',
  'concurrent_part_removal_threshold = 1000000',
  'merge_selector_base = 10',
].join(', ');

/** Of columns that are there for the order key alone: no event has had a value for them, and nobody is shown them. */
export const unusedColumnComment = 'no values yet';

const template = (name: string): string =>
  readFileSync(new URL(`../../schema/clickhouse/${name}.sql`, import.meta.url), 'utf8');

/** Statements that make the service's own database and tables. Idempotent. */
export const metadataStatements = (): string[] => render(template('metadata'), {});

/**
 * Statements that make a dataset's database and tables. Idempotent: tables that are there stay as they are.
 * @param columns that a table of events is to have from the beginning, beside that of its time
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

/** What is up to an events table itself: its columns, and the field that leads its order key. */
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
  return {
    columns: [...added, ...unused].join(''),
    keyNames: key.map(({ name }) => `${quoteIdentifier(name)}, `).join(''),
    keySettings: key.length === 0 ? '' : ', allow_nullable_key = 1',
  };
}

/** Cuts a template into statements, without its comments, and fills in `{name}`. */
function render(text: string, names: Readonly<Record<string, string>>): string[] {
  const values: Readonly<Record<string, string>> = { tableSettings, ...names };
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

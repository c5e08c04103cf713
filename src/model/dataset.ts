import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { eventTimeColumn } from './column.ts';

/** What a dataset holds. Set by the first write or at creation; never changed. */
export type DatasetKind = 'events' | 'logs' | 'traces' | 'metrics';

/** The tenant of a server without tenants. */
export const defaultTenant = 'default';

/**
 * The audit trail of each tenant: who did what, and who was refused. Only the service itself
 * writes this dataset.
 */
export const auditDataset = 'millrace_audit';

/**
 * Names of Elasticsearch's indices and of Kubernetes' objects are among them. Dots stand alone and inside, so
 * that no name means anything in a path.
 */
export const datasetNamePattern = new RegExp(
  `^(?=.{1,${limits.datasetNameMaxLength}}$)[A-Za-z0-9][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+)*$`,
);

/**
 * Checks a dataset name that came from a client.
 * @throws AppError `bad_dataset_name`
 */
export function checkDatasetName(name: string): string {
  if (datasetNamePattern.test(name)) return name;
  throw new AppError(
    'bad_dataset_name',
    `this is not a dataset name: use letters, digits, "-", "_" and single dots inside, starting with a letter or digit, at most ${limits.datasetNameMaxLength}`,
  );
}

/** The ClickHouse database of a tenant. */
export const databaseOf = (tenant: string): string => `t_${tenant}`;

/**
 * The tables of each kind of dataset, in the order of their inserts: a series is inserted before its first
 * sample. The full name of a table is `<id>.<table>`.
 */
export const tablesOfKind = {
  events: ['events'],
  metrics: ['series', 'metadata', 'samples', 'exemplars', 'histograms'],
  logs: ['logs'],
  traces: ['spans'],
} as const satisfies Record<DatasetKind, readonly string[]>;

/** The table whose rows count as a dataset's events, records, spans or samples. */
export const countedTable = {
  events: 'events',
  metrics: 'samples',
  logs: 'logs',
  traces: 'spans',
} as const satisfies Record<DatasetKind, string>;

export type TableName = (typeof tablesOfKind)[DatasetKind][number];

/**
 * The physical name of a table of a dataset, unquoted. Names of tables contain no dot, so
 * names cannot collide: what stands before the last dot is the id.
 */
export const physicalTable = (id: string, table: TableName): string => `${id}.${table}`;

/** The column by whose day each table is partitioned. */
const timeColumns: Readonly<Record<TableName, string>> = {
  events: eventTimeColumn.name,
  logs: 'timestamp',
  spans: 'timestamp',
  samples: 'timestamp',
  exemplars: 'timestamp',
  histograms: 'timestamp',
  series: 'date',
  metadata: 'date',
};

/** The column by whose day a physical table is partitioned. */
export function timeColumnOf(table: string): string {
  return timeColumns[table.slice(table.lastIndexOf('.') + 1) as TableName];
}

/** The id in the name of a physical table. */
export const datasetIdOf = (table: string): string => table.slice(0, Math.max(0, table.lastIndexOf('.')));

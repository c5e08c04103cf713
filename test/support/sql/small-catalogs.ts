import type { FieldType } from '../../../src/model/column.ts';
import type { SqlCatalog, SqlDataset } from '../../../src/sql/sql-catalog.ts';

/** A dataset of events, all of which may be read. */
export const eventsDataset = (
  name: string,
  fields: Readonly<Record<string, readonly FieldType[]>>,
): SqlDataset => ({ name, id: name, kind: 'events', fields: new Map(Object.entries(fields)), rows: 'all' });

export const metricsDataset = (name: string): SqlDataset => ({
  name,
  id: name,
  kind: 'metrics',
  fields: new Map(),
  rows: 'all',
});

export const catalogOfDatasets = (datasets: readonly SqlDataset[]): SqlCatalog => ({
  database: 't_default',
  version: '1.2.3',
  dataset: (name) => datasets.find((dataset) => dataset.name === name),
  names: () => datasets.map(({ name }) => name),
  readable: () => datasets,
  datasets: () => datasets,
  sizes: () => new Map(),
});

/** Events in `app`, with a field of two types, and metrics in `m`. */
export const smallCatalog: SqlCatalog = catalogOfDatasets([
  eventsDataset('app', { level: ['str'], ms: ['num'], ok: ['bool'], status: ['num', 'str'] }),
  metricsDataset('m'),
]);

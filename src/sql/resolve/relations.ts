import { columnOf } from '../build.ts';
import type { AllowedRows, Column, DatasetRead, Expr, FromIr, SeriesColumn } from '../ir.ts';
import {
  type MetricColumn,
  type MetricPart,
  metadataColumns,
  metricParts,
  type PointTable,
  pointTables,
  seriesDetails,
} from '../metric-tables.ts';
import { recordTables } from '../record-tables.ts';
import { publicSchema, withoutCatalog } from '../relation-names.ts';
import type { SqlDataset } from '../sql-catalog.ts';
import { sqlError } from '../sql-error.ts';
import { suggestion } from '../suggestions.ts';
import { map, type SqlType, text } from '../types.ts';
import { allowedSeries } from './allowed-rows.ts';
import type { Environment } from './environment.ts';
import { eventsRelation } from './events-relation.ts';
import { Reads } from './reads.ts';
import { recordRelation } from './record-relation.ts';
import { type ScopeColumn, type ScopeColumns, scopeColumns } from './scope-columns.ts';
import type { ScopeRelation } from './scope-relations.ts';

export interface ResolvedRelation {
  readonly ir: FromIr;
  readonly relation: ScopeRelation;
}

/**
 * A dataset as a relation. Its columns are registered as they are named, so that only these are read.
 * @throws AppError `sql_unknown_relation`
 */
export function datasetRelation(
  path: readonly string[],
  name: string | undefined,
  env: Environment,
  at: number | undefined,
): ResolvedRelation {
  const { dataset, part } = findDataset(path, env, at);
  env.datasets.add(dataset.name);
  if (dataset.rows !== 'all') env.narrowed = true;
  const alias = env.alias();
  const shown = name ?? path.at(-1);
  const source = { database: env.catalog.database, dataset: dataset.id, range: env.range };
  const { read, columns, otherColumn } = buildRelation(dataset, part, source, alias);
  return { ir: { kind: 'dataset', alias, read }, relation: { name: shown, columns, otherColumn } };
}

/** The relations of a dataset of a kind: the data itself, and what has a name behind that of the dataset. */
export const partsOf = (kind: SqlDataset['kind']): readonly (MetricPart | undefined)[] =>
  kind === 'metrics' ? [undefined, ...metricParts] : [undefined];

/** What a dataset shows to SQL: its relations, with the columns of each that have names of their own. */
export function relationsOf(dataset: SqlDataset): readonly {
  readonly part: MetricPart | undefined;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
}[] {
  const source = { database: '', dataset: dataset.name, range: { start: false, end: false } };
  return partsOf(dataset.kind).map((part) => {
    const { columns } = buildRelation(dataset, part, source, '');
    return {
      part,
      columns: columns.names.list.map((name, place) => ({ name, type: columns.expr(place).type })),
    };
  });
}

function findDataset(
  path: readonly string[],
  env: Environment,
  at: number | undefined,
): { readonly dataset: SqlDataset; readonly part: MetricPart | undefined } {
  const [first = '', second, third] = withoutCatalog(path);
  if (third === undefined) {
    const listed = second !== undefined && first === publicSchema ? env.dataset(second) : undefined;
    if (listed !== undefined) return { dataset: listed, part: undefined };
    const dataset = env.dataset(first);
    const part = dataset?.kind === 'metrics' ? metricParts.find((name) => name === second) : undefined;
    if (dataset !== undefined && (second === undefined || part !== undefined)) return { dataset, part };
  }
  throw sqlError(
    'sql_unknown_relation',
    `relation "${path.join('.')}" does not exist${hintOf(path, env)}`,
    at,
  );
}

/** A dotted path is a schema and a name; a dataset may be named so all the same. */
function hintOf(path: readonly string[], env: Environment): string {
  const names = env.catalog.names();
  const dotted = path.join('.');
  if (path.length > 1 && names.includes(dotted))
    return `; the dataset is written in double quotes: "${dotted}"`;
  const [first = '', second = ''] = withoutCatalog(path);
  return suggestion(first === publicSchema ? second : first, names);
}

type Source = Pick<DatasetRead, 'database' | 'dataset' | 'range'>;
type MetricSource = Source & { readonly allowed: AllowedRows<SeriesColumn> };

interface BuiltRelation {
  readonly read: DatasetRead;
  readonly columns: ScopeColumns;
  readonly otherColumn: ((name: string) => Expr) | undefined;
}

function buildRelation(
  dataset: SqlDataset,
  part: MetricPart | undefined,
  source: Source,
  alias: string,
): BuiltRelation {
  if (dataset.kind === 'events') return eventsRelation(dataset, source, alias);
  if (dataset.kind !== 'metrics') return recordRelation(recordTables[dataset.kind], dataset, source, alias);
  const metrics = { ...source, allowed: allowedSeries(dataset) };
  switch (part) {
    case 'series':
      return seriesRelation(metrics, alias);
    case 'metadata':
      return metadataRelation(metrics, alias);
    default:
      return pointsRelation(pointTables[part ?? 'samples'], metrics, alias);
  }
}

/** Columns that a series has: its name, its labels, and each label under its own name. */
function seriesColumns(alias: string): {
  readonly reads: Reads<SeriesColumn>;
  readonly label: (name: string) => Column;
  readonly fixed: (kind: 'metric_name' | 'labels') => ScopeColumn;
  readonly detail: (column: MetricColumn) => ScopeColumn;
} {
  const reads = new Reads<SeriesColumn>('l');
  const column = (label: string, key: string, target: SeriesColumn, type: SqlType): Column =>
    columnOf(alias, reads.name(key, target), type, label);
  return {
    reads,
    label: (name) => column(name, `label ${name}`, { kind: 'label', label: name }, text),
    fixed: (kind) => ({
      name: kind,
      expr: () => column(kind, kind, { kind }, kind === 'labels' ? map : text),
    }),
    detail: ({ name, type, sql }) => ({
      name,
      expr: () => column(name, `detail ${name}`, { kind: 'detail', sql }, type),
    }),
  };
}

/** Columns of a relation that are there under their own names. */
function metricColumns(
  alias: string,
  columns: readonly MetricColumn[],
): { readonly reads: Reads<MetricColumn>; readonly columns: readonly ScopeColumn[] } {
  const reads = new Reads<MetricColumn>('c');
  const scopeColumn = (column: MetricColumn): ScopeColumn => ({
    name: column.name,
    expr: () => columnOf(alias, reads.name(column.name, column), column.type, column.name),
  });
  return { reads, columns: columns.map(scopeColumn) };
}

function pointsRelation(table: PointTable, source: MetricSource, alias: string): BuiltRelation {
  const { reads, columns } = metricColumns(alias, table.columns);
  const { reads: series, label, fixed } = seriesColumns(alias);
  return {
    read: {
      ...source,
      kind: 'points',
      table,
      columns: reads.byName,
      series: series.byName,
      seriesUses: series.uses,
      seriesConditions: [],
      joined: new Set(),
    },
    columns: scopeColumns([fixed('metric_name'), ...columns, fixed('labels')]),
    otherColumn: label,
  };
}

function seriesRelation(source: MetricSource, alias: string): BuiltRelation {
  const { reads, label, fixed, detail } = seriesColumns(alias);
  return {
    read: { ...source, kind: 'series', series: reads.byName },
    columns: scopeColumns([fixed('metric_name'), fixed('labels'), ...seriesDetails.map(detail)]),
    otherColumn: label,
  };
}

function metadataRelation(source: MetricSource, alias: string): BuiltRelation {
  const { reads, columns } = metricColumns(alias, metadataColumns);
  return {
    read: { ...source, kind: 'metadata', columns: reads.byName },
    columns: scopeColumns(columns),
    otherColumn: undefined,
  };
}

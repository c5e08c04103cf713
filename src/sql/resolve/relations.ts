import { eventTimeColumn, type FieldType, fieldColumnName } from '../../model/column.ts';
import type { SqlCatalog, SqlDataset } from '../catalog.ts';
import { sqlError, unsupported } from '../errors.ts';
import { isNamed } from '../identifier.ts';
import type { Column, DatasetRead, Expr, FromIr, Mixed, SeriesColumn } from '../ir.ts';
import { suggestion } from '../nearest.ts';
import { fieldSqlType, float, map, mixed, type SqlType, text, timestamptz } from '../types.ts';
import type { Environment } from './environment.ts';
import type { ScopeColumn, ScopeRelation } from './scope.ts';

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
  const { dataset, part } = findDataset(path, env.catalog, at);
  env.datasets.add(dataset.name);
  const alias = env.alias();
  const shown = name ?? path.at(-1);
  const source = { database: env.catalog.database, dataset: dataset.name, range: env.range };
  const build =
    part === 'series' ? seriesRelation : dataset.kind === 'events' ? eventsRelation : samplesRelation;
  const { read, columns, otherColumn } = build(dataset, source, alias);
  return { ir: { kind: 'dataset', alias, read }, relation: { name: shown, columns, otherColumn } };
}

function findDataset(
  path: readonly string[],
  catalog: SqlCatalog,
  at: number | undefined,
): { readonly dataset: SqlDataset; readonly part: 'series' | undefined } {
  const [first = '', second] = path;
  const longName = catalog.names().find((name) => isNamed(name, first)) ?? first;
  const dataset = path.length <= 2 ? (catalog.dataset(first) ?? catalog.dataset(longName)) : undefined;
  const isSeries = second === 'series' && dataset?.kind === 'metrics';
  if (dataset === undefined || (second !== undefined && !isSeries)) {
    const hint = suggestion(first, catalog.names());
    throw sqlError('sql_unknown_relation', `relation "${path.join('.')}" does not exist${hint}`, at);
  }
  if (dataset.kind !== 'events' && dataset.kind !== 'metrics') {
    throw unsupported(`Reading "${dataset.name}", a dataset of ${dataset.kind},`, at);
  }
  return { dataset, part: isSeries ? 'series' : undefined };
}

type Source = Pick<DatasetRead, 'database' | 'dataset' | 'range'>;

interface BuiltRelation {
  readonly read: DatasetRead;
  readonly columns: readonly ScopeColumn[];
  readonly otherColumn: ((name: string) => Expr) | undefined;
}

/** Generated names for what a relation reads: the same thing twice is read once. */
class Reads<Target> {
  readonly byName = new Map<string, Target>();
  readonly uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  name(key: string, target: Target): string {
    const name = this.#names.get(key) ?? `${this.#prefix}${this.byName.size + 1}`;
    this.#names.set(key, name);
    this.byName.set(name, target);
    this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
    return name;
  }
}

function eventsRelation(dataset: SqlDataset, source: Source, alias: string): BuiltRelation {
  const reads = new Reads<string>('c');
  const column = (label: string, physical: string, type: SqlType): Column => ({
    kind: 'column',
    type,
    relation: alias,
    name: reads.name(physical, physical),
    label,
    outer: false,
  });
  const field = (name: string, type: FieldType): Column =>
    column(name, fieldColumnName(name, type), fieldSqlType[type]);
  const columns: ScopeColumn[] = [
    {
      name: eventTimeColumn.name,
      expr: () => column(eventTimeColumn.name, eventTimeColumn.name, timestamptz),
    },
  ];
  for (const [name, types] of dataset.fields) {
    const several = (): Mixed => ({
      kind: 'mixed',
      type: mixed,
      label: name,
      has: types,
      column: (type) => field(name, type),
    });
    const [only] = types;
    if (only === undefined) continue;
    columns.push({ name, expr: () => (types.length === 1 ? field(name, only) : several()) });
  }
  return { read: { ...source, kind: 'events', columns: reads.byName }, columns, otherColumn: undefined };
}

/** Columns that a series has: its name, its labels, and each label under its own name. */
function seriesColumns(alias: string): {
  readonly reads: Reads<SeriesColumn>;
  readonly label: (name: string) => Column;
  readonly fixed: (kind: 'metric_name' | 'labels') => ScopeColumn;
} {
  const reads = new Reads<SeriesColumn>('l');
  const column = (label: string, key: string, target: SeriesColumn, type: SqlType): Column => ({
    kind: 'column',
    type,
    relation: alias,
    name: reads.name(key, target),
    label,
    outer: false,
  });
  return {
    reads,
    label: (name) => column(name, `label ${name}`, { kind: 'label', label: name }, text),
    fixed: (kind) => ({
      name: kind,
      expr: () => column(kind, kind, { kind }, kind === 'labels' ? map : text),
    }),
  };
}

function samplesRelation(_: SqlDataset, source: Source, alias: string): BuiltRelation {
  const reads = new Reads<'timestamp' | 'value'>('c');
  const { reads: series, label, fixed } = seriesColumns(alias);
  const sampleColumn = (name: 'timestamp' | 'value', type: SqlType): ScopeColumn => ({
    name,
    expr: () => ({
      kind: 'column',
      type,
      relation: alias,
      name: reads.name(name, name),
      label: name,
      outer: false,
    }),
  });
  return {
    read: {
      ...source,
      kind: 'samples',
      columns: reads.byName,
      series: series.byName,
      seriesUses: series.uses,
      seriesConditions: [],
      joined: new Set(),
    },
    columns: [
      fixed('metric_name'),
      sampleColumn('timestamp', timestamptz),
      sampleColumn('value', float),
      fixed('labels'),
    ],
    otherColumn: label,
  };
}

function seriesRelation(_: SqlDataset, source: Source, alias: string): BuiltRelation {
  const { reads, label, fixed } = seriesColumns(alias);
  return {
    read: { ...source, kind: 'series', series: reads.byName },
    columns: [fixed('metric_name'), fixed('labels')],
    otherColumn: label,
  };
}

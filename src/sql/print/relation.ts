import { quoteIdentifier, quoteString } from '../../lib/quote.ts';
import { eventTimeColumn } from '../../model/column.ts';
import { physicalTable, type TableName } from '../../model/dataset.ts';
import { and } from '../build.ts';
import { quoteGenerated } from '../generated-names.ts';
import type {
  AllowedRows,
  DatasetRead,
  EventsRead,
  MetadataRead,
  PointsRead,
  RangeShape,
  RecordsRead,
  SeriesColumn,
  SeriesRead,
} from '../ir.ts';
import type { MetricColumn } from '../metric-tables.ts';
import { dayPlaceholder, insertPlaceholder, timePlaceholder } from '../placeholders.ts';
import { type PrintQuery, printExpression } from './print-expression.ts';

/** Prometheus' marker for the end of a series, as the bits of a double (model/value/value.go, StaleNaN). */
const staleMarkerBits = 0x7ff0000000000002n;

/** A dataset as a subselect of what a query reads of it, under generated names. */
export function printRead(read: DatasetRead, alias: string, query: PrintQuery): string {
  switch (read.kind) {
    case 'events':
      return printEvents(read);
    case 'records':
      return printRecords(read);
    case 'points':
      return printPoints(read, alias, query);
    case 'series':
      return printSeries(read);
    case 'metadata':
      return printMetadata(read);
  }
}

const table = (read: DatasetRead, name: TableName): string =>
  `${quoteIdentifier(read.database)}.${quoteIdentifier(physicalTable(read.dataset, name))}`;

const whereClause = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;

/** A subselect needs a column, even when the query only counts rows. */
const selectList = (columns: readonly string[]): string => (columns.length === 0 ? '1' : columns.join(', '));

const renamed = (columns: ReadonlyMap<string, string>): readonly string[] =>
  [...columns].map(([name, sql]) => `${sql} AS ${quoteIdentifier(name)}`);

/**
 * The half-open range on a time column. A bound between two values that the column can hold excludes what
 * lies before it, so rounding it up to the column's precision changes nothing.
 */
function timeConditions(column: string, range: RangeShape, unitMicros: number): readonly string[] {
  return [
    ...(range.start ? [`${column} >= ${timePlaceholder('start', unitMicros)}`] : []),
    ...(range.end ? [`${column} < ${timePlaceholder('end', unitMicros)}`] : []),
  ];
}

/**
 * The range of inserts. A part has the rows of the inserts whose numbers are in its name, from the second to
 * the third piece, so that parts with no row of the range are not read. Of a merged part with older rows, the
 * numbers alone are read first.
 */
function arrivalConditions({ arrival }: RangeShape): readonly string[] {
  if (arrival !== true) return [];
  const [from, to] = [insertPlaceholder('from'), insertPlaceholder('to')];
  return [
    `_block_number >= ${from}`,
    `_block_number < ${to}`,
    `toUInt64(splitByChar('_', _part)[3]) >= ${from}`,
    `toUInt64(splitByChar('_', _part)[2]) < ${to}`,
  ];
}

/**
 * What the reader's privileges ask of every row, before anything else is looked at; empty if
 * all rows may be read.
 */
function allowedClause<Target>(allowed: AllowedRows<Target>, print: (column: Target) => string): string {
  if (allowed === 'all') return '';
  const matches = allowed.map(({ column, value }) => `${print(column)} = ${printValue(value)}`);
  return ` PREWHERE ${matches.length === 0 ? 'false' : matches.join(' OR ')}`;
}

const printValue = (value: string | number | boolean): string =>
  typeof value === 'string' ? quoteString(value) : String(value);

/** The table of a dataset of which no column is read and no row left out; undefined for any other. */
export function wholeTable(read: DatasetRead): string | undefined {
  if (read.kind !== 'events' && read.kind !== 'records') return undefined;
  const hasCondition =
    read.range.start || read.range.end || read.range.arrival === true || read.filters.length > 0;
  if (read.columns.size > 0 || read.allowed !== 'all' || hasCondition) return undefined;
  return table(read, read.kind === 'events' ? 'events' : read.table);
}

function printEvents(read: EventsRead): string {
  const allowed = allowedClause(read.allowed, (sql) => sql);
  const times = timeConditions(quoteIdentifier(eventTimeColumn.name), read.range, 1);
  const conditions = [...arrivalConditions(read.range), ...times, ...read.filters];
  return `SELECT ${selectList(renamed(read.columns))} FROM ${table(read, 'events')}${allowed}${whereClause(conditions)}`;
}

function printRecords(read: RecordsRead): string {
  const allowed = allowedClause(read.allowed, (sql) => sql);
  const times = timeConditions('timestamp', read.range, 1);
  const conditions = [...arrivalConditions(read.range), ...times, ...read.filters];
  return `SELECT ${selectList(renamed(read.columns))} FROM ${table(read, read.table)}${allowed}${whereClause(conditions)}`;
}

const seriesExpression = (column: SeriesColumn): string => {
  if (column.kind === 'detail') return column.sql;
  if (column.kind !== 'label') return column.kind;
  const label = quoteString(column.label);
  return `if(mapContains(labels, ${label}), labels[${label}], NULL)`;
};

const seriesColumns = (series: ReadonlyMap<string, SeriesColumn>): readonly string[] =>
  [...series].map(([name, column]) => `${seriesExpression(column)} AS ${quoteIdentifier(name)}`);

const metricColumns = (columns: ReadonlyMap<string, MetricColumn>): readonly string[] =>
  [...columns].map(([name, { sql }]) => `${sql} AS ${quoteIdentifier(name)}`);

/**
 * Points, with what the query needs of their series joined to them. The order key of points is (metric,
 * series, time), so the set of series that WHERE asks for decides which granules are read.
 */
function printPoints(read: PointsRead, alias: string, query: PrintQuery): string {
  const series = seriesColumns(read.series);
  const conditions = read.seriesConditions;
  const chosen = ['metric_id', 'series_id', ...series].join(', ');
  const allowed = allowedClause(read.allowed, seriesExpression);
  const filter = conditions.length === 0 ? '' : ` WHERE ${printExpression(and(...conditions), query)}`;
  // Under the alias of the relation itself, so that its conditions print the same in here.
  const seriesOf = (columns: readonly string[]): string =>
    `SELECT ${columns.join(', ')} FROM (SELECT ${chosen} FROM ${table(read, 'series')}${allowed}) AS ${quoteGenerated(alias)}${filter}`;
  const { staleIn } = read.table;
  const where = [
    ...timeConditions('timestamp', read.range, 1000),
    ...(staleIn === undefined ? [] : [`reinterpretAsUInt64(${staleIn}) != ${staleMarkerBits}`]),
    ...(conditions.length === 0 && allowed === ''
      ? []
      : [`(metric_id, series_id) IN (${seriesOf(['metric_id', 'series_id'])})`]),
  ];
  const points = metricColumns(read.columns);
  const from = table(read, read.table.table);
  const needed = [...read.joined].map(quoteIdentifier);
  if (needed.length === 0) return `SELECT ${selectList(points)} FROM ${from}${whereClause(where)}`;
  // A series has a row for each day, and repeats until they are merged: ANY takes one of them.
  const joined = `${from} AS ${read.table.table} ANY LEFT JOIN (${seriesOf(['series_id', ...needed])}) AS series USING (series_id)`;
  return `SELECT ${[...points, ...needed].join(', ')} FROM ${joined}${whereClause(where)}`;
}

/** The series themselves, each once; those that had samples on a day that the range touches. */
function printSeries(read: SeriesRead): string {
  const columns = selectList(seriesColumns(read.series));
  const allowed = allowedClause(read.allowed, seriesExpression);
  const where = whereClause(dayConditions(read.range));
  return `SELECT ${columns} FROM ${table(read, 'series')}${allowed}${where} LIMIT 1 BY series_id`;
}

/**
 * Each metric once, as it was described last; those whose description came on a day that the range touches. A
 * description has no labels: who may not see all series sees those of the metrics that have a series to see.
 */
function printMetadata(read: MetadataRead): string {
  const columns = selectList(metricColumns(read.columns));
  const where = whereClause(dayConditions(read.range));
  const series = allowedClause(read.allowed, seriesExpression);
  const allowed =
    series === ''
      ? ''
      : ` PREWHERE metric_name IN (SELECT metric_name FROM ${table(read, 'series')}${series})`;
  return `SELECT ${columns} FROM ${table(read, 'metadata')}${allowed}${where} ORDER BY received_at DESC LIMIT 1 BY metric_name`;
}

function dayConditions(range: RangeShape): readonly string[] {
  return [
    ...(range.start ? [`date >= ${dayPlaceholder('start')}`] : []),
    ...(range.end ? [`date <= ${dayPlaceholder('end')}`] : []),
  ];
}

import type { DecodeResult } from '../../../src/decode/task.ts';
import type { TableName } from '../../../src/model/dataset.ts';
import { type NativeRow, type NativeValue, nativeRows } from '../clickhouse/native-rows.ts';
import { decoded } from '../decode/decoded.ts';

/** A row with the name and the labels of its series, and without their ids. */
export type SeriesRow = Readonly<Record<string, NativeValue>>;

const tableRows = (result: DecodeResult, table: TableName): NativeRow[] =>
  decoded(result)
    .blocks.filter((block) => block.table === table)
    .flatMap(nativeRows);

/** `name{a="x",b="y"}` */
function seriesText({ metric_name: name, labels }: NativeRow): string {
  const pairs = (labels as readonly (readonly string[])[]).map(
    ([key, value]) => `${key}=${JSON.stringify(value)}`,
  );
  return `${name}{${pairs.join(',')}}`;
}

/** The rows of a table, each with its series as `series`; of a result whose series rows were not left out. */
export function rowsBySeries(
  result: DecodeResult,
  table: 'samples' | 'exemplars' | 'histograms' | 'series',
): SeriesRow[] {
  const series = tableRows(result, 'series');
  const byId = new Map(series.map((row) => [String(row['series_id']), seriesText(row)]));
  return tableRows(result, table).map(({ series_id: id, metric_id: _, metric_name: __, ...row }) => {
    const found = byId.get(String(id));
    if (found === undefined) throw new Error(`A row of ${table} has no series`);
    if (table === 'series') delete (row as Record<string, unknown>)['labels'];
    return { series: found, ...row };
  });
}

/** `value` of each sample by its series. */
export const valuesBySeries = (result: DecodeResult): Record<string, NativeValue> =>
  Object.fromEntries(
    rowsBySeries(result, 'samples').map(({ series, value }) => [String(series), value ?? '']),
  );

export const metadataRows = (result: DecodeResult): NativeRow[] => tableRows(result, 'metadata');

import type { ColumnSpec } from '../model/column.ts';
import type { DecodeCounts } from '../model/counts.ts';
import type { DatasetKind, TableName } from '../model/dataset.ts';
import type { Receipt } from '../model/received-amounts.ts';
import type { StoredRequest } from '../model/replay.ts';

/** What a record says about its blocks. */
export interface RecordHeader {
  readonly tenant: string;
  /** Its id. */
  readonly dataset: string;
  readonly kind: DatasetKind;
  /** Whether the id was presumed before the store had been read (`catalog/catalog.ts`). */
  readonly presumed?: true | undefined;
  /** How a retry of the request is recognised. Absent if it cannot be, and in logs of older versions. */
  readonly request?: StoredRequest | undefined;
  /** Absent in logs of older versions. */
  readonly received?: Receipt | undefined;
  readonly blocks: readonly BlockHeader[];
}

export interface BlockHeader {
  readonly table: TableName;
  readonly rows: number;
  readonly byteLength: number;
  readonly columns: readonly ColumnSpec[];
}

/**
 * A header as JSON. `JSON.stringify` takes longer for it than the rest of a small record does, most of that
 * for columns that are the same ones each time. All numbers are whole and finite, so their text is that of
 * JSON.
 */
export function recordHeaderJson(header: RecordHeader): string {
  const { presumed, request, received, blocks } = header;
  let json = placeJson(header);
  if (presumed === true) json += ',"presumed":true';
  if (request !== undefined) json += `,"request":${requestJson(request)}`;
  if (received !== undefined) json += `,"received":{"micros":${received.micros},"bytes":${received.bytes}}`;
  json += ',"blocks":[';
  let separator = '';
  for (const { table, rows, byteLength, columns } of blocks) {
    json += `${separator}{"table":"${table}","rows":${rows},"byteLength":${byteLength},"columns":${columnsJson(table, columns)}}`;
    separator = ',';
  }
  return `${json}]}`;
}

/** Where the last record went; most go where the one before did. */
let lastPlace = { tenant: '', dataset: '', kind: '', json: '' };

function placeJson({ tenant, dataset, kind }: RecordHeader): string {
  const last = lastPlace;
  if (last.dataset === dataset && last.tenant === tenant && last.kind === kind) return last.json;
  const json = `{"tenant":${textJson(tenant)},"dataset":${textJson(dataset)},"kind":"${kind}"`;
  lastPlace = { tenant, dataset, kind, json };
  return json;
}

function requestJson({ name, body, receivedMicros, counts }: StoredRequest): string {
  const ofBody = body === undefined ? '' : `,"body":${textJson(body)}`;
  return `{"name":${textJson(name)}${ofBody},"receivedMicros":${receivedMicros},"counts":${countsJson(counts)}}`;
}

function countsJson(counts: DecodeCounts): string {
  const { events, logs, spans, samples, histograms, exemplars, points, metadata, problems } = counts;
  return (
    `{"events":${events},"logs":${logs},"spans":${spans},"samples":${samples},"histograms":${histograms},` +
    `"exemplars":${exemplars},"points":${points},"metadata":${metadata},"problems":${problems}}`
  );
}

/** Characters that JSON does not escape. Names of datasets and hashes contain no others. */
const plainText = /^[\w:+.~-]*$/;

const textJson = (text: string): string => (plainText.test(text) ? `"${text}"` : JSON.stringify(text));

/** The columns of a table that were written last: those of metrics are the very same array each time. */
const lastColumns = new Map<TableName, { readonly columns: readonly ColumnSpec[]; readonly json: string }>();

function columnsJson(table: TableName, columns: readonly ColumnSpec[]): string {
  const last = lastColumns.get(table);
  if (last?.columns === columns) return last.json;
  const json = JSON.stringify(columns);
  lastColumns.set(table, { columns, json });
  return json;
}

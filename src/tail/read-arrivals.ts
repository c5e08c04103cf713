import type { CancelSignal } from '../lib/cancellation.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { ArrivalQuery, ArrivalRequest, QueryResult } from '../query/request.ts';
import type { TailPosition } from './tail-position.ts';

/** A part of the order of arrival that is to be read. */
export interface ArrivalsToRead {
  readonly principal: Principal;
  readonly tenant: string;
  readonly dataset: string;
  readonly condition: string;
  readonly from: TailPosition;
  /** The first insert behind it. */
  readonly to: number;
  /** Rows that are wanted; the others are counted. */
  readonly maxRows: number;
  readonly signal: CancelSignal;
}

export interface Arrivals {
  readonly rows: readonly ArrivedRow[];
  /** Further rows, which are not read. */
  readonly skipped: number;
  /** Behind all of them; all inserts of the range are behind it unless there are too many. */
  readonly end: TailPosition;
}

export interface ArrivedRow {
  /** The row as JSON in one line, without a line feed. */
  readonly json: Uint8Array;
  /** Behind the row. */
  readonly position: TailPosition;
}

/**
 * Reads the first rows of a range, and counts the others. The numbers of rows are asked for first, for which
 * the store reads the columns of the condition alone: mostly there are none, and where there are many, only
 * the inserts of the first ones are read.
 * @throws AppError
 */
export async function readArrivals(query: ArrivalQuery, range: ArrivalsToRead): Promise<Arrivals> {
  const { from, to, maxRows } = range;
  const counts = await insertsOf(query, range);
  const isCut = counts.length === limits.maxTailInserts;
  const end = { insert: isCut ? (counts.at(-1)?.insert ?? to - 1) + 1 : to, rows: 0 };
  const total = counts.reduce((sum, { rows }) => sum + rows, 0);
  if (total === 0) return { rows: [], skipped: 0, end };
  let last = from.insert;
  let wanted = maxRows;
  for (const { insert, rows } of counts) {
    if (wanted <= 0) break;
    if (rows > 0) last = insert;
    wanted -= rows;
  }
  const rows = await rowsUpTo(query, range, last);
  return { rows, skipped: Math.max(0, total - rows.length), end };
}

interface InsertRows {
  readonly insert: number;
  /** Those of its rows that are asked for and not behind the beginning. */
  readonly rows: number;
}

async function insertsOf(query: ArrivalQuery, range: ArrivalsToRead): Promise<readonly InsertRows[]> {
  const { from, to } = range;
  const inserts = { from: from.insert, to };
  const request = requestOf(range, { inserts, form: 'inserts', maxRows: limits.maxTailInserts });
  const found: InsertRows[] = [];
  for await (const line of linesOf(await query.arrivals(request))) {
    const [insert = 0, rows = 0] = Object.values(JSON.parse(line.toString()) as object).map(Number);
    found.push({ insert, rows: insert === from.insert ? Math.max(0, rows - from.rows) : rows });
  }
  return found;
}

/** @param last the insert behind which no row is wanted */
async function rowsUpTo(
  query: ArrivalQuery,
  range: ArrivalsToRead,
  last: number,
): Promise<readonly ArrivedRow[]> {
  const { from, maxRows } = range;
  // Two bounds, so that the translations of a tail are two at most.
  const bound = from.rows === 0 ? maxRows : limits.maxTailRows + maxRows;
  const inserts = { from: from.insert, to: last + 1 };
  const result = await query.arrivals(requestOf(range, { inserts, form: 'rows', maxRows: bound }));
  const rows: ArrivedRow[] = [];
  let bytes = 0;
  let at: TailPosition = { insert: from.insert, rows: 0 };
  for await (const line of linesOf(result)) {
    const { json, insert } = withoutInsert(line);
    at = { insert, rows: insert === at.insert ? at.rows + 1 : 1 };
    if (insert === from.insert && at.rows <= from.rows) continue;
    bytes += json.byteLength;
    if (rows.length > 0 && bytes > limits.maxTailRoundBytes) break;
    rows.push({ json, position: at });
    if (rows.length === maxRows) break;
  }
  return rows;
}

const requestOf = (
  { principal, tenant, dataset, condition, signal }: ArrivalsToRead,
  { inserts, form, maxRows }: Pick<ArrivalRequest, 'inserts' | 'form' | 'maxRows'>,
): ArrivalRequest => ({ principal, tenant, dataset, condition, signal, inserts, form, maxRows });

const lineFeed = 0x0a;

/** The lines of a result, each in memory of its own; ending early cancels the query. */
async function* linesOf({ chunks }: QueryResult): AsyncGenerator<Buffer, void> {
  let begun: Uint8Array[] = [];
  for await (const { parts } of chunks) {
    for (const part of parts) {
      let start = 0;
      for (let end = part.indexOf(lineFeed); end >= 0; end = part.indexOf(lineFeed, start)) {
        yield Buffer.concat([...begun, part.subarray(start, end)]);
        begun = [];
        start = end + 1;
      }
      if (start < part.byteLength) begun.push(part.slice(start));
    }
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

const [comma, colon, closingBrace] = [0x2c, 0x3a, 0x7d];

/** `{…,"p_insert":7}`: the last member is taken out. Its value is a number, so no text follows its name. */
function withoutInsert(line: Buffer): { readonly json: Uint8Array; readonly insert: number } {
  const value = line.lastIndexOf(colon);
  const member = line.lastIndexOf(comma, value);
  if (value < 0 || member < 0) throw new Error('BUG: a row of a live tail has no number of its insert');
  const insert = Number(line.toString('latin1', value + 1, line.lastIndexOf(closingBrace)));
  line[member] = closingBrace;
  return { json: line.subarray(0, member + 1), insert };
}

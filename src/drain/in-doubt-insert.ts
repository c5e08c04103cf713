/**
 * Inserts a batch that is in doubt: the store may have it already, in whole or in part, and its memory of
 * tokens cannot be trusted:
 *
 * - ClickHouse records a token shortly before it commits the rows. A server that is killed between the two
 *   trusts the token afterwards: it would take the repeated insert for stored.
 * - It syncs the rows of an insert, but not the record of its token. So a power cut may leave rows whose
 *   token is forgotten: the server would take the repeated insert for a new one.
 *
 * So the rows themselves are looked for, and those that are missing are inserted:
 *
 * 1. If an abandoned insert of the batch still runs, under whatever token, the try ends here and is repeated
 *    later.
 * 2. Missing rows are inserted under the batch's own token. Should an earlier insert arrive late after all,
 *    the store takes the two for the same one.
 * 3. If rows are still missing then, the store had the token without them. They are inserted under a token
 *    that was never used.
 *
 * Any number of failures in between is harmless: the next try starts from what is there.
 *
 * Rows are the same if they are equal in all columns, times included. A row that is in the store as often as
 * in the batch is not missing, even if another request brought it.
 */

import {
  type Comparisons,
  type ComparisonTable,
  type Part,
  runningInserts,
} from '../clickhouse/comparison-table.ts';
import type { Store } from '../clickhouse/store.ts';
import { StoreError, unknownStatusOfInsert } from '../clickhouse/store-error.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { ulid } from '../lib/ulid.ts';
import { mergedBlocks } from './merged-blocks.ts';
import { blocksOf, countRows, halveRows, type Rows } from './row-ranges.ts';
import type { TableBatch } from './table-batch.ts';

export interface InDoubtInsert {
  readonly batch: TableBatch;
  readonly token: string;
  /** The rows of the batch that the table must have. */
  readonly rows: readonly Rows[];
  /** The number of parts of about equal size, each of which needs less memory in the store than the whole. */
  readonly parts: number;
  readonly signal: AbortSignal;
}

interface InsertContext {
  readonly comparisons: Comparisons;
  readonly store: Store;
  readonly clock: Clock & Pick<Timers, 'turn'>;
  readonly log: Logger;
}

/**
 * One at a time for each node.
 * @throws StoreError as an insert does
 */
export async function insertMissing(context: InsertContext, insert: InDoubtInsert): Promise<void> {
  const { store, comparisons, clock } = context;
  const { batch, token, rows, parts, signal } = insert;
  if ((await runningInserts(store, token)) > 0) {
    throw new StoreError(
      'an insert that nobody waits for any more still runs',
      unknownStatusOfInsert,
      undefined,
    );
  }
  const comparison = await comparisons.make(batch, Math.floor(clock.nowMicros() / 1000));
  try {
    for (const piece of rows.flatMap((some) => cut(some, Math.ceil(countRows(rows) / parts)))) {
      await comparison.load(token, blocksOf([piece]), signal);
    }
    let loaded = 0;
    for (let part = 0; part < parts; part += 1) {
      loaded += await insertPart(context, insert, comparison, { part, of: parts });
    }
    // The store may have crashed and lost the rows to compare, which are not synced.
    if (loaded !== countRows(rows)) {
      const message = `${loaded} of ${countRows(rows)} rows were there to be compared`;
      throw new StoreError(message, unknownStatusOfInsert, undefined);
    }
  } finally {
    await comparison.drop();
  }
}

/** @returns how many rows were there to be compared in the end */
async function insertPart(
  { store, clock, log }: InsertContext,
  { batch, token, rows, signal }: InDoubtInsert,
  comparison: ComparisonTable,
  part: Part,
): Promise<number> {
  const { database, table, columns } = batch;
  const own = part.of === 1 ? token : `${token}/part ${part.part} of ${part.of}`;
  for (const name of [own, `${own}/${ulid(Math.floor(clock.nowMicros() / 1000))}`]) {
    const { loaded, missing } = await comparison.compare(part);
    if (missing === 0) return loaded;
    if (name !== own) {
      log.warn(
        { table, token, rows: missing },
        'the store knew an insert whose rows it does not have; they were inserted',
      );
    }
    // All rows are missing: they are sent directly again, without the comparison table.
    if (missing === countRows(rows)) {
      const blocks = await mergedBlocks(rows, clock);
      await store.insert({ database, table, columns, token: name, blocks }, signal);
    } else await comparison.insertMissing(name, part);
  }
  return (await comparison.compare(part)).loaded;
}

/** Pieces of at most so many rows, as far as the rows can be split. */
function cut(rows: Rows, maxRows: number): Rows[] {
  const halves = rows.to - rows.from > maxRows ? halveRows(rows) : undefined;
  return halves === undefined ? [rows] : halves.flatMap((half) => cut(half, maxRows));
}

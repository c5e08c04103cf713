/**
 * The order of arrival: the numbers that the store gives to inserts.
 *
 * ClickHouse numbers the parts of a MergeTree table in the order in which they become visible, under one lock
 * for the whole table, and a merge keeps the number of each row's insert where the table says so
 * (`enable_block_number_column`). A reader that has seen all rows below a number therefore never finds a
 * later row below it, whatever time the event carries, whichever node has sent it and however parts were
 * merged since. Within an insert, rows keep their places: a merge takes rows of one part in their order, so
 * that `_part_offset` orders the rows of one insert in the same way before and after. The metadata log goes
 * by the same numbers (`metadata/metadata-log.ts`).
 *
 * What else was considered: a column with the time of receipt or with the segment of the log. Nodes share no
 * clock and no counter, and rows become visible in another order than such numbers are given, so a reader
 * would have to look back and remember what it had sent. It would cost a column in each insert, and existing
 * rows would not have it. Reading sealed segments would show neither the rows of other nodes nor the guards
 * of SQL.
 *
 * What it costs: an insert writes nothing more. A merge writes one column of numbers that hardly change from
 * row to row: 0.06 bytes a row, 0.1 % of a table of logs. Of tables that an older version has made, merges
 * keep the numbers from the first tail on: all rows from before are older than that tail.
 *
 * What may go back: the store begins again behind the highest number that it finds when it starts. If the
 * rows with the highest numbers were removed before, by retention, the next rows get these numbers. A
 * position beyond the newest number is taken back to it, so that they are not missed.
 */
import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { arrivalSettings } from '../clickhouse/table-definitions.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';

/** A table of events, logs or spans, unquoted. */
export interface TailedTable {
  readonly database: string;
  readonly table: string;
}

export class InsertNumbers {
  readonly #store: Pick<Store, 'command' | 'select'>;

  constructor(store: Pick<Store, 'command' | 'select'>) {
    this.#store = store;
  }

  /**
   * Has merges of a table keep the numbers of inserts, if they do not yet.
   * @throws StoreError
   */
  async keep({ database, table }: TailedTable, tenant: string): Promise<void> {
    const found = await selectRows<[keeps: number]>(
      this.#store,
      `SELECT toUInt8(position(engine_full, ${quoteString(arrivalSettings)}) > 0) FROM system.tables
       WHERE database = ${quoteString(database)} AND name = ${quoteString(table)}`,
      tenant,
    );
    // A table that is not there yet is made with the setting.
    if (found.every(([keeps]) => keeps === 1)) return;
    await this.#store.command(
      `ALTER TABLE ${quoteIdentifier(database)}.${quoteIdentifier(table)} MODIFY SETTING ${arrivalSettings}`,
    );
  }

  /**
   * The number of the newest insert of each table, in their order; 0 for a table without rows.
   * @throws StoreError
   */
  async newest(tables: readonly TailedTable[]): Promise<readonly number[]> {
    if (tables.length === 0) return [];
    const listOf = (names: readonly string[]) => [...new Set(names)].map(quoteString).join(', ');
    const rows = await selectRows<[database: string, table: string, newest: number]>(
      this.#store,
      `SELECT database, table, toFloat64(max(max_block_number)) FROM system.parts
       WHERE active AND database IN (${listOf(tables.map(({ database }) => database))})
         AND table IN (${listOf(tables.map(({ table }) => table))})
       GROUP BY database, table`,
    );
    const newest = new Map(rows.map(([database, table, number]) => [`${database}/${table}`, number]));
    return tables.map(({ database, table }) => newest.get(`${database}/${table}`) ?? 0);
  }
}

import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import type { ColumnSpec } from '../model/column.ts';
import { timeColumnOf } from '../model/dataset.ts';
import { renderSettings } from './clickhouse-store.ts';
import { namedInsert } from './insert-settings.ts';
import type { InsertBatch, Store } from './store.ts';

/** One of so many parts of the rows, chosen by what they hold. */
export interface Part {
  readonly part: number;
  readonly of: number;
}

type Table = Pick<InsertBatch, 'database' | 'table'> & { readonly columns: readonly ColumnSpec[] };

/**
 * The rows of a batch beside the table for which they are meant, so that the store can tell which of them the table
 * has. Rows are compared by all columns of the batch. A row of which the batch has three and the table two is missing
 * once. Only that part of the table is read whose times are those of the batch.
 */
export class ComparisonTable {
  readonly #store: Store;
  readonly #table: Table;
  readonly #rows: Pick<InsertBatch, 'database' | 'table'>;
  /** What a row holds, as a number: two rows have the same if they are equal. NULL in a tuple makes no NULL of it. */
  readonly #content: string;
  readonly #names: string;

  private constructor(store: Store, node: string, table: Table) {
    this.#store = store;
    this.#table = table;
    this.#rows = { database: 'millrace', table: `comparison_${node}` };
    this.#names = table.columns.map(({ name }) => quoteIdentifier(name)).join(', ');
    this.#content = `sipHash128(tuple(${this.#names}))`;
  }

  /**
   * Without rows at first. It has the constraints of the table.
   * @param node its name is part of the table's, since nodes may share a store; one comparison at a time for each
   * @throws StoreError
   */
  static async make(store: Store, node: string, table: Table): Promise<ComparisonTable> {
    const made = new ComparisonTable(store, node, table);
    // A crash may have left the last one.
    await store.command(
      `CREATE OR REPLACE TABLE ${nameOf(made.#rows)} AS ${nameOf(table)} ENGINE = MergeTree PARTITION BY tuple() ORDER BY tuple()`,
    );
    return made;
  }

  /** @throws StoreError */
  async load(token: string, blocks: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    await this.#store.insert({ ...this.#rows, columns: this.#table.columns, token, blocks }, signal);
  }

  /** How many rows were loaded. @throws StoreError */
  async count(): Promise<number> {
    const [rows = 0] = await this.#figures(`SELECT count() FROM ${nameOf(this.#rows)}`);
    return rows;
  }

  /** How many of the rows the table does not have. @throws StoreError */
  async missing(part: Part): Promise<number> {
    const wanted = `SELECT ${this.#content} AS content, count() AS wanted FROM ${nameOf(this.#rows)}
      WHERE ${this.#isIn(part)} GROUP BY content`;
    const [missing = 0] = await this.#figures(
      `SELECT sum(if(found < wanted, wanted - found, 0)) FROM (${wanted}) AS a LEFT JOIN (${this.#found(part)}) AS b USING content`,
    );
    return missing;
  }

  /** Inserts the rows that the table does not have. @throws StoreError */
  async insertMissing(token: string, part: Part): Promise<void> {
    const numbered = `SELECT ${this.#names}, ${this.#content} AS content, row_number() OVER (PARTITION BY content) AS place
      FROM ${nameOf(this.#rows)} WHERE ${this.#isIn(part)}`;
    await this.#store.command(
      `INSERT INTO ${nameOf(this.#table)} (${this.#names}) SELECT ${this.#names} FROM (${numbered}) AS a
       LEFT JOIN (${this.#found(part)}) AS b USING content WHERE place > found
       SETTINGS ${renderSettings(namedInsert(token))}`,
    );
  }

  /** @throws StoreError */
  async drop(): Promise<void> {
    await this.#store.command(`DROP TABLE IF EXISTS ${nameOf(this.#rows)}`);
  }

  /** How often the table has each of the rows. */
  #found(part: Part): string {
    const time = quoteIdentifier(timeColumnOf(this.#table.table));
    const rows = nameOf(this.#rows);
    return `SELECT ${this.#content} AS content, count() AS found FROM ${nameOf(this.#table)}
      WHERE ${time} >= (SELECT min(${time}) FROM ${rows}) AND ${time} <= (SELECT max(${time}) FROM ${rows})
      AND ${this.#isIn(part)} AND content IN (SELECT ${this.#content} FROM ${rows}) GROUP BY content`;
  }

  #isIn({ part, of }: Part): string {
    return of === 1 ? '1' : `sipHash64(tuple(${this.#names})) % ${of} = ${part}`;
  }

  async #figures(query: string): Promise<number[]> {
    const bytes = await this.#store.select(query, 'JSONCompactEachRow');
    return (JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown[]).map(Number);
  }
}

/**
 * How many inserts with that token the store is still busy with, whether or not anybody waits for them.
 * @throws StoreError
 */
export async function runningInserts(store: Store, token: string): Promise<number> {
  const bytes = await store.select(
    `SELECT count() FROM system.processes WHERE Settings['log_comment'] = ${quoteString(token)}`,
    'JSONCompactEachRow',
  );
  return Number((JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown[])[0]);
}

const nameOf = ({ database, table }: Pick<InsertBatch, 'database' | 'table'>): string =>
  `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;

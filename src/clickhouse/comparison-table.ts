import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { ulid } from '../lib/ulid.ts';
import type { ColumnSpec } from '../model/column.ts';
import { timeColumnOf } from '../model/dataset.ts';
import { namedInsert } from './insert-settings.ts';
import { selectRow } from './select-rows.ts';
import { renderSettings } from './statement-settings.ts';
import type { InsertBatch, Store } from './store.ts';

/** One of several parts of the rows, selected by their content. */
export interface Part {
  readonly part: number;
  readonly of: number;
}

type TableName = Pick<InsertBatch, 'database' | 'table'>;
type Table = TableName & { readonly columns: readonly ColumnSpec[] };

const database = 'millrace';

/**
 * The comparisons of one node. Each has a table with a name that was never used before: a late statement of
 * an earlier comparison, perhaps from an earlier process, must not find it. Tables that could not be dropped,
 * or that a crash left, are dropped before the next comparison.
 */
export class Comparisons {
  readonly #store: Store;
  readonly #prefix: string;
  /** Undefined until the tables that earlier processes left are known. */
  #left: Set<string> | undefined;

  /** @param node its name is part of the table names, since nodes may share a store */
  constructor(store: Store, node: string) {
    this.#store = store;
    this.#prefix = `comparison_${node}_`;
  }

  /**
   * @returns an empty table with the constraints of the other one
   * @throws StoreError
   */
  async make(table: Table, nowMs: number): Promise<ComparisonTable> {
    this.#left ??= new Set(await this.#tables());
    for (const name of this.#left) await this.#drop(name);
    const rows = { database, table: `${this.#prefix}${ulid(nowMs)}` };
    this.#left.add(rows.table);
    await this.#store.command(
      `CREATE TABLE ${nameOf(rows)} AS ${nameOf(table)} ENGINE = MergeTree PARTITION BY tuple() ORDER BY tuple()`,
    );
    return new ComparisonTable(this.#store, table, rows, () => this.#drop(rows.table));
  }

  async #tables(): Promise<string[]> {
    const [names] = await selectRow<[string[]]>(
      this.#store,
      `SELECT groupArray(name) FROM system.tables WHERE database = ${quoteString(database)} AND startsWith(name, ${quoteString(this.#prefix)})`,
    );
    return names;
  }

  async #drop(table: string): Promise<void> {
    await this.#store.command(`DROP TABLE IF EXISTS ${nameOf({ database, table })}`);
    this.#left?.delete(table);
  }
}

/**
 * The rows of a batch in a table next to their target table, so that the store can tell which of them the
 * target has. Rows are compared by all columns of the batch. If the batch has a row three times and the
 * target twice, it is missing once. Only the part of the target with the times of the batch is read.
 */
export class ComparisonTable {
  readonly #store: Store;
  readonly #table: Table;
  readonly #rows: TableName;
  /** A hash of a row's content: equal for equal rows. A NULL inside the tuple does not make it NULL. */
  readonly #content: string;
  readonly #names: string;

  /**
   * Drops the table.
   * @throws StoreError
   */
  readonly drop: () => Promise<void>;

  constructor(store: Store, table: Table, rows: TableName, drop: () => Promise<void>) {
    this.#store = store;
    this.#table = table;
    this.#rows = rows;
    this.drop = drop;
    this.#names = table.columns.map(({ name }) => quoteIdentifier(name)).join(', ');
    this.#content = `sipHash128(tuple(${this.#names}))`;
  }

  /** @throws StoreError */
  async load(token: string, blocks: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    await this.#store.insert({ ...this.#rows, columns: this.#table.columns, token, blocks }, signal);
  }

  /**
   * The number of rows that were loaded, and the number of these that the target lacks.
   * @throws StoreError
   */
  async compare(part: Part): Promise<{ readonly loaded: number; readonly missing: number }> {
    const wanted = `SELECT ${this.#content} AS content, count() AS wanted FROM ${nameOf(this.#rows)}
      WHERE ${this.#isIn(part)} GROUP BY content`;
    const [loaded, missing] = await selectRow<[string, string]>(
      this.#store,
      `SELECT sum(wanted), sum(if(found < wanted, wanted - found, 0))
       FROM (${wanted}) AS a LEFT JOIN (${this.#found(part)}) AS b USING content`,
    );
    return { loaded: Number(loaded), missing: Number(missing) };
  }

  /**
   * Inserts the rows that the target lacks.
   * @throws StoreError
   */
  async insertMissing(token: string, part: Part): Promise<void> {
    const numbered = `SELECT ${this.#names}, ${this.#content} AS content, row_number() OVER (PARTITION BY content) AS place
      FROM ${nameOf(this.#rows)} WHERE ${this.#isIn(part)}`;
    await this.#store.command(
      `INSERT INTO ${nameOf(this.#table)} (${this.#names}) SELECT ${this.#names} FROM (${numbered}) AS a
       LEFT JOIN (${this.#found(part)}) AS b USING content WHERE place > found
       SETTINGS ${renderSettings(namedInsert(token))}`,
    );
  }

  /** How often the target has each of the rows. */
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
}

/**
 * The number of inserts that the store is still running with this token, or with one that starts with it and
 * a slash, whether or not anybody waits for them.
 * @throws StoreError
 */
export async function runningInserts(store: Store, token: string): Promise<number> {
  const [count] = await selectRow<[string]>(
    store,
    `SELECT count() FROM system.processes WHERE startsWith(concat(Settings['log_comment'], '/'), ${quoteString(`${token}/`)})`,
  );
  return Number(count);
}

const nameOf = ({ database, table }: TableName): string =>
  `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;

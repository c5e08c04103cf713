import { quoteIdentifier } from '../lib/quote.ts';
import type { InsertBatch, Store } from './store.ts';

/**
 * A table that accepts what another table would accept, and stores nothing: it has the same columns and
 * constraints on ClickHouse's engine `Null`. An insert reads, converts and checks all rows as an insert into
 * the other table would.
 */
export class TrialTable {
  readonly #store: Store;
  readonly #table: Pick<InsertBatch, 'database' | 'table'>;

  private constructor(store: Store, table: Pick<InsertBatch, 'database' | 'table'>) {
    this.#store = store;
    this.#table = table;
  }

  /**
   * @param node its name is part of the table name, since nodes may share a store; one trial at a time per
   *   node
   * @throws StoreError
   */
  static async make(
    store: Store,
    node: string,
    like: Pick<InsertBatch, 'database' | 'table'>,
  ): Promise<TrialTable> {
    const trial = new TrialTable(store, { database: 'millrace', table: `trial_${node}` });
    // A crash may have left the previous one.
    await store.command(`CREATE OR REPLACE TABLE ${nameOf(trial.#table)} AS ${nameOf(like)} ENGINE = Null`);
    return trial;
  }

  /** @throws StoreError if the other table would reject the rows, or the store does not answer */
  async insert(batch: Pick<InsertBatch, 'columns' | 'token' | 'blocks'>, signal: AbortSignal): Promise<void> {
    await this.#store.insert({ ...batch, ...this.#table }, signal);
  }

  async drop(): Promise<void> {
    await this.#store.command(`DROP TABLE IF EXISTS ${nameOf(this.#table)}`);
  }
}

const nameOf = ({ database, table }: Pick<InsertBatch, 'database' | 'table'>): string =>
  `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;

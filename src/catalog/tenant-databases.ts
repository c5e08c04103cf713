import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { quoteIdentifier } from '../lib/quote.ts';
import { databaseOf, datasetIdOf } from '../model/dataset.ts';
import type { HasEnded, TenantHolder } from './tenant-cleaner.ts';

/** The databases of tenants in the store, with the tables of their datasets. */
export class TenantDatabases implements TenantHolder {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Drops the databases and tables of deleted tenants and datasets. It does not wait for queries that
   * still read them: nobody can name them any more, and the store removes the files some minutes after the
   * last query has ended.
   * @throws StoreError
   */
  async forgetEnded(hasEnded: HasEnded): Promise<void> {
    const prefix = databaseOf('');
    for (const [database] of await selectRows<[string]>(this.#store, 'SELECT name FROM system.databases')) {
      if (!database.startsWith(prefix) || !hasEnded(database.slice(prefix.length))) continue;
      await this.#store.command(`DROP DATABASE IF EXISTS ${quoteIdentifier(database)}`);
    }
    for (const [database, table] of await selectRows<[string, string]>(
      this.#store,
      'SELECT database, name FROM system.tables',
    )) {
      const tenant = database.slice(prefix.length);
      if (!database.startsWith(prefix) || !hasEnded(tenant, datasetIdOf(table))) continue;
      await this.#store.command(
        `DROP TABLE IF EXISTS ${quoteIdentifier(database)}.${quoteIdentifier(table)}`,
      );
    }
  }
}

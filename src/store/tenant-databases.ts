import { quoteIdentifier } from '../lib/quote.ts';
import { databaseOf } from '../model/dataset.ts';
import type { Store } from './store.ts';
import type { TenantHolder } from './tenant-cleaner.ts';

/** The databases of tenants in the store. */
export class TenantDatabases implements TenantHolder {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Drops what ended tenants had, with all tables. It does not wait for queries that are still reading them: nobody
   * can name them any more, and the store removes the files when the last one has ended, some minutes later.
   * @throws StoreError
   */
  async forgetEnded(hasEnded: (tenant: string) => boolean): Promise<void> {
    const prefix = databaseOf('');
    const bytes = await this.#store.select('SELECT name FROM system.databases', 'JSONCompactEachRow');
    const names = Buffer.from(bytes)
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as [string])[0]);
    for (const name of names) {
      if (!name.startsWith(prefix) || !hasEnded(name.slice(prefix.length))) continue;
      await this.#store.command(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)}`);
    }
  }
}

import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type DatasetKind, databaseOf, physicalTable, tablesOfKind } from '../model/dataset.ts';
import type { Retention } from '../model/retention.ts';

/**
 * Makes the store remove rows that are older than a dataset's retention. It uses the TTL of the tables, which
 * expires for all rows of a day at once: whole parts are dropped and nothing is rewritten. Tables without
 * days are left as they are.
 *
 * The store works out in the background what that means for the parts that there are (`MATERIALIZE TTL`), for
 * several changes at once, and nothing waits for it (`alter_sync = 0`): it begins a second or two later, and
 * all statements of the service share one connection.
 * @param retention undefined: nothing is removed
 * @throws StoreError
 */
export async function applyRetention(
  store: Store,
  dataset: { readonly tenant: string; readonly id: string; readonly kind: DatasetKind },
  retention: Retention | undefined,
): Promise<void> {
  const { tenant, id, kind } = dataset;
  const names = tablesOfKind[kind].map((table) => quoteString(physicalTable(id, table))).join(', ');
  const found = await selectRows<[table: string, day: string, hasTtl: number]>(
    store,
    `SELECT name, partition_key, engine_full LIKE '% TTL %' FROM system.tables
     WHERE database = ${quoteString(databaseOf(tenant))} AND name IN (${names}) AND partition_key != ''`,
  );
  for (const [table, day, hasTtl] of found) {
    const alter = `ALTER TABLE ${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(table)}`;
    if (retention !== undefined) {
      await store.command(`${alter} MODIFY SETTING ttl_only_drop_parts = 1`);
      // The day of the row, and then as many whole days.
      await store.command(
        `${alter} MODIFY TTL (${day}) + toIntervalDay(${retention.days + 1}) SETTINGS alter_sync = 0`,
      );
    } else if (hasTtl === 1) await store.command(`${alter} REMOVE TTL`);
  }
}

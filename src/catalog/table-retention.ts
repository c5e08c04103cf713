import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type DatasetKind, databaseOf, physicalTable, tablesOfKind } from '../model/dataset.ts';
import type { Retention } from '../model/retention.ts';

/**
 * Has the store remove what is older than a dataset's retention: by the time to live of its tables, which ends for all
 * rows of a day at once, so that whole parts go and nothing is rewritten. Tables without days are left as they are.
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
      // The day itself, and then as many whole ones.
      await store.command(`${alter} MODIFY TTL (${day}) + toIntervalDay(${retention.days + 1})`);
    } else if (hasTtl === 1) await store.command(`${alter} REMOVE TTL`);
  }
}

import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { Column64, StringColumn, UIntColumn } from '../columnar/columns.ts';
import { encodeNativeBlock } from '../columnar/native-block.ts';
import { quoteString } from '../lib/quote.ts';
import type { ReceivedDay } from '../model/received-amounts.ts';
import type { HasEnded, TenantHolder } from './tenant-cleaner.ts';

/** The amounts of one dataset on one day. */
export interface ReceivedOfDay extends ReceivedDay {
  readonly tenant: string;
  /** The id of the dataset. */
  readonly dataset: string;
}

/**
 * How much was received for each dataset, in a table of the store, so that all nodes report the same figure.
 */
export class ReceivedTable implements TenantHolder {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Adds amounts; each token counts once.
   * @throws StoreError
   */
  async add(amounts: readonly ReceivedOfDay[], token: string): Promise<void> {
    const tenant = new StringColumn('tenant', amounts.length);
    const dataset = new StringColumn('dataset', amounts.length);
    const day = new UIntColumn('day', 'Date', 16, amounts.length);
    const events = new Column64('events', 'UInt64', amounts.length);
    const bytes = new Column64('bytes', 'UInt64', amounts.length);
    for (const amount of amounts) {
      tenant.append(Buffer.from(amount.tenant));
      dataset.append(Buffer.from(amount.dataset));
      day.append(amount.day);
      events.appendInteger(amount.events);
      bytes.appendInteger(amount.bytes);
    }
    const columns = [tenant, dataset, day, events, bytes];
    await this.#store.insert({
      database: 'millrace',
      table: 'received',
      columns: columns.map(({ name, type }) => ({ name, type })),
      token,
      blocks: [encodeNativeBlock(columns, amounts.length)],
    });
  }

  /**
   * The amounts of each day, the oldest first.
   * @throws StoreError
   */
  async days(tenant: string, id: string): Promise<readonly ReceivedDay[]> {
    const rows = await selectRows<[day: number, events: number, bytes: number]>(
      this.#store,
      `SELECT toUInt32(day), toFloat64(sum(events)), toFloat64(sum(bytes)) FROM \`millrace\`.\`received\`
       WHERE tenant = ${quoteString(tenant)} AND dataset = ${quoteString(id)} GROUP BY day ORDER BY day`,
    );
    return rows.map(([day, events, bytes]) => ({ day, events, bytes }));
  }

  /** @throws StoreError */
  async forgetEnded(hasEnded: HasEnded): Promise<void> {
    const datasets = await selectRows<[tenant: string, dataset: string]>(
      this.#store,
      'SELECT DISTINCT tenant, dataset FROM `millrace`.`received`',
    );
    const ended = datasets.filter(([tenant, dataset]) => hasEnded(tenant, dataset));
    if (ended.length === 0) return;
    const names = ended.map(([tenant, dataset]) => `(${quoteString(tenant)}, ${quoteString(dataset)})`);
    await this.#store.command(
      `ALTER TABLE \`millrace\`.\`received\` DELETE WHERE (tenant, dataset) IN (${names.join(', ')}) SETTINGS mutations_sync = 1`,
    );
  }
}

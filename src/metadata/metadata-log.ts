import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { metadataStatements } from '../clickhouse/table-definitions.ts';
import { Coalescer } from '../lib/coalescer.ts';
import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';

export type MetadataKind =
  | 'dataset'
  | 'tenant'
  | 'role'
  | 'user'
  | 'oauthUser'
  | 'apiKey'
  | 'setting'
  // Documents
  | 'dashboard'
  | 'filter'
  | 'alert'
  | 'target'
  | 'silence'
  | 'favorites'
  // Alerts as they run
  | 'alertState'
  | 'lease';

/** Identifies a record: in each tenant there is at most one record of a kind and key. */
export interface MetadataKey {
  readonly tenant: string;
  readonly kind: MetadataKind;
  readonly key: string;
}

/** One line of the log: a new value of a record, or its end. */
export interface MetadataEntry extends MetadataKey {
  readonly id: string;
  /** The id of the entry that this one replaces; empty if there was no record. */
  readonly base: string;
  /** JSON; empty if the record ends. */
  readonly value: string;
  /** Increases along the log. */
  readonly position: number;
}

/** An entry that has no position in the log yet. */
type NewEntry = Omit<MetadataEntry, 'position'>;

/**
 * The append-only log of the service's metadata, in a table of the store that several nodes may write.
 *
 * An entry takes effect only if the entry that it names as its base is still the current one; otherwise
 * another writer was first. All nodes read the same order, so they agree without a lock: a writer appends its
 * entry and reads on to see whether it took effect. The order is the order of visibility, in which the store
 * numbers its parts. A later read therefore never returns an entry that precedes one already read; a clock
 * could not promise that. Entries that are appended at the same time share an insert and become visible
 * together: they have one position, and are ordered by id.
 */
export class MetadataLog {
  readonly #store: Store;
  readonly #node: string;
  readonly #appends: Coalescer<NewEntry>;

  constructor(store: Store, node: string) {
    this.#store = store;
    this.#node = node;
    const sizeOf = ({ key, value }: NewEntry) => key.length + value.length + limits.metadataEntryOverhead;
    this.#appends = new Coalescer((entries) => this.#insert(entries), sizeOf, limits.maxMetadataInsertLength);
  }

  async prepare(): Promise<void> {
    for (const statement of metadataStatements()) await this.#store.command(statement);
  }

  /**
   * The entries of these kinds from a position on, in order.
   * @throws StoreError
   */
  async read(kinds: readonly MetadataKind[], from = 0): Promise<MetadataEntry[]> {
    type Row = [string, MetadataKind, string, string, string, string, number];
    const rows = await selectRows<Row>(
      this.#store,
      `SELECT tenant, kind, key, id, base, value, toUInt32(_block_number) FROM \`millrace\`.\`metadata\`
       WHERE kind IN (${kinds.map(quoteString).join(', ')}) AND _block_number >= ${from}
       ORDER BY _block_number, at, node, id`,
    );
    return rows.map(([tenant, kind, key, id, base, value, position]) => ({
      tenant,
      kind,
      key,
      id,
      base,
      value,
      position,
    }));
  }

  /**
   * Appends an entry. Whether it takes effect is known once the log has been read up to it.
   * @throws StoreError; if it is retryable, the entry may have been written
   */
  append(entry: NewEntry): Promise<void> {
    return this.#appends.submit(entry);
  }

  async #insert(entries: readonly NewEntry[]): Promise<void> {
    const rows = entries.map(({ tenant, kind, key, value, id, base }) => {
      const values = [this.#node, tenant, kind, key, value, id, base];
      return `(${values.map(quoteString).join(', ')})`;
    });
    // An array in one block: several SELECTs could become several parts, each with a position of its own.
    await this.#store.command(
      `INSERT INTO \`millrace\`.\`metadata\` (node, tenant, kind, key, value, id, base)
       SELECT row.1, row.2, row.3, row.4, row.5, row.6, row.7 FROM (SELECT arrayJoin([${rows.join(', ')}]) AS row)`,
    );
  }

  /**
   * Removes the entries of deleted tenants, so that no password hash and no sealed key outlives them. Other
   * nodes that have not read of the deletion yet must still find it, so positions in the log stay valid.
   * @throws StoreError
   */
  async removeEnded(hasEnded: (tenant: string) => boolean): Promise<void> {
    const tenants = await selectRows<[string]>(
      this.#store,
      'SELECT DISTINCT tenant FROM `millrace`.`metadata`',
    );
    const ended = tenants.map(([tenant]) => tenant).filter((tenant) => hasEnded(tenant));
    if (ended.length === 0) return;
    await this.#store.command(
      `ALTER TABLE \`millrace\`.\`metadata\` DELETE WHERE tenant IN (${ended.map(quoteString).join(', ')}) SETTINGS mutations_sync = 1`,
    );
  }
}

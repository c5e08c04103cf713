import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { metadataStatements } from '../clickhouse/table-definitions.ts';
import { quoteString } from '../lib/quote.ts';
import { Rounds } from '../lib/rounds.ts';
import { limits } from '../limits/limits.ts';

export type MetadataKind = 'dataset' | 'tenant' | 'role' | 'user' | 'oauthUser' | 'apiKey' | 'setting';

/** What an entry is about. Unique: there is one record of a kind and key in a tenant, or none. */
export interface MetadataKey {
  readonly tenant: string;
  readonly kind: MetadataKind;
  readonly key: string;
}

/** One line of the log: a record gets a new value, or ends. */
export interface MetadataEntry extends MetadataKey {
  readonly id: string;
  /** The entry that was in force when this one was written; empty if there was no record. */
  readonly base: string;
  /** JSON; empty for the end of the record. */
  readonly value: string;
  /** Grows along the log. */
  readonly position: number;
}

/** An entry that has no place in the log yet. */
type NewEntry = Omit<MetadataEntry, 'position'>;

/**
 * The append-only log of what the service must remember, a table in the store that several nodes may write.
 *
 * An entry has an effect only if the one that it names as its base is still in force when its turn comes;
 * otherwise somebody else was first. All nodes read the same order, so all agree, and no lock is needed: who has
 * appended an entry reads on to see what became of it. The order is that of visibility, in which the store numbers
 * its parts: what is read later never comes before what was read already, which a clock could not promise. Entries that
 * are appended at the same time share an insert, which becomes visible at once: they have one position, and their order
 * is that of their ids.
 */
export class MetadataLog {
  readonly #store: Store;
  readonly #node: string;
  readonly #appends: Rounds<NewEntry>;

  constructor(store: Store, node: string) {
    this.#store = store;
    this.#node = node;
    const sizeOf = ({ key, value }: NewEntry) => key.length + value.length + limits.metadataEntryOverhead;
    this.#appends = new Rounds((entries) => this.#insert(entries), sizeOf, limits.maxMetadataInsertLength);
  }

  async prepare(): Promise<void> {
    for (const statement of metadataStatements()) await this.#store.command(statement);
  }

  /**
   * Entries of these kinds from a position on, in order.
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
   * Whether the entry comes into force is known once the log has been read up to it.
   * @throws StoreError; if retryable, the entry may have been written all the same
   */
  append(entry: NewEntry): Promise<void> {
    return this.#appends.join(entry);
  }

  async #insert(entries: readonly NewEntry[]): Promise<void> {
    const rows = entries.map(({ tenant, kind, key, value, id, base }) => {
      const values = [this.#node, tenant, kind, key, value, id, base];
      return `(${values.map(quoteString).join(', ')})`;
    });
    // An array of one block: what several selects give could become several parts, each with a position of its own.
    await this.#store.command(
      `INSERT INTO \`millrace\`.\`metadata\` (node, tenant, kind, key, value, id, base)
       SELECT row.1, row.2, row.3, row.4, row.5, row.6, row.7 FROM (SELECT arrayJoin([${rows.join(', ')}]) AS row)`,
    );
  }

  /**
   * Removes what ended tenants had, so that no hash of a password and no sealed key outlives them. Nodes that have not
   * read of their end yet must not be left behind: positions in the log stay, and what they have read as well.
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

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
  /** Whether those before it in its record were removed: it takes effect whatever its base is. */
  readonly isOldest: boolean;
}

/** An entry that is not in the log yet. */
type NewEntry = Omit<MetadataEntry, 'position' | 'isOldest'>;

/** What is known of an entry without its value. */
export interface EntryOutline extends Omit<MetadataEntry, 'value'> {
  /** Characters of its value; 0 if the record ends. */
  readonly length: number;
  /** By the clock of the store, which may jump. */
  readonly ageSeconds: number;
}

/**
 * Whether an entry takes effect.
 * @param current the id of the entry in force; undefined if there is no record
 */
export const takesEffect = (
  { base, isOldest }: Pick<MetadataEntry, 'base' | 'isOldest'>,
  current: string | undefined,
): boolean => isOldest || base === (current ?? '');

/**
 * Those entries of one record that take effect, in order.
 * @param entries all of them, in order
 */
export function effectiveEntries<Entry extends Pick<EntryOutline, 'id' | 'base' | 'isOldest' | 'length'>>(
  entries: readonly Entry[],
): Entry[] {
  let current: string | undefined;
  return entries.filter((entry) => {
    if (!takesEffect(entry, current)) return false;
    current = entry.length === 0 ? undefined : entry.id;
    return true;
  });
}

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
  read(kinds: readonly MetadataKind[], from = 0): Promise<MetadataEntry[]> {
    return this.#select(`${isOneOf(kinds)} AND _block_number >= ${from}`);
  }

  /**
   * All entries of one record, in order.
   * @throws StoreError
   */
  readRecord({ tenant, kind, key }: MetadataKey): Promise<MetadataEntry[]> {
    const [ofTenant, ofKind, ofKey] = [tenant, kind, key].map(quoteString);
    return this.#select(`tenant = ${ofTenant} AND kind = ${ofKind} AND key = ${ofKey}`);
  }

  /**
   * The entries of these kinds that are in force now, in order, and the position after the last entry of all:
   * what a reader that begins needs. Most of the log is earlier values, which are not read.
   * @throws StoreError
   */
  async readCurrent(
    kinds: readonly MetadataKind[],
  ): Promise<{ readonly entries: readonly MetadataEntry[]; readonly next: number }> {
    const outlines = await this.outline(kinds);
    const inForce = new Map<string, EntryOutline>();
    for (const entry of outlines) {
      const name = recordName(entry);
      if (!takesEffect(entry, inForce.get(name)?.id)) continue;
      if (entry.length === 0) inForce.delete(name);
      else inForce.set(name, entry);
    }
    const entries: MetadataEntry[] = [];
    for (const group of groupsOf([...inForce.values()])) {
      const ids = group.map(({ id }) => quoteString(id)).join(', ');
      entries.push(...(await this.#select(`${isOneOf(kinds)} AND id IN (${ids})`)));
    }
    entries.sort((a, b) => a.position - b.position);
    return { entries, next: (outlines.at(-1)?.position ?? -1) + 1 };
  }

  /**
   * What there is of these kinds, in order, without the values.
   * @throws StoreError
   */
  async outline(kinds: readonly MetadataKind[]): Promise<EntryOutline[]> {
    type Row = [string, MetadataKind, string, string, string, boolean, number, number, number];
    const rows = await selectRows<Row>(
      this.#store,
      `SELECT tenant, kind, key, id, base, oldest, toUInt32(_block_number), toUInt32(lengthUTF8(value)),
         toInt32(dateDiff('second', at, now64(6, 'UTC')))
       FROM \`millrace\`.\`metadata\` WHERE ${isOneOf(kinds)} ORDER BY _block_number, at, node, id`,
    );
    return rows.map(([tenant, kind, key, id, base, isOldest, position, length, ageSeconds]) => ({
      tenant,
      kind,
      key,
      id,
      base,
      isOldest,
      position,
      length,
      ageSeconds,
    }));
  }

  async #select(condition: string): Promise<MetadataEntry[]> {
    type Row = [string, MetadataKind, string, string, string, string, boolean, number];
    const rows = await selectRows<Row>(
      this.#store,
      `SELECT tenant, kind, key, id, base, value, oldest, toUInt32(_block_number)
       FROM \`millrace\`.\`metadata\` WHERE ${condition} ORDER BY _block_number, at, node, id`,
    );
    return rows.map(([tenant, kind, key, id, base, value, isOldest, position]) => ({
      tenant,
      kind,
      key,
      id,
      base,
      value,
      isOldest,
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
   * Removes entries that no reader needs any more; see `MetadataCompaction`, which chooses them.
   * @param oldest ids of entries that take effect. They are the first that is kept of their record, and are
   *   marked before anything is removed
   * @param removed ids of those before them
   * @throws StoreError
   */
  async compact(oldest: readonly string[], removed: readonly string[]): Promise<void> {
    const mutate = async (action: string, ids: readonly string[]) => {
      if (ids.length === 0) return;
      await this.#store.command(
        `ALTER TABLE \`millrace\`.\`metadata\` ${action} WHERE id IN (${ids.map(quoteString).join(', ')}) SETTINGS mutations_sync = 1`,
      );
    };
    await mutate('UPDATE oldest = true', oldest);
    await mutate('DELETE', removed);
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

const isOneOf = (kinds: readonly MetadataKind[]): string => `kind IN (${kinds.map(quoteString).join(', ')})`;

/** The same for all entries of a record, and for none else. */
export const recordName = ({ tenant, kind, key }: MetadataKey): string => `${tenant}/${kind}/${key}`;

/** Entries whose values are read together: not too many, and not too large. */
function groupsOf(entries: readonly EntryOutline[]): EntryOutline[][] {
  const groups: EntryOutline[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    length += entry.length + limits.metadataEntryOverhead;
    if (length > limits.maxMetadataReadLength) {
      groups.push([]);
      length = entry.length;
    }
    groups.at(-1)?.push(entry);
  }
  return groups;
}

import { randomUUID } from 'node:crypto';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { Rounds } from '../lib/rounds.ts';
import type { MetadataEntry, MetadataKey, MetadataKind, MetadataLog } from './metadata-log.ts';

/** A record as it is in force. */
export interface MetadataRecord extends MetadataKey {
  /** JSON. */
  readonly value: string;
  /** The entry that made it what it is. */
  readonly version: string;
}

/** Told of each change that came into force, in order. `value` is JSON, undefined when the record has ended. */
export type MetadataListener = (key: MetadataKey, value: string | undefined) => void;

/**
 * This node's copy of some kinds of metadata, and the way to change them.
 *
 * Reads come one after another, each from where the last one ended, so the copy is always a prefix of the log. Who asks
 * during one shares the next.
 */
export class MetadataReplica {
  readonly #log: MetadataLog;
  readonly #kinds: readonly MetadataKind[];
  readonly #listener: MetadataListener;
  readonly #records = new Map<string, MetadataRecord>();
  /** Of entries that this node waits for: whether they came into force, once that is known. */
  readonly #awaited = new Map<string, boolean | undefined>();
  /** Where the next read begins. */
  #next = 0;
  #loaded = false;
  readonly #reads = new Rounds<undefined>(() => this.#read());

  constructor(log: MetadataLog, kinds: readonly MetadataKind[], listener: MetadataListener) {
    this.#log = log;
    this.#kinds = kinds;
    this.#listener = listener;
  }

  /** True once the log has been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Everything before this position of the log has been read. */
  get position(): number {
    return this.#next;
  }

  /** The record in force, as far as the log has been read. */
  get(tenant: string, kind: MetadataKind, key: string): MetadataRecord | undefined {
    return this.#records.get(nameOf({ tenant, kind, key }));
  }

  /**
   * Reads what was added to the log since.
   * @throws StoreError
   */
  async refresh(): Promise<void> {
    await this.#reads.join(undefined);
  }

  /**
   * `refresh` for those who cannot go on without.
   * @throws AppError `store_unavailable`
   */
  async catchUp(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Gives a record a value, or ends it, if it is still as the caller saw it.
   * @param value JSON; undefined ends the record
   * @param seen the record that the caller decided upon; undefined if there was none
   * @returns false if somebody else was first; the copy then holds what they wrote
   * @throws AppError `store_unavailable`; the change may have been made all the same
   */
  async change(
    key: MetadataKey,
    value: string | undefined,
    seen: MetadataRecord | undefined,
  ): Promise<boolean> {
    const id = randomUUID();
    this.#awaited.set(id, undefined);
    try {
      await this.#log.append({ ...key, id, value: value ?? '', base: seen?.version ?? '' });
      await this.refresh();
      const inForce = this.#awaited.get(id);
      if (inForce === undefined) throw new Error(`BUG: the metadata log does not show the entry ${id}`);
      return inForce;
    } catch (error) {
      throw unavailable(error);
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Records that nobody will ask for any more, by their tenant. */
  forget(isGone: (tenant: string) => boolean): void {
    for (const [name, { tenant }] of this.#records) if (isGone(tenant)) this.#records.delete(name);
  }

  async #read(): Promise<void> {
    const entries = await this.#log.read(this.#kinds, this.#next);
    for (const entry of entries) {
      const inForce = this.#records.get(nameOf(entry))?.version ?? '';
      const applies = entry.base === inForce;
      if (applies) this.#apply(entry);
      if (this.#awaited.has(entry.id)) this.#awaited.set(entry.id, applies);
      this.#next = entry.position + 1;
    }
    this.#loaded = true;
  }

  #apply(entry: MetadataEntry): void {
    const { tenant, kind, key, value, id } = entry;
    if (value === '') this.#records.delete(nameOf(entry));
    else this.#records.set(nameOf(entry), { tenant, kind, key, value, version: id });
    this.#listener({ tenant, kind, key }, value === '' ? undefined : value);
  }
}

const nameOf = ({ tenant, kind, key }: MetadataKey): string => `${tenant}/${kind}/${key}`;

const unavailable = (thrown: unknown): unknown =>
  thrown instanceof StoreError
    ? new AppError('store_unavailable', 'the store does not answer', { cause: thrown })
    : thrown;

import { randomUUID } from 'node:crypto';
import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { Coalescer } from '../lib/coalescer.ts';
import {
  effectiveEntries,
  type MetadataEntry,
  type MetadataKey,
  type MetadataKind,
  type MetadataLog,
  recordName,
  takesEffect,
} from './metadata-log.ts';

/** The current value of a record. */
export interface MetadataRecord extends MetadataKey {
  /** JSON. */
  readonly value: string;
  /** The id of the entry that set this value. */
  readonly version: string;
}

/** Called for each change that took effect, in order. `value` is JSON, or undefined if the record ended. */
export type MetadataListener = (key: MetadataKey, value: string | undefined) => void;

/**
 * This node's copy of some kinds of metadata, and the way to change them.
 *
 * Reads run one after another, each from the end of the last one, so the copy is always a prefix of the log.
 * Callers that ask for a read while one is running share the next one.
 */
export class MetadataReplica {
  readonly #log: MetadataLog;
  readonly #kinds: readonly MetadataKind[];
  readonly #listener: MetadataListener;
  readonly #begin: 'all' | 'current';
  readonly #records = new Map<string, MetadataRecord>();
  /** Entries that this node waits for, and whether they took effect, once that is known. */
  readonly #awaited = new Map<string, boolean | undefined>();
  /** Where the next read begins. */
  #next = 0;
  #loaded = false;
  readonly #reads = new Coalescer<undefined>(() => this.#read());

  /**
   * @param begin `all` tells the listener of every change since the beginning; `current` only of what is in
   *   force at the first read, which is less to read where records change often
   */
  constructor(
    log: MetadataLog,
    kinds: readonly MetadataKind[],
    listener: MetadataListener,
    begin: 'all' | 'current' = 'all',
  ) {
    this.#begin = begin;
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

  /** The current record, as far as the log has been read. */
  get(tenant: string, kind: MetadataKind, key: string): MetadataRecord | undefined {
    return this.#records.get(recordName({ tenant, kind, key }));
  }

  /**
   * Reads the new entries of the log.
   * @throws StoreError
   */
  async refresh(): Promise<void> {
    await this.#reads.submit(undefined);
  }

  /**
   * Like `refresh`, for callers that cannot continue without it.
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
   * Sets or ends a record, if nobody has changed it since the caller read it.
   * @param value JSON; undefined ends the record
   * @param seen the record that the caller read; undefined if there was none
   * @returns false if another writer was first; the copy then holds what it wrote
   * @throws AppError `store_unavailable`; the change may have taken effect
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

  /**
   * The values that a record had, the newest first and at most so many. They are read from the store.
   * @throws AppError `store_unavailable`
   */
  async history(key: MetadataKey, maxValues: number): Promise<readonly string[]> {
    try {
      const entries = await this.#log.readRecord(key);
      const values = effectiveEntries(entries.map((entry) => ({ ...entry, length: entry.value.length })));
      return values
        .filter(({ length }) => length > 0)
        .slice(-maxValues)
        .reverse()
        .map(({ value }) => value);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Drops the records of tenants that no longer exist. */
  forget(isGone: (tenant: string) => boolean): void {
    for (const [name, { tenant }] of this.#records) if (isGone(tenant)) this.#records.delete(name);
  }

  async #read(): Promise<void> {
    if (!this.#loaded && this.#begin === 'current') {
      const { entries, next } = await this.#log.readCurrent(this.#kinds);
      for (const entry of entries) this.#apply(entry);
      this.#next = next;
    }
    const entries = await this.#log.read(this.#kinds, this.#next);
    for (const entry of entries) {
      const applies = takesEffect(entry, this.#records.get(recordName(entry))?.version);
      if (applies) this.#apply(entry);
      if (this.#awaited.has(entry.id)) this.#awaited.set(entry.id, applies);
      this.#next = entry.position + 1;
    }
    this.#loaded = true;
  }

  #apply(entry: MetadataEntry): void {
    const { tenant, kind, key, value, id } = entry;
    if (value === '') this.#records.delete(recordName(entry));
    else this.#records.set(recordName(entry), { tenant, kind, key, value, version: id });
    this.#listener({ tenant, kind, key }, value === '' ? undefined : value);
  }
}

const unavailable = (thrown: unknown): unknown =>
  thrown instanceof StoreError
    ? new AppError('store_unavailable', 'the store does not answer', { cause: thrown })
    : thrown;

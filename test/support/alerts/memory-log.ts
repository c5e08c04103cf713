import { StoreError } from '../../../src/clickhouse/store-error.ts';
import {
  type MetadataEntry,
  type MetadataLog,
  recordName,
  takesEffect,
} from '../../../src/metadata/metadata-log.ts';

type Asked = Pick<MetadataLog, 'read' | 'readCurrent' | 'append'>;

/** A metadata log in memory that several nodes share. */
export class MemoryLog implements Asked {
  readonly entries: MetadataEntry[] = [];
  /** Whether the store answers. */
  isDown = false;
  /** Whether entries are written and their writers are told that they may not have been. */
  losesReplies = false;

  async read(kinds: readonly string[], from = 0): Promise<MetadataEntry[]> {
    this.#requireUp();
    return this.entries.filter(({ kind, position }) => kinds.includes(kind) && position >= from);
  }

  async readCurrent(kinds: readonly string[]) {
    const current = new Map<string, MetadataEntry>();
    for (const entry of await this.read(kinds)) {
      const name = recordName(entry);
      if (!takesEffect(entry, current.get(name)?.id)) continue;
      if (entry.value === '') current.delete(name);
      else current.set(name, entry);
    }
    return { entries: [...current.values()], next: this.entries.length + 1 };
  }

  async append(entry: Omit<MetadataEntry, 'position' | 'isOldest'>): Promise<void> {
    this.#requireUp();
    this.entries.push({ ...entry, isOldest: false, position: this.entries.length + 1 });
    if (this.losesReplies) throw down();
  }

  /** What is asked of it here is all that replicas ask. */
  get asLog(): MetadataLog {
    return this as unknown as MetadataLog;
  }

  #requireUp(): void {
    if (this.isDown) throw down();
  }
}

const down = (): StoreError => new StoreError('the store is away', undefined, undefined);

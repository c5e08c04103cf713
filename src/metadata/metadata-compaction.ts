import { sleep } from '../lib/backoff.ts';
import type { Timers } from '../lib/clock.ts';
import { finishWithin } from '../lib/finish-within.ts';
import { groupBy } from '../lib/group-by.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import {
  type EntryOutline,
  effectiveEntries,
  type MetadataKind,
  type MetadataLog,
  recordName,
} from './metadata-log.ts';

/** How much is kept of the records of a kind. */
export interface Retention {
  /** Values that were in force, with the current one. */
  readonly values: number;
  /** Nothing younger is removed. */
  readonly minAgeMs: number;
}

export interface MetadataCompactionOptions {
  readonly log: Pick<MetadataLog, 'outline' | 'compact'>;
  readonly retentions: ReadonlyMap<MetadataKind, Retention>;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** What a compaction does: ids of entries. */
export interface CompactionPlan {
  readonly oldest: readonly string[];
  readonly removed: readonly string[];
  /** The longest time for which one of them could have been removed. */
  readonly overdueMs: number;
}

/**
 * Removes earlier values from the metadata log: of each record, the entries before the oldest one that is
 * kept.
 *
 * What is removed is always the beginning of a record, up to an entry E that took effect. Readers decide by
 * the base of an entry whether it takes effect, so E is first marked (`isOldest`): it then takes effect for
 * whoever reads it, whatever it read before. The mark changes nothing for those who read all entries, since E
 * took effect for them anyway. All entries after E stay, and are decided on by E and by each other. So
 * readers agree at every time:
 *
 * - one that begins while entries are being removed reads some of those before E. Some of them may take
 *   effect for it that did not, or the other way around; then it reads E, and is where the others are;
 * - one that has not read for long continues with E;
 * - a writer whose base is an entry before E is too late for all of them: the base is not in force after E;
 * - the end of a record is kept like a value, and goes only in a later compaction, when it is alone and a
 *   month old: who reads nothing of the record, or its end alone, knows of no record. Only a node that did
 *   not read for a month would still show it, until it starts again.
 *
 * So a compaction needs no leader: two nodes that run one at the same time mark two entries and remove the
 * beginnings before them, and the later mark is what stays. A crash leaves marks, which change nothing, or
 * some of the entries, which the next compaction removes.
 */
export class MetadataCompaction {
  readonly #options: MetadataCompactionOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: MetadataCompactionOptions) {
    this.#options = options;
  }

  /** Begins to compact in the background, first after one interval. */
  start(): void {
    this.#running = this.#run();
  }

  /** Waits for a compaction that is under way, if the store answers in time. It may end at any point. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await finishWithin(this.#running, limits.nodeLeaveWaitMs, this.#options.timers);
  }

  /**
   * Removes what is worth it now.
   * @returns how many entries were removed
   * @throws StoreError
   */
  async compact(): Promise<number> {
    const { log, retentions } = this.#options;
    const plan = planCompaction(await log.outline([...retentions.keys()]), retentions);
    const isWorthIt =
      plan.removed.length >= limits.minCompactedEntries || plan.overdueMs >= limits.maxCompactionDelayMs;
    if (plan.removed.length === 0 || !isWorthIt) return 0;
    await log.compact(plan.oldest, plan.removed);
    return plan.removed.length;
  }

  async #run(): Promise<void> {
    const { timers, logger } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await sleep(limits.metadataCompactionIntervalMs, signal, timers);
      if (signal.aborted) return;
      try {
        const removed = await this.compact();
        if (removed > 0) logger.info({ removed }, 'removed earlier entries of the metadata log');
      } catch (error) {
        logger.warn({ err: error }, 'could not compact the metadata log; the next attempt is in an hour');
      }
    }
  }
}

/** @param entries of whole records, in order */
export function planCompaction(
  entries: readonly EntryOutline[],
  retentions: ReadonlyMap<MetadataKind, Retention>,
): CompactionPlan {
  const oldest: string[] = [];
  const removed: string[] = [];
  let overdueMs = 0;
  for (const record of groupBy(entries, recordName).values()) {
    const retention = record[0] && retentions.get(record[0].kind);
    if (retention === undefined) continue;
    const removable = removableOf(record, retention);
    if (removable.length === 0) continue;
    const first = record[removable.length];
    const isMarked = first === undefined || first.isOldest;
    if (removed.length + removable.length > limits.maxCompactedEntries && removed.length > 0) break;
    if (!isMarked) oldest.push(first.id);
    const minAgeMs = first === undefined ? limits.minCompactedEndAgeMs : retention.minAgeMs;
    for (const { id, ageSeconds } of removable) {
      removed.push(id);
      overdueMs = Math.max(overdueMs, ageSeconds * 1000 - minAgeMs);
    }
  }
  return { oldest, removed, overdueMs };
}

/** The entries at the beginning of a record that can be removed: all before one that took effect. */
function removableOf(record: readonly EntryOutline[], { values, minAgeMs }: Retention): EntryOutline[] {
  const [only] = record;
  const isEnded = record.length === 1 && only?.length === 0;
  if (isEnded) return only.ageSeconds * 1000 >= limits.minCompactedEndAgeMs ? [only] : [];
  const effective = effectiveEntries(record);
  const last = effective.at(-1);
  const kept = last?.length === 0 ? 1 : values;
  const young = record.findIndex(({ ageSeconds }) => ageSeconds * 1000 < minAgeMs);
  const candidates = new Set(effective.slice(0, Math.max(0, effective.length - kept + 1)));
  const end = record.findLastIndex(
    (entry, index) =>
      candidates.has(entry) && (young === -1 || index <= young) && index <= limits.maxCompactedEntries,
  );
  return record.slice(0, Math.max(0, end));
}

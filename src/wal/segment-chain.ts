import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { ActiveSegment } from './active-segment.ts';
import type { Backlog } from './backlog.ts';
import type { SealedSegment } from './segment.ts';
import type { WalFiles } from './wal-files.ts';

export interface SegmentChainOptions {
  readonly files: WalFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where sealed segments go. */
  readonly backlog: Backlog;
  /** Called once for each segment, in order, as soon as it takes no more records. */
  readonly onSealed: (segment: SealedSegment) => void;
}

/** Makes one segment after another, and seals them. Used by one writer at a time (`wal.ts`). */
export class SegmentChain {
  readonly #options: SegmentChainOptions;
  #nextNumber: number;
  #active: ActiveSegment | undefined;

  constructor(options: SegmentChainOptions, nextNumber: number) {
    this.#options = options;
    this.#nextNumber = nextNumber;
  }

  /** The segment that takes records, if it has some. */
  get withRecords(): ActiveSegment | undefined {
    return this.#active !== undefined && this.#active.records.length > 0 ? this.#active : undefined;
  }

  /** The segment to write to, if there is one from which nothing must be cut off first. */
  get ready(): ActiveSegment | undefined {
    return this.#active?.torn === false ? this.#active : undefined;
  }

  /**
   * The segment to write to, made if there is none.
   * @throws whatever kept a failed write from being cut off, or the file from being made
   */
  async writable(): Promise<ActiveSegment> {
    await this.repair();
    this.#active ??= await this.#create();
    return this.#active;
  }

  /** Seals the good part of a segment in which a write or sync failed. @throws if that fails, too */
  async repair(): Promise<void> {
    const segment = this.#active;
    if (segment?.torn !== true) return;
    await segment.cutBack();
    this.#active = undefined;
    await this.#handOver(segment);
  }

  /**
   * Seals the active segment, if it has records. The next one is made first, so that it can be removed as
   * soon as the store has it. If the next one cannot be made, the segment is sealed all the same: this is the
   * only way in which a full disk gets space back.
   * @throws if a failed write or preallocated space could not be cut off, or the next segment not be made
   */
  async seal(): Promise<void> {
    await this.repair();
    const segment = this.withRecords;
    if (segment === undefined) return;
    await segment.cutPreallocation();
    let next: ActiveSegment | undefined;
    try {
      next = await this.#create();
    } finally {
      this.#active = next;
      await this.#handOver(segment);
    }
  }

  /** Removes the file of a number without records, which may not even exist. It can wait if that fails. */
  async discard(number: number): Promise<void> {
    const { backlog, log } = this.#options;
    try {
      await backlog.discard(number);
    } catch (error) {
      log.warn({ err: error, segment: number }, 'an empty segment could not be removed yet');
    }
  }

  async close(): Promise<void> {
    await this.#active?.close();
  }

  /**
   * Hands a segment that takes no more records over to the drain. It is in the backlog at once: a reader may
   * ask for it.
   */
  async #handOver(segment: ActiveSegment): Promise<void> {
    const { backlog, log, onSealed } = this.#options;
    if (segment.records.length > 0) {
      const sealed = segment.seal();
      backlog.add(sealed);
      onSealed(sealed);
    } else await this.discard(segment.number);
    try {
      await segment.close();
    } catch (error) {
      // All that counts in the file was synced before.
      log.warn({ err: error, segment: segment.number }, 'a segment could not be closed');
    }
  }

  async #create(): Promise<ActiveSegment> {
    const { files, clock, backlog, log } = this.#options;
    const number = this.#nextNumber;
    // Used from here on, whatever happens.
    this.#nextNumber += 1;
    let segment: ActiveSegment;
    try {
      segment = await ActiveSegment.create(files, number, clock.nowMicros());
    } catch (error) {
      await this.discard(number);
      throw error;
    }
    try {
      await backlog.created(number);
    } catch (error) {
      log.warn({ err: error }, 'a segment that is in the store could not be removed yet');
    }
    return segment;
  }
}

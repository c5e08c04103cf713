import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { ActiveSegment } from './active-segment.ts';
import type { Backlog } from './backlog.ts';
import type { WalFiles } from './files.ts';
import type { SealedSegment } from './segment.ts';

export interface SegmentChainOptions {
  readonly files: WalFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where sealed segments go. */
  readonly backlog: Backlog;
  /** Called once for each segment, in order, as soon as it takes no more records. */
  readonly onSealed: (segment: SealedSegment) => void;
}

/**
 * One segment after the other: makes them, and seals them. Used by one writer at a time.
 *
 * - The next file is made when all in the last one is durable, and where that fails it is removed before the last
 *   one is written again. So only the newest file can be torn.
 * - A segment that was sealed never changes, and its number is never used again.
 * - A segment in which a write or sync failed is cut back to its records, durably, before it is sealed and before
 *   the next one is made. What was refused must not come back: neither under the token of a segment that the
 *   store has without it, nor behind something that was acknowledged later.
 */
export class SegmentChain {
  readonly #options: SegmentChainOptions;
  #nextNumber: number;
  #active: ActiveSegment | undefined;
  /** A file whose making failed. Nothing is written before it is gone for good. */
  #halfMade: number | undefined;

  constructor(options: SegmentChainOptions, nextNumber: number) {
    this.#options = options;
    this.#nextNumber = nextNumber;
  }

  /** The segment that takes records, if it has some. */
  get withRecords(): ActiveSegment | undefined {
    return this.#active !== undefined && this.#active.records.length > 0 ? this.#active : undefined;
  }

  /** The segment to write to, made if there is none. After a failure, only once that is mended. */
  async writable(): Promise<ActiveSegment> {
    await this.#mend();
    this.#active ??= await this.#create();
    return this.#active;
  }

  /** Clears up after a failed write, sync or making of a file. @returns false to try again later */
  async tryMend(): Promise<boolean> {
    try {
      await this.#mend();
      return true;
    } catch (error) {
      const segment = this.#active?.number;
      this.#options.log.error({ err: error, segment }, 'what a failed write left could not be taken away');
      return false;
    }
  }

  /**
   * Seals the active segment, if it has records. The next one is made first, so that writing goes on while this
   * one is on its way to the store.
   * @returns false to try again later
   */
  async seal(): Promise<boolean> {
    if (!(await this.tryMend())) return false;
    const segment = this.withRecords;
    if (segment === undefined) return true;
    try {
      this.#active = await this.#create();
    } catch (error) {
      this.#options.log.error({ err: error }, 'the next segment of the write-ahead log could not be made');
      return false;
    }
    await this.#retire(segment);
    return true;
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

  async #mend(): Promise<void> {
    if (this.#halfMade !== undefined) {
      await this.#options.backlog.discard(this.#halfMade);
      this.#halfMade = undefined;
    }
    const segment = this.#active;
    if (segment?.torn !== true) return;
    await segment.cutBack();
    this.#active = undefined;
    await this.#retire(segment);
  }

  /** The segment takes no more records. It is in the backlog at once: a reader may ask what is on its way. */
  async #retire(segment: ActiveSegment): Promise<void> {
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
    this.#halfMade = number;
    const segment = await ActiveSegment.create(files, number, clock.nowMicros());
    this.#halfMade = undefined;
    try {
      await backlog.created(number);
    } catch (error) {
      log.warn({ err: error }, 'a segment that is in the store could not be removed yet');
    }
    return segment;
  }
}

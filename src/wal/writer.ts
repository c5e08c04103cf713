import { AppError } from '../errors.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import { ActiveSegment } from './active-segment.ts';
import type { Backlog } from './backlog.ts';
import type { WalFiles } from './files.ts';
import { isFull, Outage, refusalOf } from './outage.ts';
import { type EncodedRecord, encodeRecord, type WalRecord } from './record.ts';
import type { Recovery } from './recovery.ts';
import type { SealedSegment } from './segment.ts';

export interface WalOptions {
  readonly files: WalFiles;
  readonly clock: Clock & Timers;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** What the directory held at the start; its segments are in the backlog already. */
  readonly recovery: Recovery;
  /** Where sealed segments go. */
  readonly backlog: Backlog;
  readonly maxBytes: number;
  /** At least this many bytes of records seal a segment; `limits.walSegmentMaxBytes` unless given. */
  readonly segmentMaxBytes?: number;
  readonly segmentMaxAgeMs: number;
  /** Called once for each segment, in order, as soon as it takes no more records. */
  readonly onSealed: (segment: SealedSegment) => void;
}

interface Append {
  readonly record: EncodedRecord;
  done(): void;
  fail(error: AppError): void;
}

/**
 * The write-ahead log.
 *
 * Invariants:
 * - `append` fulfils only after the record was written and fdatasynced, in a file whose name is durable too.
 * - One loop does all writing. Requests that arrive while it is busy share the next write and fdatasync
 *   (group commit), so the cost of a sync is shared by as many as wait for it.
 * - After a failed write or sync nothing is known of the file behind its durable length. The group is refused,
 *   the file is cut back to that length, sealed as it is, and never written again: a failed fdatasync may not be repeated,
 *   since the kernel has forgotten which pages were dirty.
 * - A segment that was sealed never changes, and its number is never used again.
 * - While the disk is full or takes no segment, requests are refused without touching it. A probe makes the next
 *   segment once a second; when it has one, the log works again.
 * - What waits to be written is bounded by the bodies in flight (`ingest/admission.ts`).
 */
export class Wal {
  readonly #options: WalOptions;
  readonly #queue: Append[] = [];
  #nextNumber: number;
  #active: ActiveSegment | undefined;
  #sealWanted = false;
  #probeWanted = false;
  readonly #outage: Outage;
  #running: Promise<void> | undefined;
  #cancelAgeTimer = () => {};
  #closed = false;

  private constructor(options: WalOptions) {
    this.#options = options;
    this.#nextNumber = options.recovery.nextNumber;
    this.#outage = new Outage(options.clock, () => {
      this.#probeWanted = true;
      this.#wake();
    });
  }

  /** Opens the log for writing. */
  static async open(options: WalOptions): Promise<Wal> {
    const wal = new Wal(options);
    wal.#active = await wal.#createSegment();
    for (const name of options.recovery.empty) await options.files.remove(name);
    return wal;
  }

  /** Bytes on disk that the store does not have yet. */
  get bytes(): number {
    return this.#options.backlog.bytes + (this.#active?.recordBytes ?? 0);
  }

  /** Segments with records that the store does not have yet. */
  get pendingSegments(): number {
    return this.#options.backlog.size + (this.#activeWithRecords === undefined ? 0 : 1);
  }

  /** The newest segment with records that the store does not have yet. */
  get newestPending(): number | undefined {
    return this.#activeWithRecords?.number ?? this.#options.backlog.newest?.number;
  }

  /** Age of the oldest record that the store does not have yet, in seconds; 0 if there is none. */
  get oldestSeconds(): number {
    const { backlog, clock } = this.#options;
    const oldest = backlog.oldest ?? this.#activeWithRecords;
    return oldest === undefined ? 0 : Math.max(0, clock.nowMicros() - oldest.sinceMicros) / 1e6;
  }

  /** @throws AppError `log_full` when the store has fallen too far behind; `log_full`, `log_failed` in an outage */
  checkRoom(): void {
    if (this.#outage.error !== undefined) throw this.#outage.error;
    if (this.bytes < this.#options.maxBytes) return;
    throw new AppError(
      'log_full',
      `the write-ahead log holds ${this.bytes} bytes that the store has not taken yet; at most ${this.#options.maxBytes} are allowed`,
    );
  }

  /**
   * Makes a record durable.
   * @throws AppError `log_full`, `log_failed`, `shutting_down`; the record is then not acknowledged
   */
  async append(record: WalRecord): Promise<void> {
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    this.checkRoom();
    const encoded = encodeRecord(record);
    await new Promise<void>((done, fail) => {
      this.#queue.push({ record: encoded, done, fail });
      this.#wake();
    });
  }

  /** Seals the active segment, if it has records, after what is being written now. */
  seal(): void {
    this.#sealWanted = true;
    this.#wake();
  }

  /** Finishes what was appended, seals it and closes the file. Appends after this are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    this.seal();
    while (this.#running !== undefined) await this.#running;
    this.#cancelAgeTimer();
    this.#outage.end();
    await this.#active?.close();
  }

  get #activeWithRecords(): ActiveSegment | undefined {
    return this.#active !== undefined && this.#active.records.length > 0 ? this.#active : undefined;
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#queue.length > 0 || this.#sealWanted || this.#probeWanted) this.#wake();
    });
  }

  async #run(): Promise<void> {
    const { clock, segmentMaxBytes = limits.walSegmentMaxBytes } = this.#options;
    while (this.#queue.length > 0) {
      // One turn of the event loop: requests that are ready at the same time join the group.
      await clock.turn();
      const group = this.#takeGroup();
      try {
        await this.#commit(group);
      } catch (thrown) {
        await this.#abandonActive(group, thrown);
      }
      if ((this.#active?.recordBytes ?? 0) >= segmentMaxBytes) await this.#sealActive();
    }
    if (this.#sealWanted) {
      this.#sealWanted = false;
      await this.#sealActive();
    }
    if (this.#probeWanted) {
      this.#probeWanted = false;
      this.#active ??= await this.#nextSegment();
    }
  }

  #takeGroup(): Append[] {
    let count = 0;
    let bytes = 0;
    for (const { record } of this.#queue) {
      if (
        count === limits.walMaxGroupRecords ||
        (count > 0 && bytes + record.byteLength > limits.walMaxGroupBytes)
      )
        break;
      count += 1;
      bytes += record.byteLength;
    }
    return this.#queue.splice(0, count);
  }

  async #commit(group: readonly Append[]): Promise<void> {
    const { metrics, clock } = this.#options;
    this.#active ??= await this.#createSegment();
    const segment = this.#active;
    const encoded = group.map((append) => append.record);
    await segment.write(encoded);
    const stop = metrics.walFsync.startTimer();
    await segment.sync();
    stop();
    metrics.walGroupRecords.observe(group.length);
    if (segment.records.length === 0) this.#sealLater();
    segment.accept(encoded, clock.nowMicros());
    for (const append of group) append.done();
  }

  /** A write or sync failed: refuse the group, and leave the file as the good part of it. */
  async #abandonActive(group: readonly Append[], thrown: unknown): Promise<void> {
    const { log } = this.#options;
    log.error({ err: thrown }, 'the write-ahead log could not be written');
    const segment = this.#active;
    this.#active = undefined;
    if (segment !== undefined) {
      try {
        await segment.cutBack();
      } catch (error) {
        log.error({ err: error, segment: segment.number }, 'a failed write could not be cut off');
      }
      await this.#retire(segment);
    }
    for (const append of group) append.fail(refusalOf(thrown));
    // A full disk takes the few bytes of a new segment, and then fails the next request.
    if (isFull(thrown)) this.#beginOutage(thrown);
    else this.#active = await this.#nextSegment();
  }

  /** A segment to go on with; without one, the log is in an outage. */
  async #nextSegment(): Promise<ActiveSegment | undefined> {
    try {
      const segment = await this.#createSegment();
      if (this.#outage.error !== undefined)
        this.#options.log.info('the write-ahead log can be written again');
      this.#outage.end();
      return segment;
    } catch (error) {
      this.#beginOutage(error);
      return undefined;
    }
  }

  #beginOutage(thrown: unknown): void {
    const error = refusalOf(thrown);
    if (this.#outage.error === undefined) {
      this.#options.log.error({ err: thrown }, 'writes are refused until the write-ahead log can be written');
    }
    this.#outage.begin(error);
    for (const append of this.#queue.splice(0)) append.fail(error);
  }

  /** Makes the next segment first, so that writing goes on while this one is on its way to the store. */
  async #sealActive(): Promise<void> {
    const segment = this.#active;
    if (segment === undefined || segment.records.length === 0) return;
    // Without a next one this one moves on all the same: a full disk gets its room back in no other way.
    this.#active = await this.#nextSegment();
    await this.#retire(segment);
  }

  #sealLater(): void {
    this.#cancelAgeTimer();
    const { clock, segmentMaxAgeMs } = this.#options;
    this.#cancelAgeTimer = clock.after(segmentMaxAgeMs, () => this.seal());
  }

  /** The segment takes no more records. */
  async #retire(segment: ActiveSegment): Promise<void> {
    this.#cancelAgeTimer();
    // Before anything is awaited: at each moment somebody counts its records as pending.
    const sealed = segment.seal();
    this.#options.backlog.add(sealed);
    this.#options.onSealed(sealed);
    try {
      await segment.close();
    } catch (error) {
      // All that counts in the file was synced before.
      this.#options.log.warn({ err: error, segment: segment.number }, 'a segment could not be closed');
    }
  }

  async #createSegment(): Promise<ActiveSegment> {
    const { files, clock } = this.#options;
    const number = this.#nextNumber;
    // Used from here on, whatever happens.
    this.#nextNumber += 1;
    const segment = await ActiveSegment.create(files, number, clock.nowMicros());
    await this.#options.backlog.created(number);
    return segment;
  }
}

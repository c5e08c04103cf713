/**
 * The write-ahead log. This page is its specification.
 *
 * ## Purpose
 *
 * A request is acknowledged when it is durable in the log. The drain moves it from there into the store
 * (`drain/drain.ts`). The log keeps it until then, through kills of the process and power cuts.
 *
 * ## Files
 *
 * In the directory `wal` of the data directory, numbers with 20 digits:
 *
 *     <segment>.wal                  a segment: a header, then records, one for each request
 *     <segment>.stored-<count>       a part of its checkpoint: tables that the store has (`checkpoints.ts`)
 *     <segment>.bundle-<number>      the manifest of a batched job that ends with it (`batch-manifests.ts`)
 *     <segment>.damaged-<position>   bytes that a start could not read and set aside, for people to look at
 *
 * Numbers of segments count up and are never used twice, since they are part of deduplication tokens. What is
 * to be known of requests after their segment is gone is in the directory `replay` (`replay-journal.ts`).
 *
 * ## Format
 *
 * All integers are little-endian. A segment:
 *
 *     bytes  0..7    "MILLRACE"
 *     bytes  8..11   format version, u32 (1)
 *     bytes 12..19   segment number, u64, the one in the file's name
 *     bytes 20..27   creation time, microseconds since 1970, u64
 *     bytes 28..31   CRC-32 of bytes 0..27
 *     then records, back to back
 *
 * A record:
 *
 *     bytes  0..3    "MREC"
 *     bytes  4..7    length of the payload, u32
 *     bytes  8..11   CRC-32 of the payload
 *     bytes 12..15   CRC-32 of the segment's number (u64), the record's position in the file (u64) and
 *                    bytes 0..11
 *     payload        u32 length of the header, the header as JSON (`RecordHeader`), then the Native blocks
 *                    of the tables in the order of the header
 *
 * The second checksum lets a reader trust the length before it reads the payload. It also tells a record from
 * bytes that were a record elsewhere: blocks of a deleted segment that a power cut left in a new file, or
 * what a client put into its own data.
 *
 * ## Invariants
 *
 * - `append` fulfils only after the record, and all before it in its segment, were written and fdatasynced,
 *   in a file whose name is durable too.
 * - One loop does all writing. Requests that arrive while it is busy share the next write and fdatasync
 *   (group commit).
 * - A sealed segment never changes. The next file is made when all in the last one is durable and nothing is
 *   behind it. So only the newest file can be torn, and only its end can hold anything but whole records:
 *   preallocated zeros (`active-segment.ts`), and what was being written.
 * - After a failed write or sync the group is refused, and the file takes no more records: nothing is known
 *   of it behind its durable records, and a failed fdatasync may not be repeated, since the kernel has
 *   forgotten which pages were dirty. The file is cut back to its records, durably, before it is sealed and
 *   before the next one is made. What was refused must not come back: neither under the token of a segment
 *   that the store has without it, nor behind something that was acknowledged later.
 * - The file with the highest number is never removed: the next run counts on from it. It goes when a newer
 *   one exists.
 * - Removal is durable when it returns. A segment that came back could be stored a second time: the store
 *   remembers a bounded number of tokens, and a power cut may make it forget some of them.
 * - While the disk is full, or a segment cannot be made, requests are refused without touching the disk
 *   (`outage.ts`). A probe tries to make the next segment once a second; when it has one, the log works
 *   again.
 *
 * ## Recovery
 *
 * Each segment that is left and holds a record becomes a sealed one again, with its whole records in their
 * order, so that it makes the same inserts under the same tokens as before (`recovery.ts`).
 *
 * - A torn tail of the newest file, never acknowledged, is cut off and counted; preallocated zeros do not
 *   count.
 * - All other bytes that are no whole record are damage, something that happened to the disk. In the newest
 *   file they may also be of a group of which a power cut let the disk write later records only; none of
 *   these was acknowledged. They are copied to a file of their own, counted and reported as an error. Every
 *   other record is kept. A file that does not begin with its segment's header is searched from its first
 *   byte.
 * - A file that ends within its header was never written to.
 * - A segment of an unknown format version stops the start: another version of Millrace wrote it.
 * - What can be read from the newest file need not be on the disk. It is written and synced again before it
 *   counts, because its token must stand for these bytes from then on.
 * - A sidecar file is as it was written or says nothing.
 *
 * ## Who may call what, and when
 *
 * - At the start, in this order: `recoverWal`; `Backlog.add` for each recovered segment; `Wal.open`.
 * - `append`, `seal`, `checkRoom`: anybody, at any time. `append` is bounded by the bodies in flight
 *   (`ingest/admission.ts`).
 * - `close`: once, when no request is under way. It seals what there is, and later appends are refused.
 * - The backlog: the writer adds sealed segments, and the drain alone reads, checkpoints and removes them. A
 *   segment is removed when the store, or the dead letters, have all of it.
 */
import { AppError } from '../errors.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits/limits.ts';
import { isFull, Outage, refusalOf } from './outage.ts';
import { type EncodedRecord, encodeRecord, type WalRecord } from './record.ts';
import type { Recovery } from './recovery.ts';
import type { SegmentRecord } from './segment.ts';
import { SegmentChain, type SegmentChainOptions } from './segment-chain.ts';

export interface WalOptions extends SegmentChainOptions {
  readonly clock: Clock & Timers;
  readonly metrics: Metrics;
  /** What the directory held at the start; its segments are in the backlog already. */
  readonly recovery: Recovery;
  readonly maxBytes: number;
  /** At least this many bytes of records seal a segment; `limits.walSegmentMaxBytes` unless given. */
  readonly segmentMaxBytes?: number;
  readonly segmentMaxAgeMs: number;
}

interface Append {
  readonly record: EncodedRecord;
  done(): void;
  fail(error: AppError): void;
}

export class Wal {
  readonly #options: WalOptions;
  readonly #chain: SegmentChain;
  readonly #queue: Append[] = [];
  /** How many requests are likely to come together: `#awaitGroup`. */
  #expected = 0;
  #onGathered = () => {};
  #sealWanted = false;
  #probeWanted = false;
  readonly #outage: Outage;
  #running: Promise<void> | undefined;
  #cancelAgeTimer = () => {};
  #closed = false;

  private constructor(options: WalOptions) {
    this.#options = options;
    this.#chain = new SegmentChain(options, options.recovery.nextNumber);
    this.#outage = new Outage(options.clock, () => {
      this.#probeWanted = true;
      this.#wake();
    });
  }

  /** Opens the log for writing. */
  static async open(options: WalOptions): Promise<Wal> {
    const wal = new Wal(options);
    await wal.#chain.writable();
    for (const number of options.recovery.empty) await wal.#chain.discard(number);
    return wal;
  }

  /** Bytes on disk that the store does not have yet. */
  get bytes(): number {
    return this.#options.backlog.bytes + (this.#chain.withRecords?.recordBytes ?? 0);
  }

  /** How many bytes there may be before writes are refused. */
  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  /** Segments with records that the store does not have yet. */
  get pendingSegments(): number {
    return this.#options.backlog.size + (this.#chain.withRecords === undefined ? 0 : 1);
  }

  /** The newest segment with records that the store does not have yet. */
  get newestPending(): number | undefined {
    return this.#chain.withRecords?.number ?? this.#options.backlog.newest?.number;
  }

  /** The segments with records that the store does not have yet, oldest first. */
  *segments(): Iterable<{ readonly number: number; readonly records: readonly SegmentRecord[] }> {
    yield* this.#options.backlog.all;
    if (this.#chain.withRecords !== undefined) yield this.#chain.withRecords;
  }

  /** Age of the oldest record that the store does not have yet, in seconds; 0 if there is none. */
  get oldestSeconds(): number {
    const { backlog, clock } = this.#options;
    const oldest = backlog.oldest ?? this.#chain.withRecords;
    return oldest === undefined ? 0 : Math.max(0, clock.nowMicros() - oldest.sinceMicros) / 1e6;
  }

  /**
   * @throws AppError `log_full` when the store has fallen too far behind; `log_full`, `log_failed` in an
   * outage
   */
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
  append(record: WalRecord): Promise<void> {
    return new Promise<void>((done, fail) => {
      if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
      this.checkRoom();
      this.#queue.push({ record: encodeRecord(record), done, fail });
      if (this.#queue.length >= this.#expected) this.#onGathered();
      this.#wake();
    });
  }

  /**
   * Seals the active segment, if it has records, after what is being written now. What is appended after this
   * and is not part of that goes to the next one.
   */
  seal(): void {
    this.#sealWanted = true;
    this.#wake();
  }

  /** Finishes what was appended, seals it and closes the file. Appends after this are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== undefined) await this.#running;
    this.seal();
    while (this.#running !== undefined) await this.#running;
    this.#cancelAgeTimer();
    this.#outage.end();
    await this.#chain.close();
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#queue.length > 0 || this.#sealWanted || this.#probeWanted) this.#wake();
    });
  }

  async #run(): Promise<void> {
    const { segmentMaxBytes = limits.walSegmentMaxBytes } = this.#options;
    while (this.#queue.length > 0) {
      if (this.#sealWanted) {
        await this.#sealActive();
        continue;
      }
      await this.#awaitGroup();
      const group = this.#takeGroup();
      try {
        await this.#commit(group);
      } catch (thrown) {
        await this.#refuse(group, thrown);
      }
      const recordBytes = this.#chain.withRecords?.recordBytes ?? 0;
      // Also by age: under load the queue may not be empty for minutes.
      if (this.#sealWanted || recordBytes >= segmentMaxBytes) await this.#sealActive();
    }
    if (this.#sealWanted) await this.#sealActive();
    if (this.#probeWanted) await this.#goOn();
  }

  /**
   * Lets requests that are ready at the same time join the group, by one turn of the event loop. It also
   * waits a moment for the senders that were answered last, since most of them have their next request ready.
   */
  async #awaitGroup(): Promise<void> {
    const { clock } = this.#options;
    await clock.turn();
    if (this.#queue.length >= this.#expected) return;
    await new Promise<void>((done) => {
      const cancel = clock.after(limits.walGroupDelayMs, done);
      this.#onGathered = () => {
        cancel();
        done();
      };
    });
    this.#onGathered = () => {};
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
    const segment = this.#chain.ready ?? (await this.#chain.writable());
    const encoded = group.map((append) => append.record);
    const beginMs = clock.monotonicMs();
    await segment.write(encoded);
    metrics.walFsync.observe((clock.monotonicMs() - beginMs) / 1000);
    metrics.walGroupRecords.observe(group.length);
    if (segment.records.length === 0) this.#sealLater();
    segment.accept(encoded, clock.nowMicros());
    for (const append of group) append.done();
    this.#expected = Math.min(group.length + this.#queue.length, limits.walMaxGroupRecords);
  }

  /** A write or sync failed. */
  async #refuse(group: readonly Append[], thrown: unknown): Promise<void> {
    this.#options.log.error({ err: thrown }, 'the write-ahead log could not be written');
    for (const append of group) append.fail(refusalOf(thrown));
    // A full disk takes the few bytes of a new segment, and then fails the next request.
    if (isFull(thrown)) {
      this.#beginOutage(thrown);
      await this.#orOutage(() => this.#chain.repair());
    } else await this.#goOn();
  }

  /** Gets a segment to go on with, which ends an outage. */
  async #goOn(): Promise<void> {
    this.#probeWanted = false;
    await this.#orOutage(async () => {
      await this.#chain.writable();
      if (this.#outage.error !== undefined) {
        this.#options.log.info('the write-ahead log can be written again');
      }
      this.#outage.end();
    });
  }

  async #sealActive(): Promise<void> {
    this.#sealWanted = false;
    this.#cancelAgeTimer();
    await this.#orOutage(() => this.#chain.seal());
  }

  async #orOutage(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#beginOutage(error);
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

  #sealLater(): void {
    this.#cancelAgeTimer();
    const { clock, segmentMaxAgeMs } = this.#options;
    this.#cancelAgeTimer = clock.after(segmentMaxAgeMs, () => this.seal());
  }
}

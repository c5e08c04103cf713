import { crc32 } from 'node:zlib';
import { type Clock, expiryMs } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { StoredRequest } from '../model/replay.ts';
import type { SealedSegment } from './segment.ts';
import type { WalFile, WalFiles } from './wal-files.ts';

/**
 * What is known of stored requests after their segments have left the log, so that a sender's repetition is
 * recognised across a restart.
 *
 * A request's identity becomes durable with its record, in the same write and fdatasync as its rows. It is
 * copied here when the store has the segment, right before the segment is removed: one more fdatasync for a
 * whole segment, and none that a request waits for. At any moment the identity of an acknowledged request is
 * in the log, or here, or in both; a reader takes both, and the same identity twice means the same as once.
 *
 * File `<20 digits>.replay`, numbers count up:
 *
 *     millrace-replay 1
 *     <CRC-32 of what follows the space, 8 hex digits> {"tenant":…,"dataset":…,"requests":[StoredRequest,…]}
 *     …
 *
 * - A line that is damaged or incomplete stands alone and is skipped. At the end of a file that is what a
 *   crash leaves of a write that was not finished, whose segment is still in the log.
 * - A process appends only to files of its own, and to none after a failed write or sync.
 * - A file goes when the window has passed for all that is in it, or when the journal is larger than its
 *   bound.
 * - One caller at a time.
 */
export class ReplayJournal {
  readonly #options: ReplayJournalOptions;
  /** Oldest first. */
  readonly #files: JournalFile[] = [];
  #nextNumber = 1;
  #active: ActiveFile | undefined;

  private constructor(options: ReplayJournalOptions) {
    this.#options = options;
  }

  /**
   * Reads what the directory holds, oldest first, and opens it for writing.
   * @throws Error for a file of a format that this version does not know
   */
  static async open(options: ReplayJournalOptions): Promise<ReplayJournal> {
    const journal = new ReplayJournal(options);
    for (const name of (await options.files.list()).filter((each) => fileName.test(each)).sort()) {
      journal.#files.push(await journal.#read(name));
      journal.#nextNumber = Number.parseInt(name, 10) + 1;
    }
    return journal;
  }

  /** Makes durable what is to be known of a segment's requests after the segment is gone. */
  async keep(segment: SealedSegment): Promise<void> {
    await this.#removeOld();
    const groups = groupsOf(segment);
    if (groups.length === 0) return;
    const bytes = Buffer.from(groups.map(encodeLine).join(''), 'utf8');
    const active = await this.#writableFile();
    try {
      await active.file.writeDurably([bytes], active.entry.byteLength);
    } catch (error) {
      await this.close();
      throw error;
    }
    active.entry.byteLength += bytes.byteLength;
    for (const { receivedMicros } of groups.flatMap((group) => group.requests)) {
      active.entry.expiresMs = Math.max(active.entry.expiresMs, this.#expiryMs(receivedMicros));
    }
  }

  async close(): Promise<void> {
    const active = this.#active;
    this.#active = undefined;
    await active?.file.close();
  }

  #expiryMs(receivedMicros: number): number {
    return expiryMs(this.#options.clock, receivedMicros, this.#options.windowMs);
  }

  async #removeOld(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    let bytes = this.#files.reduce((sum, file) => sum + file.byteLength, 0);
    for (let oldest = this.#files[0]; oldest !== undefined; oldest = this.#files[0]) {
      const isDone = oldest.expiresMs <= nowMs || bytes > limits.maxReplayJournalBytes;
      if (!isDone || oldest === this.#active?.entry) return;
      await this.#options.files.remove(oldest.name);
      this.#files.shift();
      bytes -= oldest.byteLength;
    }
  }

  /** A file goes as a whole, so each takes only a part of the window. */
  async #writableFile(): Promise<ActiveFile> {
    const { files, clock, windowMs } = this.#options;
    const nowMs = clock.monotonicMs();
    const active = this.#active;
    if (active !== undefined) {
      const isFull =
        nowMs - active.startedMs > windowMs / limits.replayJournalParts ||
        active.entry.byteLength > limits.maxReplayJournalBytes / limits.replayJournalParts;
      if (!isFull) return active;
      await this.close();
    }
    const entry: JournalFile = {
      name: `${String(this.#nextNumber).padStart(20, '0')}${suffix}`,
      byteLength: firstLine.byteLength,
      expiresMs: nowMs,
    };
    this.#nextNumber += 1;
    const file = await files.create(entry.name);
    this.#files.push(entry);
    try {
      await file.write([firstLine], 0);
      await files.syncDirectory();
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#active = { file, entry, startedMs: nowMs };
    return this.#active;
  }

  async #read(name: string): Promise<JournalFile> {
    const { files, log, onStored } = this.#options;
    const entry: JournalFile = { name, byteLength: await files.size(name), expiresMs: 0 };
    const file = await files.open(name);
    let text: string;
    try {
      text = (await file.read(0, entry.byteLength)).toString('utf8');
    } finally {
      await file.close();
    }
    const [head = '', ...lines] = text.split('\n');
    if (!firstLine.toString().startsWith(head)) {
      throw new Error(
        `${name} begins with ${JSON.stringify(head.slice(0, 40))}; this version of Millrace does not read it`,
      );
    }
    const found = lines.filter((line) => line !== '').map(readLine);
    for (const group of found) {
      for (const request of group?.requests ?? []) {
        entry.expiresMs = Math.max(entry.expiresMs, this.#expiryMs(request.receivedMicros));
        onStored(group?.tenant ?? '', group?.dataset ?? '', request);
      }
    }
    const damagedLines = found.filter((group) => group === undefined).length;
    if (damagedLines > 0) {
      log.warn({ file: name, damagedLines }, 'lines of the replay journal are damaged and are ignored');
    }
    return entry;
  }
}

export interface ReplayJournalOptions {
  /** A directory of its own. */
  readonly files: WalFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long requests are remembered. */
  readonly windowMs: number;
  /** Called while the journal is opened, once for each request in it. */
  readonly onStored: (tenant: string, dataset: string, request: StoredRequest) => void;
}

interface JournalFile {
  readonly name: string;
  /** Of what is durable in it. */
  byteLength: number;
  /** When the window has passed for the youngest request in it; monotonic. */
  expiresMs: number;
}

/** The file that this process appends to. */
interface ActiveFile {
  readonly file: WalFile;
  readonly entry: JournalFile;
  /** Monotonic. */
  readonly startedMs: number;
}

/** The requests of one dataset. */
interface Group {
  readonly tenant: string;
  readonly dataset: string;
  readonly requests: StoredRequest[];
}

const suffix = '.replay';
const fileName = /^\d{20}\.replay$/;
const firstLine = Buffer.from('millrace-replay 1\n', 'latin1');

/** One line for each dataset of a segment that has requests to remember. */
function groupsOf(segment: SealedSegment): Group[] {
  const groups = new Map<string, Group>();
  for (const { header } of segment.records) {
    const { tenant, dataset, request } = header;
    if (request === undefined) continue;
    const key = `${tenant}/${dataset}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { tenant, dataset, requests: [request] });
    else group.requests.push(request);
  }
  return [...groups.values()];
}

const checksum = (json: string): string => crc32(json).toString(16).padStart(8, '0');

function encodeLine(group: Group): string {
  const json = JSON.stringify(group);
  return `${checksum(json)} ${json}\n`;
}

/** Undefined for a line that is not what was written. */
function readLine(line: string): Group | undefined {
  const json = line.slice(9);
  return line.slice(0, 9) === `${checksum(json)} ` ? (JSON.parse(json) as Group) : undefined;
}

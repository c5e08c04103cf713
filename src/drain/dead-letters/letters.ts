/**
 * The dead letters: rows that the store refused for good, each with the reason, in a directory of their own.
 *
 * A letter is two files of the same name, `<node>-<segment>-<database>.<table>-<first row>`:
 *
 *     .native   the rows as ClickHouse Native blocks, as they would have been inserted
 *     .json     the note (`note.ts`): whose they are, why they are here, under which token to try again
 *
 * - A letter exists if it has a note. The note is written after the rows and their name are durable, so a
 *   letter with a note is complete. Rows without a note, or half a note, are left by a crash while a letter
 *   was written or removed; in the first case the log still has the rows.
 * - As long as the segment is in the log, its letters are the record of what was decided about it: a drain
 *   that begins again leaves out what they hold (`drain/batch-inserter.ts`). So they can be dropped or sent
 *   again only when it is gone.
 */
import { createHash } from 'node:crypto';
import type { HasEnded, TenantHolder } from '../../catalog/tenant-cleaner.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { RowRange } from '../../model/block.ts';
import type { WalFiles } from '../../wal/wal-files.ts';
import { type DeadNote, noteText, readNote } from './note.ts';

export interface DeadLettersOptions {
  readonly files: WalFiles;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const noteSuffix = '.json';
const rowsSuffix = '.native';

export class DeadLetters implements TenantHolder {
  readonly #options: DeadLettersOptions;
  readonly #names: Set<string>;

  private constructor(options: DeadLettersOptions, names: Set<string>) {
    this.#options = options;
    this.#names = names;
    this.#count();
  }

  static async open(options: DeadLettersOptions): Promise<DeadLetters> {
    return new DeadLetters(options, new Set(await options.files.list()));
  }

  /** Names of the letters, whole or not. */
  names(): string[] {
    const names = [...this.#names].flatMap((name) => {
      const suffix = [noteSuffix, rowsSuffix].find((end) => name.endsWith(end));
      return suffix === undefined ? [] : [name.slice(0, -suffix.length)];
    });
    return [...new Set(names)].sort();
  }

  /** The rows of a batch that are already in dead letters, from an earlier try. */
  async rangesOf(batch: string): Promise<RowRange[]> {
    const start = `${stemOf(batch)}-`;
    const ranges: RowRange[] = [];
    for (const file of this.#names) {
      if (!file.startsWith(start) || !file.endsWith(noteSuffix)) continue;
      const note = await this.note(file.slice(0, -noteSuffix.length));
      if (note?.batch === batch) ranges.push(...note.ranges);
    }
    return ranges;
  }

  /** What is known of a letter; undefined if its note is not whole, or not there. */
  async note(name: string): Promise<DeadNote | undefined> {
    if (!this.#names.has(`${name}${noteSuffix}`)) return undefined;
    return readNote((await this.#read(`${name}${noteSuffix}`)).toString('utf8'));
  }

  /** The Native blocks of a letter. */
  rows(name: string): Promise<Buffer> {
    return this.#read(`${name}${rowsSuffix}`);
  }

  /** Keeps rows. When this returns, they and the reason survive a power cut. */
  async add(note: DeadNote, blocks: readonly Uint8Array[]): Promise<void> {
    const { files, metrics, log } = this.#options;
    const name = `${stemOf(note.batch)}-${note.ranges[0]?.from ?? 0}`;
    // Half a note of an earlier try goes first, so that it can never stand beside other rows.
    if (this.#names.has(`${name}${noteSuffix}`)) {
      await this.#delete(`${name}${noteSuffix}`);
      await files.syncDirectory();
    }
    await this.#write(`${name}${rowsSuffix}`, blocks);
    await this.#write(`${name}${noteSuffix}`, [Buffer.from(noteText(note))]);
    metrics.deadRows.inc(note.rows);
    this.#count();
    const { tenant, dataset, table, rows, error } = note;
    log.error(
      { name, tenant, dataset, table, rows, error },
      'the store refused rows permanently; they are now a dead letter',
    );
  }

  async remove(name: string): Promise<void> {
    // In this order: rows without a note are no letter.
    for (const suffix of [noteSuffix, rowsSuffix]) {
      if (!this.#names.has(`${name}${suffix}`)) continue;
      await this.#delete(`${name}${suffix}`);
      await this.#options.files.syncDirectory();
    }
    this.#count();
  }

  /**
   * Removes the letters of deleted tenants and datasets. The drain leaves out their rows, so it does not need
   * these letters.
   */
  async forgetEnded(hasEnded: HasEnded): Promise<void> {
    for (const name of this.names()) {
      const note = await this.note(name);
      if (note !== undefined && hasEnded(note.tenant, note.dataset)) await this.remove(name);
    }
  }

  #count(): void {
    this.#options.metrics.deadFiles.set(this.names().length);
  }

  async #read(name: string): Promise<Buffer> {
    const { files } = this.#options;
    const file = await files.open(name);
    try {
      return await file.read(0, await files.size(name));
    } finally {
      await file.close();
    }
  }

  async #write(name: string, buffers: readonly Uint8Array[]): Promise<void> {
    const { files } = this.#options;
    if (this.#names.has(name)) await this.#delete(name);
    const file = await files.create(name);
    this.#names.add(name);
    try {
      await file.writeDurably(buffers, 0);
    } finally {
      await file.close();
    }
    await files.syncDirectory();
  }

  async #delete(name: string): Promise<void> {
    await this.#options.files.remove(name);
    this.#names.delete(name);
  }
}

/**
 * Of the 255 bytes that file systems allow for a name, what remains for the batch with the number and suffix.
 */
const maxStemBytes = 220;

/** A batch's token as the beginning of a file name; tokens hold nothing that a name may not. */
function stemOf(token: string): string {
  if (token.length <= maxStemBytes) return token;
  const digest = createHash('sha256').update(token).digest('hex').slice(0, 16);
  return `${token.slice(0, maxStemBytes - digest.length - 1)}-${digest}`;
}

import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { AppError, errorText } from '../../errors.ts';

/** The output of a named pipe while something else writes into it. */
export interface OpenPipe {
  readonly path: string;
  readonly source: Readable;
  /** Call it when the writer has ended: its output can still be read, then `source` ends. */
  finish(): void;
  /** Gives the pipe back. It is reused if no writer can still have it open. */
  release(reusable: boolean): Promise<void>;
}

/**
 * Named pipes (FIFOs) in a directory. A pipe holds no bytes once nobody has it open, so the output of one
 * writer cannot reach the reader of the next. Making a pipe takes a process (`mkfifo` of POSIX; Node.js has
 * no call for it), so pipes are kept: as many as were ever open at the same time.
 */
export class NamedPipes {
  readonly #folder: string;
  readonly #idle: string[] = [];
  #made = 0;

  /** @param folder exists and is used by nothing else */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes the first pipe, so that a missing `mkfifo` is noticed at once and not at the first query.
   * @throws AppError `pipes_unavailable`
   */
  async prepare(): Promise<void> {
    try {
      this.#idle.push(await this.#make());
    } catch (thrown) {
      throw new AppError(
        'pipes_unavailable',
        `the embedded engine needs the command mkfifo, and a data directory that supports named pipes: ${errorText(thrown)}`,
        { cause: thrown },
      );
    }
  }

  /** @throws Error if there is no `mkfifo`, or no space */
  async open(): Promise<OpenPipe> {
    const path = this.#idle.pop() ?? (await this.#make());
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    // Kept open until the writer has ended: without any writer, the reader would see the end of the pipe.
    const writing = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const source = new Socket({ fd: reading, readable: true, writable: false });
    let finished = false;
    const finish = (): void => {
      if (!finished) closeSync(writing);
      finished = true;
    };
    const release = async (reusable: boolean): Promise<void> => {
      finish();
      source.destroy();
      if (reusable) this.#idle.push(path);
      else await rm(path, { force: true });
    };
    return { path, source, finish, release };
  }

  async #make(): Promise<string> {
    this.#made += 1;
    const path = join(this.#folder, `${this.#made}.pipe`);
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    return path;
  }
}

import { statfs } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import type { Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';

export interface DiskSpace {
  readonly availableBytes: number;
  readonly totalBytes: number;
}

export interface DiskGuardOptions {
  readonly measure: () => Promise<DiskSpace>;
  readonly timers: Timers;
  readonly log: Logger;
}

/**
 * Refuses new writes before the disk is full.
 *
 * A full disk cannot empty itself. The active segment must be sealed, and the store needs space for the rows
 * in the log; only then does the log free its space. So some space is reserved, and new requests are refused
 * while less is free. The disk is measured every so often and never by a request.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #refusal: AppError | undefined;
  #space: DiskSpace = { availableBytes: 0, totalBytes: 0 };
  #cancelTimer = () => {};
  #stopped = false;

  private constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Measures once before it returns. */
  static async start(options: DiskGuardOptions): Promise<DiskGuard> {
    const guard = new DiskGuard(options);
    await guard.#watch();
    return guard;
  }

  /** What was measured last. */
  get space(): DiskSpace {
    return this.#space;
  }

  /** Bytes that new requests leave free. */
  get headroomBytes(): number {
    return Math.min(limits.diskHeadroomBytes, this.#space.totalBytes * limits.diskHeadroomShare);
  }

  /** @throws AppError `log_full` */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  async #watch(): Promise<void> {
    const { log, measure, timers } = this.#options;
    try {
      this.#judge(await measure());
    } catch (error) {
      log.error(
        { err: error },
        'the free space on the disk could not be measured; the last known value is used',
      );
    }
    if (!this.#stopped)
      this.#cancelTimer = timers.after(limits.diskCheckIntervalMs, () => void this.#watch());
  }

  #judge(space: DiskSpace): void {
    this.#space = space;
    const { headroomBytes } = this;
    const { availableBytes } = space;
    const wasRefusing = this.#refusal !== undefined;
    if (availableBytes >= headroomBytes) {
      this.#refusal = undefined;
      if (wasRefusing) this.#options.log.info({ availableBytes }, 'there is room on the disk again');
      return;
    }
    this.#refusal = new AppError(
      'log_full',
      `${availableBytes} bytes are left on the disk; the last ${Math.ceil(headroomBytes)} are kept for data that is already acknowledged`,
    );
    if (!wasRefusing) {
      this.#options.log.error(
        { availableBytes, headroomBytes },
        'the disk is nearly full; writes are refused',
      );
    }
  }
}

/** Of the file system that holds the path, as far as this user may use it. */
export async function diskSpace(path: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(path);
  return { availableBytes: bavail * bsize, totalBytes: blocks * bsize };
}

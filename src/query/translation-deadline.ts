import type { Clock, Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';

export interface TranslationDeadlineParts {
  readonly clock: Pick<Clock, 'monotonicMs'> & Pick<Timers, 'after'>;
  /** Reads the CPU time of the thread since its start; undefined if it cannot be read. */
  readonly readCpuMs: () => number | undefined;
  /** CPU time that one translation may take. */
  readonly maxCpuMs: number;
  /** Called once, with the limit that was exceeded. */
  readonly onExceeded: (reason: string) => void;
}

/**
 * Limits the time of one translation in a thread.
 *
 * The limit is CPU time: on a busy machine a thread may wait much longer than it works. Nearly all
 * translations end within the first interval, so CPU time is first read after it; the first interval does not
 * count. There is also a generous limit of elapsed time, and a tighter one if CPU time cannot be read.
 */
export class TranslationDeadline {
  readonly #parts: TranslationDeadlineParts;
  readonly #startedMs: number;
  #baseCpuMs: number | undefined;
  #cancel: () => void;

  /** Starts the time. */
  constructor(parts: TranslationDeadlineParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.monotonicMs();
    this.#cancel = this.#checkAfter(limits.translationCheckIntervalMs);
  }

  stop(): void {
    this.#cancel();
  }

  #checkAfter(ms: number): () => void {
    return this.#parts.clock.after(ms, () => this.#check());
  }

  #check(): void {
    const { clock, readCpuMs, maxCpuMs, onExceeded } = this.#parts;
    const elapsedMs = clock.monotonicMs() - this.#startedMs;
    const cpuMs = readCpuMs();
    this.#baseCpuMs ??= cpuMs;
    const usedMs =
      cpuMs === undefined ? elapsedMs / limits.translationWallFactor : cpuMs - (this.#baseCpuMs ?? cpuMs);
    const isOver = usedMs >= maxCpuMs;
    if (isOver || elapsedMs >= limits.translationTimeoutMs) {
      onExceeded(
        isOver ? `more than ${maxCpuMs} ms of CPU time` : `more than ${limits.translationTimeoutMs} ms`,
      );
      return;
    }
    // CPU time cannot grow faster than elapsed time, so there is nothing to check earlier.
    const leftMs = Math.min(maxCpuMs - usedMs, limits.translationTimeoutMs - elapsedMs);
    this.#cancel = this.#checkAfter(Math.max(limits.translationCheckIntervalMs, leftMs));
  }
}

import type { Clock, Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';

export interface TranslationDeadlineParts {
  readonly clock: Pick<Clock, 'monotonicMs'> & Pick<Timers, 'after'>;
  /** Of the thread, since its start; undefined where that cannot be read. */
  readonly readCpuMs: () => number | undefined;
  /** That one translation may take. */
  readonly maxCpuMs: number;
  /** Called once, with what was exceeded. */
  readonly onExceeded: (reason: string) => void;
}

/**
 * Watches how long a thread is at work on one translation.
 *
 * What counts is CPU time: on a busy machine a thread may wait much longer for its turn than it works.
 * Nothing is read of a translation that ends within the first interval, as nearly all do; that
 * interval is not charged. A generous bound on the wall clock holds as well, and a closer one where
 * CPU time cannot be read.
 */
export class TranslationDeadline {
  readonly #parts: TranslationDeadlineParts;
  readonly #startedMs: number;
  #baseCpuMs: number | undefined;
  #cancel: () => void;

  /** It runs from now on. */
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
    // No thread takes more CPU time than time passes.
    const leftMs = Math.min(maxCpuMs - usedMs, limits.translationTimeoutMs - elapsedMs);
    this.#cancel = this.#checkAfter(Math.max(limits.translationCheckIntervalMs, leftMs));
  }
}

import type { Random } from '../support/lib/random.ts';
import type { Scheduler } from './scheduler.ts';

/** How often things fail in a run, as probabilities of one operation; drawn anew for each run. */
interface Rates {
  readonly write: number;
  readonly sync: number;
  readonly directory: number;
  readonly read: number;
  readonly insert: number;
  /** That the store dies in the middle of an insert. */
  readonly storeDeath: number;
  /** That an insert takes seconds, and that its sender gives it up. */
  readonly slowInsert: number;
  /** That a time begins in which the disk is full, the disk fails, or the store is away. */
  readonly episode: number;
  /** That a table is stuck from here on, for a time. */
  readonly stuck: number;
}

type Episode = 'full' | 'broken' | 'away';

/** Decides by the seed what fails. */
export class Faults {
  readonly #scheduler: Scheduler;
  readonly #rates: Rates;
  readonly #until: Record<Episode, number> = { full: 0, broken: 0, away: 0 };
  #stuck: { readonly table: string; readonly untilMs: number } | undefined;
  /** While this is true, nothing fails. */
  quiet = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    const { random } = scheduler;
    const rate = (...of: readonly number[]): number => of[random.integer(0, of.length - 1)] ?? 0;
    this.#rates = {
      write: rate(0, 0.01, 0.1),
      sync: rate(0, 0.01, 0.1, 0.3),
      directory: rate(0, 0.02, 0.1),
      read: rate(0, 0, 0.005),
      insert: rate(0, 0.05, 0.2, 0.5),
      storeDeath: rate(0, 0.01, 0.1),
      slowInsert: rate(0, 0, 0.05, 0.3),
      episode: rate(0, 0, 0.002, 0.01),
      stuck: rate(0, 0.01, 0.1),
    };
  }

  get random(): Random {
    return this.#scheduler.random;
  }

  /** The error of a disk operation, or undefined if it goes well. */
  disk(operation: 'write' | 'sync' | 'directory' | 'read'): Error | undefined {
    if (this.quiet) return undefined;
    if ((operation === 'write' || operation === 'directory') && this.#during('full')) {
      return systemError('ENOSPC', operation);
    }
    if (operation !== 'read' && this.#during('broken')) return systemError('EIO', operation);
    if (!this.random.chance(this.#rates[operation])) return undefined;
    return systemError(this.random.chance(0.2) ? 'ENOSPC' : 'EIO', operation);
  }

  insert(): boolean {
    return !this.quiet && (this.#during('away') || this.random.chance(this.#rates.insert));
  }

  storeDies(): boolean {
    return this.chance(this.#rates.storeDeath);
  }

  /** Whether an insert takes seconds; asked a second time, whether its sender gives it up. */
  insertIsSlow(): boolean {
    return this.chance(this.#rates.slowInsert);
  }

  /** Whether a table takes no inserts, for up to minutes, while other tables do. */
  stuck(table: string): boolean {
    if (this.quiet) return false;
    const { nowMs } = this.#scheduler;
    if (this.#stuck !== undefined && nowMs < this.#stuck.untilMs) return this.#stuck.table === table;
    if (!this.random.chance(this.#rates.stuck)) return false;
    this.#stuck = { table, untilMs: nowMs + this.random.integer(1000, 600_000) };
    return true;
  }

  chance(probability: number): boolean {
    return !this.quiet && this.random.chance(probability);
  }

  #during(episode: Episode): boolean {
    const { nowMs } = this.#scheduler;
    if (nowMs < this.#until[episode]) return true;
    if (!this.random.chance(this.#rates.episode)) return false;
    this.#until[episode] = nowMs + this.random.integer(100, 30_000);
    return true;
  }
}

function systemError(code: string, operation: string): Error {
  return Object.assign(new Error(`${code}: simulated failure of ${operation}`), { code });
}

import { sleep } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits.ts';
import type { Directory } from './directory.ts';

export interface DirectoryFollowerOptions {
  readonly directory: Directory;
  /** Whether the store has been reached, so that its tables of metadata exist. */
  readonly storeReady: () => boolean;
  /** Whether other nodes may write to the same store. */
  readonly shared: boolean;
  readonly timers: Clock & Timers;
  readonly log: Logger;
}

/**
 * Has the directory read as soon as the store answers, and, where other nodes may change it, again and again. What
 * was read stays good while the store is away: those who are known are still let in.
 */
export class DirectoryFollower {
  readonly #options: DirectoryFollowerOptions;
  readonly #stopping = new AbortController();
  #failing = false;

  constructor(options: DirectoryFollowerOptions) {
    this.#options = options;
  }

  /** Reads once, if the store can be read, and goes on in the background. */
  async start(): Promise<void> {
    await this.#read();
    void this.#run();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { directory, shared, timers } = this.#options;
    const { signal } = this.#stopping;
    while (shared || !directory.loaded) {
      await sleep(limits.metadataPollIntervalMs, signal, timers);
      if (signal.aborted) return;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    const { directory, storeReady, log } = this.#options;
    if (!storeReady()) return;
    try {
      await directory.refresh();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, 'roles, users and API keys could not be read');
      this.#failing = true;
    }
  }
}

import type { Catalog } from '../catalog/catalog.ts';
import type { Directory } from '../identity/directory.ts';
import { sleep } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Lease } from './lease.ts';

export interface DirectoryFollowerOptions {
  readonly directory: Pick<Directory, 'loaded' | 'refresh'>;
  /** Which datasets there are. */
  readonly catalog: Pick<Catalog, 'refresh'>;
  /** Whether the store has been reached, so that its tables of metadata exist. */
  readonly storeReady: () => boolean;
  /** Where other nodes may write to the same store; undefined where none can. */
  readonly lease: Lease | undefined;
  readonly timers: Clock & Timers;
  readonly log: Logger;
}

/**
 * Has the directory read as soon as the store answers, and, where other nodes may change it, again and again, and with it
 * which datasets there are. What
 * was read stays good for a lease while the store is away: those who are known are still let in.
 */
export class DirectoryFollower {
  readonly #options: DirectoryFollowerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(options: DirectoryFollowerOptions) {
    this.#options = options;
  }

  /** Reads once, if the store can be read, and goes on in the background. */
  async start(): Promise<void> {
    await this.#read();
    this.#running = this.#run();
  }

  /** Ends, and tells the other nodes if the store takes it in time. Nobody may be let in any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const enough = new AbortController();
    const left = this.#running.then(() => this.#leave());
    await Promise.race([left, sleep(limits.nodeLeaveWaitMs, enough.signal, this.#options.timers)]);
    enough.abort();
  }

  async #run(): Promise<void> {
    const { directory, lease, timers } = this.#options;
    const { signal } = this.#stopping;
    while (lease !== undefined || !directory.loaded) {
      await sleep(limits.metadataPollIntervalMs, signal, timers);
      if (signal.aborted) return;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    const { directory, catalog, storeReady, lease, log } = this.#options;
    if (!storeReady()) return;
    const read = async () => {
      await directory.refresh();
      await catalog.refresh();
    };
    try {
      if (lease === undefined) await read();
      else await lease.renew(read);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, 'datasets, roles, users and API keys could not be read');
      this.#failing = true;
    }
  }

  async #leave(): Promise<void> {
    const { lease, storeReady, log } = this.#options;
    if (lease === undefined || !storeReady()) return;
    try {
      await lease.leave();
    } catch (error) {
      log.warn(
        { err: error },
        'the other nodes could not be told that this one stops; they wait for its lease',
      );
    }
  }
}

import type { Catalog } from '../catalog/catalog.ts';
import type { IdentityStore } from '../identity/identity-store.ts';
import { sleep } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { finishWithin } from '../lib/finish-within.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Lease } from './lease.ts';

/** A part that follows the log, and on which no decision about access rests: it is no part of the lease. */
export interface Followed {
  readonly loaded: boolean;
  /** @throws StoreError */
  refresh(): Promise<void>;
}

export interface MetadataFollowerOptions {
  readonly identityStore: Pick<IdentityStore, 'loaded' | 'refresh'>;
  /** Which datasets there are. */
  readonly catalog: Pick<Catalog, 'refresh'>;
  /** Read after identities and datasets, which do not wait for them. */
  readonly followed?: readonly Followed[];
  /** True once the store has answered, so that its metadata tables exist. */
  readonly storeReady: () => boolean;
  /** Set if other nodes can write to the same store. */
  readonly lease: Lease | undefined;
  readonly timers: Clock & Timers;
  readonly log: Logger;
}

/**
 * Keeps this node's identities, datasets and documents up to date. They are read as soon as the store
 * answers. If other nodes can change them, they are read again periodically. While the store is away, what
 * was read stays valid for one lease: known users are still let in.
 */
export class MetadataFollower {
  readonly #options: MetadataFollowerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(options: MetadataFollowerOptions) {
    this.#options = options;
  }

  /** Reads once, if the store can be read, and continues in the background. */
  async start(): Promise<void> {
    await this.#read();
    this.#running = this.#run();
  }

  /** Stops, and tells the other nodes if the store answers in time. After this nobody may be let in. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const left = this.#running.then(() => this.#leave());
    await finishWithin(left, limits.nodeLeaveWaitMs, this.#options.timers);
  }

  async #run(): Promise<void> {
    const { identityStore, followed = [], lease, timers } = this.#options;
    const { signal } = this.#stopping;
    while (lease !== undefined || !identityStore.loaded || followed.some(({ loaded }) => !loaded)) {
      await sleep(limits.metadataPollIntervalMs, signal, timers);
      if (signal.aborted) return;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    const { identityStore, catalog, followed = [], storeReady, lease, log } = this.#options;
    if (!storeReady()) return;
    const read = async () => {
      await identityStore.refresh();
      await catalog.refresh();
    };
    try {
      if (lease === undefined) await read();
      else await lease.renew(read);
      await Promise.all(followed.map((each) => each.refresh()));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, 'could not read the metadata log');
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
        'could not tell the other nodes that this node is stopping; they wait until its lease ends',
      );
    }
  }
}

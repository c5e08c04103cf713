import type { HasEnded, TenantHolder } from '../catalog/tenant-cleaner.ts';
import { AppError } from '../errors.ts';
import { type Clock, expiryMs } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits/limits.ts';
import type { DecodeCounts } from '../model/counts.ts';
import type { RequestIdentity, StoredRequest } from '../model/replay.ts';
import type { Acknowledgement } from './ingest-request.ts';

export interface ReplayWindowOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly windowMs: number;
  readonly maxEntries?: number;
}

/** The end of a request that is being stored. */
interface Ending {
  readonly promise: Promise<void>;
  readonly reached: () => void;
}

interface Entry {
  readonly body: string | undefined;
  readonly counts: DecodeCounts;
  /** On the monotonic clock. */
  readonly expiresMs: number;
}

/**
 * Recognises retried requests. A sender whose reply was lost sends the same request again; it is stored once.
 *
 * - A request is remembered as soon as its record is durable. A request that is not remembered may be stored.
 * - Of identical requests that arrive together, one is stored and the others wait for it. If it fails, the
 *   next one tries on its own, since the failure may concern the first one only (no memory, a full queue).
 * - Memory is bounded by the number and the age of entries; the oldest are dropped first. The memory of
 *   waiting requests is bounded by the bodies in flight, like that of all requests.
 * - The window survives a restart: the log and its journal (`wal/replay-journal.ts`) hold the same entries,
 *   and `recover` takes them.
 */
export class ReplayWindow implements TenantHolder {
  readonly #options: ReplayWindowOptions;
  readonly #maxEntries: number;
  /** In the order in which they were stored. */
  readonly #entries = new Map<string, Entry>();
  /** Requests that are being stored. A value exists only if somebody waits for the end of the request. */
  readonly #underWay = new Map<string, Ending | undefined>();

  constructor(options: ReplayWindowOptions) {
    this.#options = options;
    this.#maxEntries = options.maxEntries ?? limits.replayWindowEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Takes a request that an earlier process stored. */
  recover(tenant: string, dataset: string, request: StoredRequest): void {
    const { clock, windowMs } = this.#options;
    this.#add(keyOf(tenant, dataset, request), request, expiryMs(clock, request.receivedMicros, windowMs));
  }

  /** Takes a request whose record has just become durable. */
  remember(tenant: string, dataset: string, request: StoredRequest): void {
    const { clock, windowMs } = this.#options;
    this.#add(keyOf(tenant, dataset, request), request, clock.monotonicMs() + windowMs);
  }

  /**
   * Stores a request unless it has been stored already.
   * @param store must call `remember` if it stored the request durably
   * @throws AppError `idempotency_key_reused`; what `store` throws
   */
  async once(
    tenant: string,
    dataset: string,
    identity: RequestIdentity,
    store: () => Promise<Acknowledgement>,
  ): Promise<Acknowledgement> {
    const key = keyOf(tenant, dataset, identity);
    for (;;) {
      const counts = this.#find(key, identity);
      if (counts !== undefined) {
        this.#options.metrics.replayedRequests.inc();
        return { counts, refused: undefined, replayed: true };
      }
      if (!this.#underWay.has(key)) break;
      await this.#endOf(key);
    }
    this.#underWay.set(key, undefined);
    try {
      return await store();
    } finally {
      const ending = this.#underWay.get(key);
      this.#underWay.delete(key);
      ending?.reached();
    }
  }

  /** Fulfils when the request with this key has ended, in success or failure. */
  #endOf(key: string): Promise<void> {
    let ending = this.#underWay.get(key);
    if (ending === undefined) {
      let reached: () => void = () => {};
      const promise = new Promise<void>((done) => {
        reached = done;
      });
      ending = { promise, reached };
      this.#underWay.set(key, ending);
    }
    return ending.promise;
  }

  /** @throws AppError `idempotency_key_reused` */
  #find(key: string, identity: RequestIdentity): DecodeCounts | undefined {
    this.#forgetOld();
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresMs <= this.#options.clock.monotonicMs()) return undefined;
    if (entry.body === identity.body) return entry.counts;
    throw new AppError(
      'idempotency_key_reused',
      'a request with another body was stored under this Idempotency-Key: a new request needs a new key',
    );
  }

  #add(key: string, { body, counts }: StoredRequest, expiresMs: number): void {
    // Appended last, even if an expired entry with this key exists.
    this.#entries.delete(key);
    this.#entries.set(key, { body, counts, expiresMs });
    this.#forgetOld();
  }

  /** Drops entries of deleted tenants and datasets, to free memory: their ids are never used again. */
  forgetEnded(hasEnded: HasEnded): void {
    for (const key of this.#entries.keys()) {
      const [tenant = '', dataset] = key.split('/', 2);
      if (hasEnded(tenant, dataset)) this.#entries.delete(key);
    }
  }

  /**
   * Looks only at the oldest entries: except for those of a restart, they expire in the order of insertion.
   */
  #forgetOld(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, { expiresMs }] of this.#entries) {
      if (expiresMs > nowMs && this.#entries.size <= this.#maxEntries) return;
      this.#entries.delete(key);
    }
  }
}

/** Neither name contains a slash. */
const keyOf = (tenant: string, dataset: string, { name }: RequestIdentity): string =>
  `${tenant}/${dataset}/${name}`;

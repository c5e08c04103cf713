import { StoreError } from '../clickhouse/store-error.ts';
import { AppError } from '../errors.ts';
import { sleep } from '../lib/backoff.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { NodeRegistry, OwnReport, ReadPosition } from './nodes.ts';

export interface LeaseOptions {
  readonly registry: Pick<NodeRegistry, 'report' | 'others'>;
  /** How long a node may trust what it read from the metadata log. The same on all nodes. */
  readonly leaseMs: number;
  /** How far this node has read the metadata log. */
  readonly position: () => OwnReport;
  readonly timers: Clock & Timers;
}

/**
 * Makes a deletion on one node effective on all nodes.
 *
 * - A node trusts its copy of the metadata log for `leaseMs`, counted from the start of its last read or of
 *   its last report to the other nodes, whichever was earlier. After that it lets nobody in
 *   (`requireCurrent`) until it has read again.
 * - A node reports before its first read, before the first read after a lease without a report, after each
 *   read that found changes, and three times per lease.
 * - A node that deletes something waits (`caughtUp`) until every other node has reported that it
 *   has read that far, has announced that it stops, or can no longer trust its earlier copy. The
 *   wait is at most one lease.
 *
 * A node that does not know of a deletion therefore either has not started yet, or is waited for. Durations
 * are measured by monotonic clocks, with a small margin for clocks that run at different speeds. The store's
 * clock is used only to tell which nodes stopped long ago.
 */
export class Lease {
  readonly #options: LeaseOptions;
  /** When the last successful read and the last successful report began. */
  #readMs = Number.NEGATIVE_INFINITY;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #reported: ReadPosition | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** @throws AppError `store_unavailable` if this node's copy may be out of date */
  requireCurrent(): void {
    const { timers, leaseMs } = this.#options;
    if (timers.monotonicMs() < Math.min(this.#readMs, this.#reportedMs) + leaseMs) return;
    throw new AppError(
      'store_unavailable',
      'users, keys and roles may have changed: the store has not answered for longer than MILLRACE_IDENTITY_LEASE_MS',
    );
  }

  /**
   * Reads, and so renews the lease.
   * @throws what `read` throws, StoreError
   */
  async renew(read: () => Promise<void>): Promise<void> {
    const { timers, leaseMs, position } = this.#options;
    // Other nodes may have given this node up. It must report again before it reads.
    if (timers.monotonicMs() - this.#reportedMs >= leaseMs) await this.#report();
    const startedMs = timers.monotonicMs();
    await read();
    this.#readMs = startedMs;
    const isNews =
      this.#reported === undefined || parts.some((part) => position()[part] !== this.#reported?.[part]);
    if (isNews || timers.monotonicMs() - this.#reportedMs >= leaseMs / 3) await this.#report();
  }

  /**
   * Fulfils when every node knows what this one knows now, or no longer trusts its older copy.
   * @param signal ends the wait
   * @throws AppError `shutting_down` if the wait was ended
   */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const { registry, leaseMs, position, timers } = this.#options;
    const wanted = position();
    const endMs = timers.monotonicMs() + leaseMs * 1.01;
    while (!signal.aborted && timers.monotonicMs() < endMs) {
      try {
        const others = await registry.others(2 * leaseMs + limits.nodeGoneMs);
        if (others.every((each) => parts.every((part) => each[part] >= wanted[part]))) return;
      } catch (error) {
        // While the store is away, the other nodes cannot read either. Their leases end without it.
        if (!(error instanceof StoreError)) throw error;
      }
      await sleep(limits.caughtUpPollMs, signal, timers);
    }
    if (signal.aborted) {
      throw new AppError('shutting_down', 'the change was made, but other nodes may not know of it yet');
    }
  }

  /**
   * Announces that this node stops, so that nobody waits for it. It must let nobody in after this.
   * @throws StoreError
   */
  async leave(): Promise<void> {
    this.#readMs = Number.NEGATIVE_INFINITY;
    await this.#options.registry.report(this.#options.position(), true);
  }

  async #report(): Promise<void> {
    const { registry, position, timers } = this.#options;
    const startedMs = timers.monotonicMs();
    const read = position();
    await registry.report(read, false);
    this.#reportedMs = startedMs;
    this.#reported = read;
  }
}

const parts = ['identities', 'tenants', 'datasets'] as const;

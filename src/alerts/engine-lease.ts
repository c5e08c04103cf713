import { randomUUID } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { MetadataLog } from '../metadata/metadata-log.ts';
import { MetadataReplica } from '../metadata/metadata-replica.ts';
import { defaultTenant } from '../model/dataset.ts';

/** The record in the metadata log. */
interface LeaseValue {
  /** The name of a node; empty after the last holder has given the lease back. */
  readonly node: string;
  /** One life of a process. */
  readonly session: string;
  /** When it was written, by the holder's clock, in milliseconds since 1970. Only for durations of pauses. */
  readonly writtenAtMs: number;
}

export interface EngineLeaseOptions {
  readonly log: MetadataLog;
  /** The name of this node. */
  readonly node: string;
  /** Whether other nodes can hold it. */
  readonly isShared: boolean;
  readonly clock: Clock;
}

/**
 * Lets exactly one node evaluate alerts.
 *
 *     free ── take ──▶ held ── renew ──▶ held ── give back ──▶ free
 *                        └── not renewed for a term ──▶ another node takes it
 *
 * - The lease is one record of the metadata log, and each change of it names the entry that it replaces: of
 *   several nodes that take it at once, one has it.
 * - The holder may work for a term, counted from before it wrote its last entry. Another node takes the lease
 *   when it has seen the same entry for longer than a term, counted from after it read it. So the holder has
 *   stopped before the other one begins, whatever their clocks say: only durations are compared, with a
 *   margin for clocks that run at different speeds.
 * - A node takes back at once what an earlier process of its own held: a data directory has one process.
 * - A write whose outcome is not known renews nothing. The next read tells.
 * - Where no other node can hold it, it does not end. It is still written, more rarely, so that the next
 *   process knows how long nothing was evaluated.
 */
export class EngineLease {
  readonly #options: EngineLeaseOptions;
  readonly #replica: MetadataReplica;
  readonly #session = randomUUID();
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #renewAtMs = Number.NEGATIVE_INFINITY;
  /** The entry that was last read, and since when it has been known. */
  #seen: { readonly version: string; readonly sinceMs: number } | undefined;
  #earlierHolderMs: number | undefined;

  constructor(options: EngineLeaseOptions) {
    this.#options = options;
    this.#replica = new MetadataReplica(options.log, ['lease'], () => {}, 'current');
  }

  /** Whether this node may evaluate now. */
  get isHeld(): boolean {
    return this.#options.clock.monotonicMs() < this.#heldUntilMs;
  }

  /**
   * When the earlier holder last renewed, in milliseconds since 1970: until then alerts were evaluated.
   * Undefined if there was none.
   */
  get earlierHolderMs(): number | undefined {
    return this.#earlierHolderMs;
  }

  /**
   * Takes or renews the lease if it is time for that. To be called about every second.
   * @returns whether this node may evaluate
   * @throws StoreError, AppError `store_unavailable`; what was held before is held until its term ends
   */
  async keep(): Promise<boolean> {
    const { clock, node } = this.#options;
    if (clock.monotonicMs() < this.#renewAtMs && this.isHeld) return true;
    await this.#replica.refresh();
    const record = this.#replica.get(defaultTenant, 'lease', leaseKey);
    const value = record && (JSON.parse(record.value) as LeaseValue);
    const nowMs = clock.monotonicMs();
    if (record !== undefined && record.version !== this.#seen?.version) {
      this.#seen = { version: record.version, sinceMs: nowMs };
    }
    const isOwn = value?.session === this.#session;
    const isFree = value === undefined || value.node === '' || value.node === node || isOwn;
    const endsMs = (this.#seen?.sinceMs ?? nowMs) + limits.alertEngineTermMs * margin;
    if (!isFree && nowMs < endsMs) return this.#lost();
    if (!(await this.#write(this.#options.node))) return this.#lost();
    if (!isOwn) this.#earlierHolderMs = value?.writtenAtMs;
    const { isShared } = this.#options;
    this.#heldUntilMs = isShared ? nowMs + limits.alertEngineTermMs : Number.POSITIVE_INFINITY;
    this.#renewAtMs = nowMs + (isShared ? limits.alertEngineRenewalMs : limits.alertEngineHeartbeatMs);
    return true;
  }

  /**
   * Gives it back, so that another node need not wait. This node must not evaluate after this.
   * @throws StoreError, AppError `store_unavailable`
   */
  async giveBack(): Promise<void> {
    if (!this.isHeld) return;
    this.#lost();
    await this.#write('');
  }

  #lost(): false {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    return false;
  }

  /** @returns false if another node was first */
  #write(node: string): Promise<boolean> {
    const writtenAtMs = Math.floor(this.#options.clock.nowMicros() / 1000);
    const value: LeaseValue = { node, session: this.#session, writtenAtMs };
    const seen = this.#replica.get(defaultTenant, 'lease', leaseKey);
    const key = { tenant: defaultTenant, kind: 'lease', key: leaseKey } as const;
    return this.#replica.change(key, JSON.stringify(value), seen);
  }
}

const leaseKey = 'alerts';
/** For clocks that run at different speeds. */
const margin = 1.05;

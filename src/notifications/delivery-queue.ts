/**
 * The deliveries of this node that are to be tried, and those that are being tried.
 *
 * - What waits is in the records of its alerts (`notification-state.ts`). The queue can be lost with the
 *   process, or refuse for want of room: whoever owns the records offers every waiting delivery again.
 * - A group (an alert at a target) has at most one delivery here that waits, and one that is being tried. A
 *   newer one takes the place of the one that waits; it is tried when the other try is over.
 * - A delivery is tried at its time and once: whether it is tried again, its owner decides by the outcome.
 * - Tenants take turns. The number of tries at the same time is bounded for all tenants, for each, and for
 *   each target. Tries at one target of Slack begin a second apart.
 * - An outcome is told once for each offered delivery that is tried, unless the queue stops before.
 */

import { setMaxListeners } from 'node:events';
import type { Clock, Timers } from '../lib/clock.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { limits } from '../limits/limits.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';
import type { Notification, TargetType } from './notification.ts';
import type { OutgoingNotification } from './senders/sender.ts';

export interface OfferedDelivery {
  readonly tenant: string;
  readonly alertId: string;
  readonly targetId: string;
  readonly targetType: TargetType;
  /** ULID. */
  readonly id: string;
  readonly notification: Notification;
  /** When it may be tried. */
  readonly notBeforeMs: number;
  /**
   * Whether it repeats what was told, and is not recorded: it gives way to any other delivery of its group.
   */
  readonly isRepeat: boolean;
  /** Must not throw. */
  onOutcome(outcome: DeliveryOutcome): void;
}

export interface DeliveryQueueOptions {
  /** Never rejects. */
  readonly send: (
    tenant: string,
    outgoing: OutgoingNotification,
    signal: AbortSignal,
  ) => Promise<DeliveryOutcome>;
  readonly clock: Clock & Timers;
  readonly onTried?: (type: TargetType, outcome: DeliveryOutcome['kind'], seconds: number) => void;
}

interface Group {
  waiting: OfferedDelivery | undefined;
  /** The id of the delivery that is being tried. */
  trying: string | undefined;
  /** Ends the wait for the time of the waiting one. */
  cancelTimer: (() => void) | undefined;
  /** Whether the group is in the queue of those that are ready. */
  isReady: boolean;
}

interface TargetUse {
  running: number;
  /** When the next try may begin, on the monotonic clock. */
  nextMs: number;
}

export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #groups = new Map<string, Group>();
  /** Keys of groups whose delivery can be tried, by tenant. */
  readonly #ready = new FairQueue<string>(limits.maxQueuedDeliveries);
  readonly #runningOf = new Map<string, number>();
  readonly #targets = new Map<string, TargetUse>();
  readonly #stopping = new AbortController();
  readonly #trying = new Set<Promise<void>>();
  #running = 0;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    // Each try listens, some with several requests.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Groups with a delivery that waits or is being tried. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Takes a delivery. One that it has already, by its id, it has once.
   * @returns false if there is no room, or the queue is stopping: offer it again later
   */
  offer(delivery: OfferedDelivery): boolean {
    if (this.#stopping.signal.aborted) return false;
    const key = keyOf(delivery);
    const known = this.#groups.get(key);
    if (known === undefined && this.#groups.size >= limits.maxQueuedDeliveries) return false;
    const group = known ?? { waiting: undefined, trying: undefined, cancelTimer: undefined, isReady: false };
    const { waiting, trying } = group;
    if (delivery.id === trying || delivery.id === waiting?.id) return true;
    // What is recorded says more than a repeat, or as much.
    if (delivery.isRepeat && (trying !== undefined || waiting?.isRepeat === false)) return true;
    this.#groups.set(key, group);
    group.waiting = delivery;
    this.#schedule(key, group);
    return true;
  }

  /** Forgets what waits of an alert, of one that was deleted for instance. A try that runs is completed. */
  forget(tenant: string, alertId: string): void {
    for (const [key, group] of this.#groups) {
      if (group.waiting?.tenant !== tenant || group.waiting.alertId !== alertId) continue;
      group.cancelTimer?.();
      group.cancelTimer = undefined;
      group.waiting = undefined;
      group.isReady = false;
      this.#ready.remove(tenant, key);
      this.#drop(key, group);
    }
  }

  /** Ends the tries that run, without an outcome. What was not delivered waits in its record. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const group of this.#groups.values()) group.cancelTimer?.();
    this.#groups.clear();
    this.#ready.drain();
    await Promise.all(this.#trying);
  }

  /** Lets the waiting delivery of a group be tried at its time, if no other one of the group is. */
  #schedule(key: string, group: Group): void {
    group.cancelTimer?.();
    group.cancelTimer = undefined;
    const { waiting } = group;
    if (waiting === undefined || group.trying !== undefined || group.isReady) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, waiting.notBeforeMs - clock.nowMicros() / 1000, this.#pauseMs(waiting));
    if (waitMs > 0) {
      // An earlier look costs nothing, and a clock that was set back does not hold up for long.
      group.cancelTimer = clock.after(Math.min(Math.ceil(waitMs), limits.maxDeliveryPauseMs), () =>
        this.#schedule(key, group),
      );
      return;
    }
    group.isReady = true;
    if (this.#ready.push(waiting.tenant, key) !== undefined)
      throw new Error('BUG: more deliveries are ready than there are groups');
    this.#tryNext();
  }

  /** How long the target needs a rest. */
  #pauseMs(delivery: OfferedDelivery): number {
    const use = this.#targets.get(targetKeyOf(delivery));
    return use === undefined ? 0 : use.nextMs - this.#options.clock.monotonicMs();
  }

  #tryNext(): void {
    while (this.#running < limits.maxRunningDeliveries) {
      const key = this.#ready.shift(
        (tenant) => (this.#runningOf.get(tenant) ?? 0) < limits.maxRunningDeliveriesOfTenant,
      );
      if (key === undefined) return;
      const group = this.#groups.get(key);
      const waiting = group?.waiting;
      if (group === undefined || waiting === undefined) continue;
      group.isReady = false;
      if (this.#isTargetBusy(waiting)) this.#waitForTarget(key, group);
      else this.#begin(key, group, waiting);
    }
  }

  #isTargetBusy(delivery: OfferedDelivery): boolean {
    const running = this.#targets.get(targetKeyOf(delivery))?.running ?? 0;
    return running >= limits.maxRunningDeliveriesOfTarget || this.#pauseMs(delivery) > 0;
  }

  /** Its turn comes again when the target is free, or after a moment. */
  #waitForTarget(key: string, group: Group): void {
    const pauseMs = group.waiting === undefined ? 0 : this.#pauseMs(group.waiting);
    const waitMs = Math.ceil(Math.max(limits.targetPollMs, pauseMs));
    group.cancelTimer = this.#options.clock.after(waitMs, () => this.#schedule(key, group));
  }

  #begin(key: string, group: Group, delivery: OfferedDelivery): void {
    group.waiting = undefined;
    group.trying = delivery.id;
    const done = this.#try(key, group, delivery);
    this.#trying.add(done);
    void done.finally(() => this.#trying.delete(done));
  }

  async #try(key: string, group: Group, delivery: OfferedDelivery): Promise<void> {
    const { send, clock, onTried } = this.#options;
    const { tenant, id, targetId, targetType, notification } = delivery;
    this.#count(delivery, 1);
    const startMs = clock.monotonicMs();
    const outgoing = { id, targetId, notification, nowMs: clock.nowMicros() / 1000 };
    const outcome = await send(tenant, outgoing, this.#stopping.signal);
    this.#count(delivery, -1);
    group.trying = undefined;
    if (this.#stopping.signal.aborted && outcome.kind !== 'delivered') return;
    onTried?.(targetType, outcome.kind, (clock.monotonicMs() - startMs) / 1000);
    delivery.onOutcome(outcome);
    this.#schedule(key, group);
    this.#drop(key, group);
    this.#tryNext();
  }

  #count(delivery: OfferedDelivery, by: 1 | -1): void {
    this.#running += by;
    const ofTenant = (this.#runningOf.get(delivery.tenant) ?? 0) + by;
    if (ofTenant === 0) this.#runningOf.delete(delivery.tenant);
    else this.#runningOf.set(delivery.tenant, ofTenant);
    const key = targetKeyOf(delivery);
    const use = this.#targets.get(key) ?? { running: 0, nextMs: 0 };
    this.#targets.set(key, use);
    use.running += by;
    const nowMs = this.#options.clock.monotonicMs();
    if (by === 1 && delivery.targetType === 'slack') use.nextMs = nowMs + limits.slackIntervalMs;
    if (use.running === 0 && use.nextMs <= nowMs) this.#targets.delete(key);
    else if (this.#targets.size > limits.maxQueuedDeliveries) this.#forgetRested(nowMs);
  }

  #forgetRested(nowMs: number): void {
    for (const [key, { running, nextMs }] of this.#targets)
      if (running === 0 && nextMs <= nowMs) this.#targets.delete(key);
  }

  #drop(key: string, group: Group): void {
    if (group.waiting === undefined && group.trying === undefined && this.#groups.get(key) === group)
      this.#groups.delete(key);
  }
}

/** No id has a slash. */
const keyOf = ({ tenant, alertId, targetId }: OfferedDelivery): string => `${tenant}/${alertId}/${targetId}`;
const targetKeyOf = ({ tenant, targetId }: OfferedDelivery): string => `${tenant}/${targetId}`;

import type { Clock, Timers } from '../../src/lib/clock.ts';
import type { Random } from '../support/lib/random.ts';

/**
 * Owns time and the order of everything that happens.
 *
 * Everything that waits for an operation or a timer waits here. One step lets one waiter continue, chosen by
 * the seed, and returns when nothing more can happen without another step. So runs with the same seed are the
 * same, and the world can be stopped between any two steps.
 */
export class Scheduler {
  readonly random: Random;
  readonly #ready: Waiter[] = [];
  readonly #timers = new Set<Waiter & { readonly dueMs: number }>();
  #nowMs = 0;

  constructor(random: Random) {
    this.random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** A process, or another party that can stop by itself. */
  process(): SimProcess {
    return new SimProcess(this);
  }

  ready(process: SimProcess, go: () => void): void {
    this.#ready.push({ process, go });
  }

  after(process: SimProcess, ms: number, go: () => void): () => void {
    const timer = { process, go, dueMs: this.#nowMs + ms };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /**
   * Lets one waiter go on: any of those that are ready; if there are none, time passes to the next timer.
   * @returns false if nobody waits
   */
  async step(): Promise<boolean> {
    const next = this.#takeReady() ?? this.#takeTimer();
    if (next === undefined) return false;
    next.go();
    await this.settle();
    return true;
  }

  /** Runs everything that needs no step: it is done by the next turn of the real event loop. */
  async settle(): Promise<void> {
    await new Promise(setImmediate);
  }

  /** No waiter of this process ever continues. */
  drop(process: SimProcess): void {
    const kept = this.#ready.filter((waiter) => waiter.process !== process);
    this.#ready.splice(0, this.#ready.length, ...kept);
    for (const timer of this.#timers) if (timer.process === process) this.#timers.delete(timer);
  }

  #takeReady(): Waiter | undefined {
    const last = this.#ready.length - 1;
    if (last < 0) return undefined;
    const chosen = this.random.integer(0, last);
    const [waiter] = this.#ready.splice(chosen, 1);
    return waiter;
  }

  #takeTimer(): Waiter | undefined {
    let next: (Waiter & { readonly dueMs: number }) | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    if (next === undefined) return undefined;
    this.#timers.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.dueMs);
    return next;
  }
}

interface Waiter {
  readonly process: SimProcess;
  readonly go: () => void;
}

/** The clock and the timers of one process. When it has ended, whoever still waits in it waits for ever. */
export class SimProcess implements Clock, Timers {
  readonly #scheduler: Scheduler;
  #ended = false;
  /** The wall clock jumps; nothing may depend on it. */
  #jumpMicros = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  nowMicros(): number {
    const { random, nowMs } = this.#scheduler;
    if (random.chance(0.01)) this.#jumpMicros = random.integer(-86_400_000_000, 86_400_000_000);
    return 1_700_000_000_000_000 + Math.round(nowMs * 1000) + this.#jumpMicros;
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs;
  }

  turn(): Promise<void> {
    return new Promise((done) => {
      if (!this.#ended) this.#scheduler.ready(this, done);
    });
  }

  after(ms: number, action: () => void): () => void {
    return this.#ended ? () => {} : this.#scheduler.after(this, ms, action);
  }

  random(): number {
    return this.#scheduler.random.integer(0, 999) / 1000;
  }

  wait(ms: number): Promise<void> {
    return new Promise((done) => {
      this.after(ms, done);
    });
  }

  /** Takes as long as an outside operation does: a few turns, sometimes seconds. */
  async delay(): Promise<void> {
    const { random } = this.#scheduler;
    if (random.chance(0.02)) await this.wait(random.integer(1, 5000));
    await this.turns();
  }

  async turns(): Promise<void> {
    for (let left = this.#scheduler.random.integer(1, 2); left > 0; left -= 1) await this.turn();
  }

  end(): void {
    this.#ended = true;
    this.#scheduler.drop(this);
  }
}

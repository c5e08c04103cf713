/** The clock, as an interface so that tests can replace it. */
export interface Clock {
  /** Wall clock, in microseconds since 1970. It may jump. Exact as a double until the year 2255. */
  nowMicros(): number;
  /** Monotonic clock, in milliseconds, for durations. */
  monotonicMs(): number;
}

/** Timers and randomness, as an interface so that a simulation can control each step of a process. */
export interface Timers {
  /** Waits one turn of the event loop, so that other tasks can run. */
  turn(): Promise<void>;
  /**
   * Calls `action` once, after `ms`.
   * @returns cancels the call
   */
  after(ms: number, action: () => void): () => void;
  /** A random number in [0, 1), so that waiting clients do not all wake at once. */
  random(): number;
}

export const systemClock: Clock & Timers = {
  nowMicros: () => Date.now() * 1000,
  monotonicMs: () => performance.now(),
  turn: () => new Promise(setImmediate),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/**
 * When something that happened at a wall-clock time reaches the age `ttlMs`, on the monotonic clock, which
 * does not jump. A time in the future counts as now: the wall clock may have been set back since.
 */
export function expiryMs(clock: Clock, sinceMicros: number, ttlMs: number): number {
  const ageMs = Math.max(0, (clock.nowMicros() - sinceMicros) / 1000);
  return clock.monotonicMs() + ttlMs - ageMs;
}

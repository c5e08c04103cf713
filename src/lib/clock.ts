/** Time, behind an interface so that tests can turn it. */
export interface Clock {
  /** Wall clock, microseconds since 1970; may jump. Fits a double exactly until the year 2255. */
  nowMicros(): number;
  /** Monotonic, milliseconds, for durations. */
  monotonicMs(): number;
}

/** Waiting and chance, behind an interface so that a simulation can own every step of a process. */
export interface Timers {
  /** One turn of the event loop, in which others that are ready get their chance. */
  turn(): Promise<void>;
  /** Calls once, `ms` from now. @returns calls it off */
  after(ms: number, action: () => void): () => void;
  /** A number of [0, 1) by chance, to keep waiters from waking all together. */
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
 * When something of a wall-clock time becomes `ttlMs` old, on the monotonic clock, which does not jump. A time
 * to come counts as now: the wall clock may have been set back since.
 */
export function expiryMs(clock: Clock, sinceMicros: number, ttlMs: number): number {
  const ageMs = Math.max(0, (clock.nowMicros() - sinceMicros) / 1000);
  return clock.monotonicMs() + ttlMs - ageMs;
}

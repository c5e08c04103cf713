/** Time, behind an interface so that tests can turn it. */
export interface Clock {
  /** Wall clock, microseconds since 1970; may jump. Fits a double exactly until the year 2255. */
  nowMicros(): number;
  /** Monotonic, milliseconds, for durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMicros: () => Date.now() * 1000,
  monotonicMs: () => performance.now(),
};

/**
 * When something of a wall-clock time becomes `ttlMs` old, on the monotonic clock, which does not jump. A time
 * to come counts as now: the wall clock may have been set back since.
 */
export function expiryMs(clock: Clock, sinceMicros: number, ttlMs: number): number {
  const ageMs = Math.max(0, (clock.nowMicros() - sinceMicros) / 1000);
  return clock.monotonicMs() + ttlMs - ageMs;
}

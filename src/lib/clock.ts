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

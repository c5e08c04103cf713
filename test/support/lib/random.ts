/** Random numbers that a seed reproduces. */
export interface Random {
  /** An integer in [min, max]. */
  integer(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
}

/** The generator "mulberry32" by Tommy Ettinger (public domain), with 32 bits of state. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    integer: (min, max) => min + Math.floor(fraction() * (max - min + 1)),
    chance: (probability) => fraction() < probability,
  };
}

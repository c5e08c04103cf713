/** Numbers that look random and are the same each time: a linear congruential generator (Knuth's MMIX). */
export class Draws {
  #state: bigint;

  constructor(seed: number) {
    this.#state = BigInt(seed);
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    this.#state = (this.#state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    const fraction = Number(this.#state >> 32n) / 2 ** 32;
    return min + Math.floor(fraction * (max - min + 1));
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.int(0, choices.length - 1)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }

  /** An amount with two digits behind the point. */
  cents(min: number, max: number): number {
    return this.int(min * 100, max * 100) / 100;
  }
}

/** A number that only grows, and those who wait until it has come to theirs. */
export class Milestone {
  readonly #waiting = new Set<{ readonly number: number; readonly done: () => void }>();
  #reached = 0;

  reach(number: number): void {
    this.#reached = Math.max(this.#reached, number);
    for (const waiter of this.#waiting) {
      if (waiter.number > this.#reached) continue;
      this.#waiting.delete(waiter);
      waiter.done();
    }
  }

  /** Fulfils when that number has been reached. */
  async reached(number: number): Promise<void> {
    if (number <= this.#reached) return;
    await new Promise<void>((done) => {
      this.#waiting.add({ number, done });
    });
  }
}

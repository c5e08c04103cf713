/** The highest number that has been reached so far, and those who wait until it is at least theirs. */
export class Watermark {
  readonly #waiting = new Set<{ readonly number: number; readonly done: () => void }>();
  #reached = 0;

  /** Raises it to that number; does nothing if it is as high already. */
  advance(number: number): void {
    this.#reached = Math.max(this.#reached, number);
    for (const waiter of this.#waiting) {
      if (waiter.number > this.#reached) continue;
      this.#waiting.delete(waiter);
      waiter.done();
    }
  }

  /** Fulfils when it has reached that number. */
  async reached(number: number): Promise<void> {
    if (number <= this.#reached) return;
    await new Promise<void>((done) => {
      this.#waiting.add({ number, done });
    });
  }
}

/** Lets a bounded number of tasks run at the same time. The others wait, and begin in the order of asking. */
export class Semaphore {
  readonly #waiting: Array<() => void> = [];
  #permits: number;

  constructor(permits: number) {
    this.#permits = permits;
  }

  /** Runs the task when there is a permit for it. @throws what the task throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#permits > 0) this.#permits -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#permits += 1;
      else next();
    }
  }
}

/** What is to be held did not come to rest in time. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout';
}

/**
 * A readers-writer lock: any number of tasks run shared, or one runs alone. A task that waits to run alone
 * goes before shared ones that come later.
 */
export class SharedLock {
  #running = 0;
  /** Set while a task runs alone, or waits to; fulfils at its end. */
  #alone: Promise<void> | undefined;
  #onNone = () => {};

  /** @throws what the task throws */
  async shared<T>(task: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    this.#running += 1;
    try {
      return await task();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#onNone();
    }
  }

  /**
   * Runs a task alone.
   * @param waitMs how long to wait for the tasks that run
   * @throws LockTimeout, or what the task throws
   */
  async alone<T>(waitMs: number, task: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    let end = () => {};
    this.#alone = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await this.#none(waitMs);
      return await task();
    } finally {
      this.#alone = undefined;
      end();
    }
  }

  async #none(waitMs: number): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new LockTimeout(`${this.#running} tasks still run`)), waitMs);
      this.#onNone = () => {
        clearTimeout(timer);
        resolve();
      };
    }).finally(() => {
      this.#onNone = () => {};
    });
  }
}

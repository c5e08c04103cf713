/** Lets those who wait go on at once: what they wait for has happened, or may have. */
export class Wakeup {
  readonly #waiting = new Set<() => void>();

  /** Calls everybody who is waiting now. */
  wake(): void {
    for (const action of [...this.#waiting]) action();
  }

  /** Calls `action` at each wake, until the returned function is called. */
  onWake(action: () => void): () => void {
    this.#waiting.add(action);
    return () => this.#waiting.delete(action);
  }

  /** Fulfils with the next wake. */
  next(): Promise<void> {
    return new Promise((done) => {
      const end = this.onWake(() => {
        end();
        done();
      });
    });
  }
}

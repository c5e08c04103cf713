/**
 * Tells everybody who waits for something that it has happened, or may have. It keeps nothing for those who
 * come later.
 */
export class Signal {
  readonly #listeners = new Set<() => void>();

  /** Calls everybody who listens now. */
  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls `listener` at each notification, until the returned function is called. */
  onNotify(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Fulfils with the next notification. */
  next(): Promise<void> {
    return new Promise((done) => {
      const end = this.onNotify(() => {
        end();
        done();
      });
    });
  }
}

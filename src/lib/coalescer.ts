interface Waiter<Item> {
  readonly item: Item;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Does in one call what several callers ask for at about the same time. While a call is under way, further
 * items wait and share the next call. A call that fails has failed for all of its items. No item joins a call
 * that has begun, so what a call reads is never older than the request for it. Callers bound how many items
 * wait at once.
 */
export class Coalescer<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  readonly #sizeOf: (item: Item) => number;
  readonly #maxSize: number;
  readonly #waiting: Array<Waiter<Item>> = [];
  #busy = false;

  /** @param maxSize of the items of one call together; a single item may be larger */
  constructor(
    work: (items: readonly Item[]) => Promise<void>,
    sizeOf: (item: Item) => number = () => 0,
    maxSize = 0,
  ) {
    this.#work = work;
    this.#sizeOf = sizeOf;
    this.#maxSize = maxSize;
  }

  /** Fulfils when a call with the item has ended. @throws what the call threw */
  submit(item: Item): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ item, done, failed });
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let group = this.#next(); group.length > 0; group = this.#next()) {
      try {
        await this.#work(group.map(({ item }) => item));
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    this.#busy = false;
  }

  /** In the order of submission. */
  #next(): Array<Waiter<Item>> {
    let size = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      size += this.#sizeOf(item);
      return index > 0 && size > this.#maxSize;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}

interface Waiter<Item> {
  readonly item: Item;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Does in one go what several ask for at about the same time. While a round is under way, those who ask wait, and share
 * the next one; a round that fails has failed for all who are in it. So what a round saw, it saw after it was asked for.
 * Callers bound how many ask at once.
 */
export class Rounds<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  readonly #sizeOf: (item: Item) => number;
  readonly #maxSize: number;
  readonly #waiting: Array<Waiter<Item>> = [];
  #busy = false;

  /** @param maxSize of the items of a round together, or one item of any size */
  constructor(
    work: (items: readonly Item[]) => Promise<void>,
    sizeOf: (item: Item) => number = () => 0,
    maxSize = 0,
  ) {
    this.#work = work;
    this.#sizeOf = sizeOf;
    this.#maxSize = maxSize;
  }

  /** Fulfils when a round with the item has ended. @throws what the round threw */
  join(item: Item): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ item, done, failed });
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let round = this.#next(); round.length > 0; round = this.#next()) {
      try {
        await this.#work(round.map(({ item }) => item));
        for (const { done } of round) done();
      } catch (error) {
        for (const { failed } of round) failed(error);
      }
    }
    this.#busy = false;
  }

  /** In the order of asking. */
  #next(): Array<Waiter<Item>> {
    let size = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      size += this.#sizeOf(item);
      return index > 0 && size > this.#maxSize;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}

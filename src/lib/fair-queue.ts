/**
 * A bounded fair queue. A party (a "flow" in the literature: a tenant, a user) gets its turn
 * whatever the others enqueue.
 *
 * Parties are served in turn, and the items of one party in order, so a new party waits for at most one turn
 * of each other. If items differ in cost, the party with the lowest recent cost is served next instead. When
 * the queue is full, the party with the most items loses its newest one, if the new item's party has fewer. A
 * party that floods the queue so only takes room from itself (max-min fairness).
 */
export class FairQueue<Item> {
  readonly #maxItems: number;
  readonly #costOf: ((party: string) => number) | undefined;
  /** By party, in the order of their turns. No list is empty. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  /** @param costOf the recent cost of a party (`RecentCosts`), if it decides the turn */
  constructor(maxItems: number, costOf?: (party: string) => number) {
    this.#maxItems = maxItems;
    this.#costOf = costOf;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the item that has no room: undefined, the new item itself, or one that was waiting */
  push(party: string, item: Item): Item | undefined {
    const own = this.#waiting.get(party) ?? [];
    const gone = this.#size < this.#maxItems ? undefined : this.giveUp(own.length);
    if (this.#size >= this.#maxItems) return item;
    own.push(item);
    this.#waiting.set(party, own);
    this.#size += 1;
    return gone;
  }

  /** @param mayGo whether the party may be served now; one that may not keeps its turn */
  shift(mayGo: (party: string) => boolean = () => true): Item | undefined {
    const party = this.next(mayGo);
    if (party === undefined) return undefined;
    const items = this.#waiting.get(party) ?? [];
    const item = items.shift();
    this.#waiting.delete(party);
    if (items.length > 0) this.#waiting.set(party, items);
    this.#size -= 1;
    return item;
  }

  /** The party whose turn it is; undefined if no waiting party may be served. */
  next(mayGo: (party: string) => boolean = () => true): string | undefined {
    const costOf = this.#costOf;
    let next: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const party of this.#waiting.keys()) {
      if (!mayGo(party)) continue;
      if (costOf === undefined) return party;
      const cost = costOf(party);
      if (cost >= least) continue;
      next = party;
      least = cost;
    }
    return next;
  }

  /**
   * Puts back items that were taken but not served, in front of the party's others, even if the queue is
   * full.
   */
  putBack(party: string, items: readonly Item[]): void {
    if (items.length === 0) return;
    this.#waiting.set(party, [...items, ...(this.#waiting.get(party) ?? [])]);
    this.#size += items.length;
  }

  /**
   * Takes a batch from the party whose turn it is. If not even its first item fits, it takes nothing and the
   * party keeps its turn.
   * @param fits called for one item after another, in order, until it returns false
   */
  shiftWhile(fits: (item: Item) => boolean): Item[] {
    const party = this.next() ?? '';
    const items = this.#waiting.get(party) ?? [];
    const end = items.findIndex((item) => !fits(item));
    const taken = items.splice(0, end < 0 ? items.length : end);
    if (taken.length === 0) return taken;
    this.#waiting.delete(party);
    if (items.length > 0) this.#waiting.set(party, items);
    this.#size -= taken.length;
    return taken;
  }

  /** Removes an item that need not be served any more. No effect if it is not there. */
  remove(party: string, item: Item): void {
    const items = this.#waiting.get(party) ?? [];
    const index = items.indexOf(item);
    if (index >= 0) this.#removeAt(party, items, index);
  }

  /** Removes and returns all items. */
  drain(): readonly Item[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }

  /** The number of waiting items of a party. */
  countOf(party: string): number {
    return this.#waiting.get(party)?.length ?? 0;
  }

  /**
   * Removes the newest item of the party with the most.
   * @param count the number of items of the party that needs the room: nothing is removed for
   *   one that has as many
   */
  giveUp(count = -1): Item | undefined {
    let most: readonly [party: string, items: Item[]] = ['', []];
    for (const entry of this.#waiting) if (entry[1].length > most[1].length) most = entry;
    const [party, items] = most;
    // With one item less, the other party would have the most.
    if (items.length <= count + 1) return undefined;
    const last = items.at(-1);
    this.#removeAt(party, items, items.length - 1);
    return last;
  }

  #removeAt(party: string, items: Item[], index: number): void {
    items.splice(index, 1);
    if (items.length === 0) this.#waiting.delete(party);
    this.#size -= 1;
  }
}

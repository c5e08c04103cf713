/**
 * A bounded queue in which each party gets its turn, whatever the others put in.
 *
 * Parties are served one after another, what a party has put in is served in its order, and a party that comes waits for
 * one turn of each of the others at most; or, where turns differ in what they cost, the party that has cost least lately is
 * served next. When the queue is full, the party that has most in it gives up what it put in
 * last, if whoever comes has less in it: so a party that floods the queue takes room from itself alone (max-min fairness).
 */
export class FairQueue<Item> {
  readonly #maxItems: number;
  readonly #costOf: ((party: string) => number) | undefined;
  /** By party, in the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  /** @param costOf what a party has cost lately (`RecentCosts`), if that decides whose turn it is */
  constructor(maxItems: number, costOf?: (party: string) => number) {
    this.#maxItems = maxItems;
    this.#costOf = costOf;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns what has no room in the queue: undefined, the item itself, or one that had waited in it */
  push(party: string, item: Item): Item | undefined {
    const own = this.#waiting.get(party) ?? [];
    const gone = this.#size < this.#maxItems ? undefined : this.giveUp(own.length);
    if (this.#size >= this.#maxItems) return item;
    own.push(item);
    this.#waiting.set(party, own);
    this.#size += 1;
    return gone;
  }

  /** @param mayGo whether it is of use to serve this party now; one that may not go keeps its turn */
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

  /** Whose turn it is; undefined if nobody waits who may go. */
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

  /** Puts back what was taken and not served, before all else of the party, whether there is room or not. */
  putBack(party: string, items: readonly Item[]): void {
    if (items.length === 0) return;
    this.#waiting.set(party, [...items, ...(this.#waiting.get(party) ?? [])]);
    this.#size += items.length;
  }

  /**
   * Takes what goes together of the party whose turn it is; nothing if not even its first item fits, and then it keeps its
   * turn.
   * @param fits asked of one item after another, in order, until it says no; what it agrees to is taken
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

  /** Takes out what need not be served any more; nothing happens if it is not there. */
  remove(party: string, item: Item): void {
    const items = this.#waiting.get(party) ?? [];
    const index = items.indexOf(item);
    if (index >= 0) this.#removeAt(party, items, index);
  }

  /** Takes out everything. */
  drain(): readonly Item[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }

  /** How many items of a party wait. */
  countOf(party: string): number {
    return this.#waiting.get(party)?.length ?? 0;
  }

  /**
   * Takes what the party that has most put in last.
   * @param count of items that whoever needs the room has waiting: nothing is given up for one who has as many
   */
  giveUp(count = -1): Item | undefined {
    let most: readonly [party: string, items: Item[]] = ['', []];
    for (const entry of this.#waiting) if (entry[1].length > most[1].length) most = entry;
    const [party, items] = most;
    // With one less, the other would have most.
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

import { FairQueue } from './fair-queue.ts';

/**
 * A bounded queue in which groups get their turns and, within each group, its members: tenants, say, and the identities
 * of each. One member that puts in much takes turns and room from its own group alone, and within that from itself alone
 * (see `FairQueue`).
 */
export class NestedFairQueue<Item> {
  readonly #maxItems: number;
  /** In the order of their turns; none is empty. */
  readonly #groups = new Map<string, FairQueue<Item>>();
  #size = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns what has no room in the queue: undefined, the item itself, or one that had waited in it */
  push(group: string, member: string, item: Item): Item | undefined {
    const own = this.#groups.get(group) ?? new FairQueue<Item>(Number.POSITIVE_INFINITY);
    let gone: Item | undefined;
    if (this.#size >= this.#maxItems) {
      gone = this.#makeRoom(own, member);
      if (gone === undefined) return item;
    }
    own.push(member, item);
    this.#groups.set(group, own);
    this.#size += 1;
    return gone;
  }

  /** @param mayGo whether it is of use to serve this member now; one that may not go keeps its turn, as does its group */
  shift(mayGo: (group: string, member: string) => boolean = () => true): Item | undefined {
    for (const [group, members] of this.#groups) {
      const before = members.size;
      const item = members.shift((member) => mayGo(group, member));
      if (members.size === before) continue;
      this.#groups.delete(group);
      if (members.size > 0) this.#groups.set(group, members);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes out what need not be served any more; nothing happens if it is not there. */
  remove(group: string, member: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members === undefined) return;
    const before = members.size;
    members.remove(member, item);
    this.#size -= before - members.size;
    if (members.size === 0) this.#groups.delete(group);
  }

  /** Takes out everything. */
  drain(): readonly Item[] {
    const all = [...this.#groups.values()].flatMap((members) => members.drain());
    this.#groups.clear();
    this.#size = 0;
    return all;
  }

  /** Takes one of the group that has most; the same within it. Whoever comes must have less, as the group or in it. */
  #makeRoom(own: FairQueue<Item>, member: string): Item | undefined {
    let most: readonly [group: string, members: FairQueue<Item>] = ['', own];
    for (const entry of this.#groups) if (entry[1].size > most[1].size) most = entry;
    const [group, members] = most;
    // With one less, the other would have most.
    const isOther = members !== own && members.size > own.size + 1;
    const gone = isOther ? members.giveUp() : own.giveUp(own.countOf(member));
    if (gone === undefined) return undefined;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
    return gone;
  }
}

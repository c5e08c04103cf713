import { FairQueue } from './fair-queue.ts';

/**
 * A bounded fair queue of groups and their members, for instance tenants and their users. Groups take turns,
 * and within each group its members do. A member that enqueues a lot takes turns and room only from its own
 * group, and within the group only from itself (see `FairQueue`).
 */
export class NestedFairQueue<Item> {
  readonly #maxItems: number;
  /** In the order of their turns. No group is empty. */
  readonly #groups = new Map<string, FairQueue<Item>>();
  #size = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the item that has no room: undefined, the new item itself, or one that was waiting */
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

  /**
   * @param mayGo whether the member may be served now; one that may not keeps its turn, and so does its group
   */
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

  /** Removes an item that need not be served any more. No effect if it is not there. */
  remove(group: string, member: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members === undefined) return;
    const before = members.size;
    members.remove(member, item);
    this.#size -= before - members.size;
    if (members.size === 0) this.#groups.delete(group);
  }

  /** Removes and returns all items. */
  drain(): readonly Item[] {
    const all = [...this.#groups.values()].flatMap((members) => members.drain());
    this.#groups.clear();
    this.#size = 0;
    return all;
  }

  /**
   * Removes an item of the largest group, from its largest member, if the new item's group or member has
   * fewer.
   */
  #makeRoom(own: FairQueue<Item>, member: string): Item | undefined {
    let most: readonly [group: string, members: FairQueue<Item>] = ['', own];
    for (const entry of this.#groups) if (entry[1].size > most[1].size) most = entry;
    const [group, members] = most;
    // With one item less, the other group would be the largest.
    const isOther = members !== own && members.size > own.size + 1;
    const gone = isOther ? members.giveUp() : own.giveUp(own.countOf(member));
    if (gone === undefined) return undefined;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
    return gone;
  }
}

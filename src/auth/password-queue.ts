/** Whose password is to be checked, as far as turns go. */
export interface Attempt {
  /** The network of the client. */
  readonly client: string;
  /** The tenant and the name together. */
  readonly name: string;
}

interface Waiting<Item> {
  readonly attempt: Attempt;
  readonly item: Item;
}

/**
 * A bounded queue of sign-ins in which each client gets its turn, and of each client's each name, whatever the others put in.
 *
 * When it is full, somebody gives up what they put in last, if whoever comes has less in it: the client that has most;
 * or else the name that has most, of a client that has no less than the one that comes. So one client, with however many
 * names, and one name, from however many clients, take room from themselves alone.
 *
 * It is small, and what waits in it takes a core's tens of milliseconds each: so it is looked through, and not indexed.
 */
export class PasswordQueue<Item> {
  readonly #maxItems: number;
  /** By client and by name, each in the order of their turns; none is empty. */
  readonly #clients = new Map<string, Map<string, Array<Waiting<Item>>>>();
  #size = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns what has no room: undefined, the item itself, or one that had waited */
  push(attempt: Attempt, item: Item): Item | undefined {
    const gone = this.#size < this.#maxItems ? undefined : this.#makeRoom(attempt);
    if (this.#size >= this.#maxItems) return item;
    const names = this.#clients.get(attempt.client) ?? new Map<string, Array<Waiting<Item>>>();
    const items = names.get(attempt.name) ?? [];
    items.push({ attempt, item });
    names.set(attempt.name, items);
    this.#clients.set(attempt.client, names);
    this.#size += 1;
    return gone;
  }

  shift(): Item | undefined {
    for (const [client, names] of this.#clients) {
      for (const [name, items] of names) {
        const first = items.shift();
        this.#size -= 1;
        // Both go behind the others.
        names.delete(name);
        if (items.length > 0) names.set(name, items);
        this.#clients.delete(client);
        if (names.size > 0) this.#clients.set(client, names);
        return first?.item;
      }
    }
    return undefined;
  }

  /** Takes out all of a client. */
  take(client: string): ReadonlyArray<Waiting<Item>> {
    const all = [...(this.#clients.get(client)?.values() ?? [])].flat();
    this.#clients.delete(client);
    this.#size -= all.length;
    return all;
  }

  #makeRoom({ client, name }: Attempt): Item | undefined {
    const byClient = new Map<string, number>();
    const byName = new Map<string, number>();
    const all = [...this.#clients.values()].flatMap((names) => [...names.values()].flat());
    for (const { attempt } of all) {
      byClient.set(attempt.client, (byClient.get(attempt.client) ?? 0) + 1);
      byName.set(attempt.name, (byName.get(attempt.name) ?? 0) + 1);
    }
    const own = byClient.get(client) ?? 0;
    const largest = largestOf(byClient);
    // With one less, the other would have most.
    if (largest.count > own + 1) {
      return this.#removeLast(largest.key, largestNameOf(this.#clients.get(largest.key)));
    }
    const contested = largestOf(byName);
    if (contested.count <= (byName.get(name) ?? 0) + 1) return undefined;
    const holders = [...byClient.keys()].filter(
      (each) => (byClient.get(each) ?? 0) >= own && this.#clients.get(each)?.has(contested.key) === true,
    );
    const count = (each: string) => this.#clients.get(each)?.get(contested.key)?.length ?? 0;
    const [holder] = holders.sort((a, b) => count(b) - count(a));
    return holder === undefined ? undefined : this.#removeLast(holder, contested.key);
  }

  #removeLast(client: string, name: string): Item | undefined {
    const names = this.#clients.get(client);
    const items = names?.get(name);
    const last = items?.pop();
    if (last !== undefined) this.#size -= 1;
    if (items?.length === 0) names?.delete(name);
    if (names?.size === 0) this.#clients.delete(client);
    return last?.item;
  }
}

function largestOf(counts: ReadonlyMap<string, number>): { readonly key: string; readonly count: number } {
  let largest = { key: '', count: 0 };
  for (const [key, count] of counts) if (count > largest.count) largest = { key, count };
  return largest;
}

const largestNameOf = (names: ReadonlyMap<string, readonly unknown[]> | undefined): string =>
  largestOf(new Map([...(names ?? [])].map(([name, items]) => [name, items.length]))).key;

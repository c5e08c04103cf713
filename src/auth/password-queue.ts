import { Multiset } from '../lib/multiset.ts';

/** The fields of a sign-in that decide its turn. */
export interface Attempt {
  /** The network of the client. */
  readonly client: string;
  /** The tenant and the user name together. */
  readonly name: string;
}

interface Waiting<Item> {
  readonly attempt: Attempt;
  readonly item: Item;
}

/**
 * A bounded queue of sign-ins. Many sign-ins from one client, or for one name, are an attack. The weight of a
 * sign-in is therefore the number of others that wait from the same client and for the same name.
 *
 * Two rules alternate: the lightest sign-in goes next, so that nobody waits behind a flood, and the oldest
 * one, so that none waits for ever. When the queue is full, the newest of the heaviest sign-ins is refused if
 * the new one is lighter: a flood only takes room from itself.
 *
 * The queue is short and each item takes tens of milliseconds of CPU, so it is scanned and not indexed.
 */
export class PasswordQueue<Item> {
  readonly #maxItems: number;
  /** In order of arrival. */
  #waiting: ReadonlyArray<Waiting<Item>> = [];
  #tookLightest = false;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @returns what has no room: undefined, the item itself, or one that was waiting */
  push(attempt: Attempt, item: Item): Item | undefined {
    const all = [...this.#waiting, { attempt, item }];
    // Of the heaviest, the newest is refused.
    const gone = all.length <= this.#maxItems ? undefined : heaviest(all.toReversed());
    this.#waiting = all.filter((each) => each !== gone);
    return gone?.item;
  }

  shift(): Item | undefined {
    this.#tookLightest = !this.#tookLightest;
    const next = this.#tookLightest ? lightest(this.#waiting) : this.#waiting[0];
    this.#waiting = this.#waiting.filter((each) => each !== next);
    return next?.item;
  }

  /** Removes and returns all items of a client. */
  take(client: string): ReadonlyArray<Waiting<Item>> {
    const all = this.#waiting.filter(({ attempt }) => attempt.client === client);
    this.#waiting = this.#waiting.filter(({ attempt }) => attempt.client !== client);
    return all;
  }
}

/** The oldest of the lightest items. */
const lightest = <Item>(waiting: ReadonlyArray<Waiting<Item>>): Waiting<Item> | undefined =>
  extreme(waiting, (weight, least) => weight < least);

const heaviest = <Item>(waiting: ReadonlyArray<Waiting<Item>>): Waiting<Item> | undefined =>
  extreme(waiting, (weight, most) => weight > most);

function extreme<Item>(
  waiting: ReadonlyArray<Waiting<Item>>,
  isBeyond: (weight: number, found: number) => boolean,
): Waiting<Item> | undefined {
  const clients = new Multiset();
  const names = new Multiset();
  for (const { attempt } of waiting) {
    clients.add(attempt.client);
    names.add(attempt.name);
  }
  let [found] = waiting;
  const weightOf = ({ attempt }: Waiting<Item>) => clients.get(attempt.client) + names.get(attempt.name);
  for (const each of waiting) {
    if (found !== undefined && isBeyond(weightOf(each), weightOf(found))) found = each;
  }
  return found;
}

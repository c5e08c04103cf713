import { Multiset } from '../lib/multiset.ts';

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
 * A bounded queue of sign-ins that are an attack alone if there are many of them: of one client, with however
 * many names, or for one name, from however many clients. So how much else waits of the same client and for
 * the same name is the weight of a sign-in. By turns the lightest goes next, so that nobody waits behind a
 * flood, and the one that has waited longest, so that none waits for ever. When the queue is full the
 * heaviest gives way, the latest of them, if whoever comes is lighter: a flood takes room from itself alone.
 *
 * It is small, and what waits in it takes a core tens of milliseconds each: so it is looked through, and not
 * indexed.
 */
export class PasswordQueue<Item> {
  readonly #maxItems: number;
  /** In the order in which they came. */
  #waiting: ReadonlyArray<Waiting<Item>> = [];
  #tookLightest = false;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @returns what has no room: undefined, the item itself, or one that had waited */
  push(attempt: Attempt, item: Item): Item | undefined {
    const all = [...this.#waiting, { attempt, item }];
    // What came last is first among those that give way.
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

  /** Takes out all of a client. */
  take(client: string): ReadonlyArray<Waiting<Item>> {
    const all = this.#waiting.filter(({ attempt }) => attempt.client === client);
    this.#waiting = this.#waiting.filter(({ attempt }) => attempt.client !== client);
    return all;
  }
}

/** The first of those that no other is lighter than. */
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

/** Generated names for what a relation reads: the same thing twice is read once. */
export class Reads<Target> {
  readonly byName = new Map<string, Target>();
  readonly uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  name(key: string, target: Target): string {
    const name = this.#names.get(key) ?? `${this.#prefix}${this.byName.size + 1}`;
    this.#names.set(key, name);
    this.byName.set(name, target);
    this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
    return name;
  }
}

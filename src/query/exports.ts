import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';

/**
 * Counts the exports that are under way, since they run for as long as their clients read. They never take
 * all connections to the store, and one user or key has one at a time. What is beyond is refused and does not
 * wait: an export may take an hour.
 */
export class Exports {
  readonly #users = new Map<string, number>();
  #running = 0;

  /**
   * @param user of which tenant, and who
   * @returns to be called once, when the export has ended
   * @throws AppError `overloaded`
   */
  begin(user: string): () => void {
    const own = this.#users.get(user) ?? 0;
    if (own >= limits.maxExportsPerUser) {
      throw new AppError(
        'overloaded',
        `${own} of your exports is under way; at most ${limits.maxExportsPerUser} is allowed`,
      );
    }
    if (this.#running >= limits.maxExports) {
      throw new AppError(
        'overloaded',
        `${this.#running} exports are under way; at most ${limits.maxExports} are allowed`,
      );
    }
    this.#running += 1;
    this.#users.set(user, own + 1);
    return () => {
      this.#running -= 1;
      const left = (this.#users.get(user) ?? 1) - 1;
      if (left > 0) this.#users.set(user, left);
      else this.#users.delete(user);
    };
  }
}

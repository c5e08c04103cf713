import type { Caller } from '../access/gate.ts';
import { type DocumentBody, ownerKey, ownerOf } from '../documents/document.ts';
import type { DocumentStore } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';

/** The ids of the dashboards, in the order in which they were marked. */
interface FavoritesBody extends DocumentBody {
  readonly dashboards: readonly string[];
}

/**
 * The dashboards that each person has marked: one document for each person who has marked any. Ids of
 * dashboards that were deleted are left out, and go with the next change.
 */
export class Favorites {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /** @throws AppError `store_unavailable` */
  of({ principal, tenant }: Caller): ReadonlySet<string> {
    const document = this.#documents.get(tenant, 'favorites', ownerKey(ownerOf(principal)));
    return new Set((document?.body as FavoritesBody | undefined)?.dashboards);
  }

  /**
   * Marks a dashboard for the caller alone, or takes the mark back.
   * @throws AppError as changes of documents do
   */
  async set(caller: Caller, dashboard: string, isFavorite: boolean): Promise<void> {
    if (this.of(caller).has(dashboard) === isFavorite) return;
    const { principal, tenant } = caller;
    const key = ownerKey(ownerOf(principal));
    const exists = (id: string) => this.#documents.get(tenant, 'dashboard', id) !== undefined;
    const changed = (before: readonly string[]): FavoritesBody => {
      const others = before.filter((id) => id !== dashboard && exists(id));
      return { dashboards: isFavorite ? [...others, dashboard] : others };
    };
    const make = () => this.#documents.create(caller, 'favorites', () => changed([]), key);
    if (this.#documents.get(tenant, 'favorites', key) === undefined) {
      try {
        await make();
        return;
      } catch (error) {
        // Made at the same time by another request of the same person.
        if (!(error instanceof AppError) || error.code !== 'document_changed') throw error;
      }
    }
    await this.#documents.update(caller, 'favorites', key, ({ body }) =>
      changed((body as FavoritesBody).dashboards),
    );
  }
}

import type { Caller } from '../access/gate.ts';
import type { DocumentBody, StoredDocument } from '../documents/document.ts';
import { type DocumentStore, noDocument } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';
import {
  type Dashboard,
  type DashboardBody,
  type DashboardContent,
  dashboardBody,
  type Tile,
  withTile,
} from './dashboard.ts';
import type { Favorites } from './favorites.ts';
import { isVisible, requireVisible, requireVisibleOwner } from './visibility.ts';

const kind = 'dashboard';

/** What is changed of a dashboard without sending all of it. */
export interface DashboardChange {
  readonly title?: string;
  readonly tags?: readonly string[];
}

/** A dashboard, and whether the caller has marked it. */
export interface SeenDashboard {
  readonly dashboard: Dashboard;
  readonly isFavorite: boolean;
}

export interface DashboardQuestion {
  /** Those with one of these tags; undefined: all. */
  readonly tags?: readonly string[] | undefined;
  readonly limit?: number | undefined;
}

/**
 * Dashboards, for callers who may read or write them. The queries of their tiles run as who looks at them, so
 * what a dashboard shows of a dataset is for its viewer's privileges.
 *
 * Titles are unique among the dashboards that a caller sees, as far as this node knows.
 */
export class Dashboards {
  readonly #documents: DocumentStore;
  readonly #favorites: Favorites;

  constructor(documents: DocumentStore, favorites: Favorites) {
    this.#documents = documents;
    this.#favorites = favorites;
  }

  /** Those that the caller may see, the last change first. */
  list(caller: Caller, { tags, limit }: DashboardQuestion = {}): readonly SeenDashboard[] {
    const favorites = this.#favorites.of(caller);
    return this.#visible(caller)
      .filter(({ body }) => tags === undefined || body.tags?.some((tag) => tags.includes(tag)) === true)
      .sort((a, b) => (a.modified === b.modified ? (a.id < b.id ? 1 : -1) : a.modified < b.modified ? 1 : -1))
      .slice(0, limit)
      .map((dashboard) => ({ dashboard, isFavorite: favorites.has(dashboard.id) }));
  }

  /** The tags of all dashboards that the caller may see, sorted. */
  tags(caller: Caller): readonly string[] {
    return [...new Set(this.#visible(caller).flatMap(({ body }) => body.tags ?? []))].sort();
  }

  /** @throws AppError `not_found` */
  get(caller: Caller, id: string): SeenDashboard {
    const document = this.#documents.get(caller.tenant, kind, id);
    if (document === undefined) throw noDocument(kind);
    requireVisible(caller, kind, document);
    return this.#seen(caller, document);
  }

  /**
   * The last revisions that the caller may see, the newest first.
   * @throws AppError `not_found`, `store_unavailable`
   */
  async revisions(caller: Caller, id: string): Promise<readonly Dashboard[]> {
    this.get(caller, id);
    const revisions = await this.#documents.revisions(caller.tenant, kind, id);
    return revisions.filter((revision) => isVisible(caller, revision)).map(own);
  }

  /** @throws AppError `bad_request` if the title is taken, and as `DocumentStore.create` */
  async create(caller: Caller, content: DashboardContent): Promise<SeenDashboard> {
    const body = dashboardBody(content);
    const made = await this.#documents.create(caller, kind, () => {
      this.#requireTitle(caller, body.title, undefined);
      return body;
    });
    if (content.isFavorite === true) await this.#favorites.set(caller, made.id, true);
    return this.#seen(caller, made);
  }

  /**
   * Replaces all of a dashboard.
   * @throws AppError `not_found`, `forbidden`, `revision_changed`, `bad_request` if the title is taken, and
   *   as `DocumentStore.update`
   */
  async replace(
    caller: Caller,
    id: string,
    content: DashboardContent,
    allowed?: readonly number[],
  ): Promise<SeenDashboard> {
    const seen = await this.#update(caller, id, (body) => dashboardBody(content, body), allowed);
    if (content.isFavorite == null || content.isFavorite === seen.isFavorite) return seen;
    await this.#favorites.set(caller, id, content.isFavorite);
    return this.#seen(caller, seen.dashboard);
  }

  /** @throws AppError as `replace` */
  change(
    caller: Caller,
    id: string,
    { title, tags }: DashboardChange,
    allowed?: readonly number[],
  ): Promise<SeenDashboard> {
    const changed = (body: DashboardBody): DashboardBody => ({
      ...body,
      ...(title === undefined ? {} : { title }),
      ...(tags === undefined ? {} : { tags: [...new Set(tags)] }),
    });
    return this.#update(caller, id, changed, allowed);
  }

  /** @throws AppError as `replace` */
  addTile(caller: Caller, id: string, tile: Tile, allowed?: readonly number[]): Promise<SeenDashboard> {
    return this.#update(caller, id, (body) => withTile(body, tile), allowed);
  }

  /**
   * Marks a dashboard for the caller alone, or takes the mark back.
   * @throws AppError `not_found`, and as changes of documents do
   */
  async setFavorite(caller: Caller, id: string, isFavorite: boolean): Promise<SeenDashboard> {
    const { dashboard } = this.get(caller, id);
    await this.#favorites.set(caller, id, isFavorite);
    return this.#seen(caller, dashboard);
  }

  /** @throws AppError `not_found`, `forbidden`, `revision_changed`, and as `DocumentStore.delete` */
  async delete(caller: Caller, id: string, allowed?: readonly number[]): Promise<Dashboard> {
    const check = (document: StoredDocument) => requireVisibleOwner(caller, kind, document);
    return own(await this.#documents.delete(caller, kind, id, allowed, check));
  }

  async #update(
    caller: Caller,
    id: string,
    change: (body: DashboardBody) => DashboardBody,
    allowed: readonly number[] | undefined,
  ): Promise<SeenDashboard> {
    const updated = await this.#documents.update(
      caller,
      kind,
      id,
      (document) => {
        requireVisibleOwner(caller, kind, document);
        const { body } = own(document);
        const next = change(body);
        if (next.title !== body.title) this.#requireTitle(caller, next.title, id);
        return next;
      },
      allowed,
    );
    return this.#seen(caller, updated);
  }

  #visible(caller: Caller): Dashboard[] {
    return this.#documents
      .list(caller.tenant, kind)
      .filter((document) => isVisible(caller, document))
      .map(own);
  }

  #seen(caller: Caller, document: StoredDocument): SeenDashboard {
    return { dashboard: own(document), isFavorite: this.#favorites.of(caller).has(document.id) };
  }

  /** @throws AppError `bad_request` */
  #requireTitle(caller: Caller, title: string, id: string | undefined): void {
    if (!this.#visible(caller).some((other) => other.id !== id && other.body.title === title)) return;
    throw new AppError('bad_request', `there is a dashboard with the title ${JSON.stringify(title)} already`);
  }
}

/** Only this class writes documents of this kind. */
const own = (document: StoredDocument<DocumentBody>): Dashboard => document as Dashboard;

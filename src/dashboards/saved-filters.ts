import type { Caller } from '../access/gate.ts';
import { decide } from '../auth/policy.ts';
import type { DocumentBody, StoredDocument } from '../documents/document.ts';
import { type DocumentStore, noDocument } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { checkDatasetName } from '../model/dataset.ts';
import type { Action } from '../model/identity.ts';
import type { Query } from '../query/request.ts';
import { type FilterContent, filterBody, type SavedFilter } from './saved-filter.ts';
import { isVisible, requireVisible, requireVisibleOwner } from './visibility.ts';

const kind = 'filter';

/**
 * Saved filters, for callers who may read or write them. A filter is seen by those who may query all of its
 * datasets: those that its SQL reads, and for other filters the one that they name.
 */
export class SavedFilters {
  readonly #documents: DocumentStore;
  readonly #query: Pick<Query, 'explain'>;

  constructor(documents: DocumentStore, query: Pick<Query, 'explain'>) {
    this.#documents = documents;
    this.#query = query;
  }

  /** Those that the caller may see, the oldest first. */
  list(caller: Caller): readonly SavedFilter[] {
    return this.#documents
      .list(caller.tenant, kind)
      .map(own)
      .filter((filter) => this.#isSeen(caller, filter))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @throws AppError `not_found`, `forbidden` without a privilege on each dataset of the filter */
  get(caller: Caller, id: string): SavedFilter {
    const document = this.#documents.get(caller.tenant, kind, id);
    if (document === undefined) throw noDocument(kind);
    requireVisible(caller, kind, document);
    const filter = own(document);
    requireEach(caller, 'query', filter.body.datasets);
    return filter;
  }

  /**
   * The last revisions that the caller may see, the newest first.
   * @throws AppError `not_found`, `forbidden`, `store_unavailable`
   */
  async revisions(caller: Caller, id: string): Promise<readonly SavedFilter[]> {
    this.get(caller, id);
    const revisions = await this.#documents.revisions(caller.tenant, kind, id);
    return revisions.map(own).filter((revision) => this.#isSeen(caller, revision));
  }

  /**
   * @param signal aborted when the client goes away
   * @throws AppError `bad_dataset_name`, `bad_request`, `forbidden` without a privilege on each dataset,
   *   errors of the SQL, and as `DocumentStore.create`
   */
  async create(caller: Caller, content: FilterContent, signal: CancelSignal): Promise<SavedFilter> {
    const datasets = await this.#datasets(caller, content, signal);
    return own(await this.#documents.create(caller, kind, filterBody(content, datasets)));
  }

  /** The owner stays the same. @throws AppError as `create`, `not_found`, `revision_changed` */
  async replace(
    caller: Caller,
    id: string,
    content: FilterContent,
    signal: CancelSignal,
    allowed?: readonly number[],
  ): Promise<SavedFilter> {
    const current = this.#documents.get(caller.tenant, kind, id);
    if (current === undefined) throw noDocument(kind);
    requireVisibleOwner(caller, kind, current);
    const datasets = await this.#datasets(caller, content, signal);
    const change = (document: StoredDocument) => {
      requireVisibleOwner(caller, kind, document);
      return filterBody(content, datasets, own(document).body);
    };
    return own(await this.#documents.update(caller, kind, id, change, allowed));
  }

  /** @throws AppError `not_found`, `forbidden`, `revision_changed`, and as `DocumentStore.delete` */
  async delete(caller: Caller, id: string, allowed?: readonly number[]): Promise<SavedFilter> {
    const check = (document: StoredDocument) => requireVisibleOwner(caller, kind, document);
    return own(await this.#documents.delete(caller, kind, id, allowed, check));
  }

  #isSeen(caller: Caller, filter: SavedFilter): boolean {
    const mayQuery = (dataset: string) => decide(caller.principal, 'query', dataset);
    return isVisible(caller, filter) && filter.body.datasets.every(mayQuery);
  }

  async #datasets(
    caller: Caller,
    { stream_name, query: { filter_type, filter_query } }: FilterContent,
    signal: CancelSignal,
  ): Promise<readonly string[]> {
    const named = checkDatasetName(stream_name);
    if (filter_type !== 'sql') {
      requireEach(caller, 'filter.write', [named]);
      return [named];
    }
    if (filter_query == null || filter_query.trim() === '') {
      throw new AppError('bad_request', 'query.filter_query must be SQL where query.filter_type is "sql"');
    }
    const { principal, tenant } = caller;
    const { datasets } = await this.#query.explain({ principal, tenant, sql: filter_query, signal });
    requireEach(caller, 'filter.write', datasets);
    return datasets;
  }
}

/** @throws AppError `forbidden` */
function requireEach({ principal }: Caller, action: Action, datasets: readonly string[]): void {
  const refused = datasets.find((dataset) => !decide(principal, action, dataset));
  if (refused === undefined) return;
  throw new AppError('forbidden', `this needs a privilege for ${action} on dataset ${quotedName(refused)}`);
}

/** Only this class writes documents of this kind. */
const own = (document: StoredDocument<DocumentBody>): SavedFilter => document as SavedFilter;

import type { Caller } from '../access/gate.ts';
import type { HasEnded, TenantHolder } from '../catalog/tenant-cleaner.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import type { Metrics } from '../lib/metrics.ts';
import { ulid } from '../lib/ulid.ts';
import { limits } from '../limits/limits.ts';
import type { MetadataKey, MetadataLog } from '../metadata/metadata-log.ts';
import { type MetadataListener, MetadataReplica } from '../metadata/metadata-replica.ts';
import {
  type DocumentBody,
  type DocumentKind,
  documentKinds,
  ownerOf,
  type StoredDocument,
} from './document.ts';

/** Told of each document that was made, changed or deleted, on this node or another one. */
export type DocumentListener = (tenant: string, kind: DocumentKind, id: string) => void;

export interface DocumentStoreOptions {
  readonly log: MetadataLog;
  readonly hasEnded: (tenant: string) => boolean;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'documents' | 'documentChanges'>;
}

/** The documents of one tenant. */
interface TenantDocuments {
  readonly byKind: ReadonlyMap<DocumentKind, Map<string, Held>>;
  /** Characters of all of them. */
  length: number;
}

interface Held {
  readonly document: StoredDocument;
  readonly length: number;
}

/**
 * Dashboards, filters, alerts, targets and silences as this node knows them. All are in memory and follow the
 * metadata log, where each document is one record, with the tenant and the document's id as its key.
 *
 * - A change names the entry that it replaces, so of two changes at the same time one takes effect. The other
 *   one is made again on the new revision, unless its caller named the revision that it must replace.
 * - A revision is one more than that of the entry it replaces: no two entries in force have the same one.
 * - A document that ended never comes back: its id is not given again.
 * - What another node changes is known here after `metadataPollIntervalMs`; what this node changes, as soon
 *   as the call returns. A crash leaves a change that is in the log, or none.
 * - Changes on this node run one at a time, so what a change checks (numbers, names) holds while it is
 *   written. On another node one may run at the same time: bounds on numbers can be exceeded by as many as
 *   there are nodes.
 */
export class DocumentStore implements TenantHolder {
  readonly #options: DocumentStoreOptions;
  readonly #replica: MetadataReplica;
  readonly #tenants = new Map<string, TenantDocuments>();
  readonly #listeners = new Set<DocumentListener>();
  readonly #changes = new FairExecutor(
    limits.maxPendingChanges,
    'too many changes are being made at the moment',
    limits.maxChangeWaitMs,
  );

  constructor(options: DocumentStoreOptions) {
    this.#options = options;
    const apply: MetadataListener = (key, value) => this.#apply(key, value);
    this.#replica = new MetadataReplica(options.log, documentKinds, apply, 'current');
  }

  get loaded(): boolean {
    return this.#replica.loaded;
  }

  /**
   * Reads the changes since the last call. The tables of the metadata log must exist.
   * @throws StoreError
   */
  refresh(): Promise<void> {
    return this.#replica.refresh();
  }

  /** @returns a function that ends it */
  onChange(listener: DocumentListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws AppError `store_unavailable` before the log was read */
  get(tenant: string, kind: DocumentKind, id: string): StoredDocument | undefined {
    this.#requireLoaded();
    return this.#tenants.get(tenant)?.byKind.get(kind)?.get(id)?.document;
  }

  /**
   * All documents of a kind, in the order in which this node read of them.
   * @throws AppError `store_unavailable` before the log was read
   */
  list(tenant: string, kind: DocumentKind): readonly StoredDocument[] {
    this.#requireLoaded();
    return [...(this.#tenants.get(tenant)?.byKind.get(kind)?.values() ?? [])].map(({ document }) => document);
  }

  /**
   * The last revisions of a document, the newest first. They are read from the store.
   * @throws AppError `store_unavailable`
   */
  async revisions(tenant: string, kind: DocumentKind, id: string): Promise<readonly StoredDocument[]> {
    this.#requireLoaded();
    const values = await this.#replica.history({ tenant, kind, key: id }, limits.maxRevisions);
    return values.map((value) => JSON.parse(value) as StoredDocument);
  }

  /** Tenants that have documents of a kind. @throws AppError `store_unavailable` before the log was read */
  tenantsWith(kind: DocumentKind): readonly string[] {
    this.#requireLoaded();
    return [...this.#tenants].flatMap(([tenant, { byKind }]) =>
      (byKind.get(kind)?.size ?? 0) > 0 ? [tenant] : [],
    );
  }

  /**
   * Makes a document; the caller owns it.
   * @param make the body; called once all earlier changes are known, so what it checks is current. What it
   *   throws ends the call
   * @param id a new ULID unless given
   * @throws AppError `bad_request` if it is nested too deep, `document_too_large`, `too_many_documents`,
   *   `document_changed` if the id is taken, `store_unavailable`, `overloaded`
   */
  async create(
    { principal, tenant }: Caller,
    kind: DocumentKind,
    make: DocumentBody | (() => DocumentBody),
    id = ulid(this.#nowMs()),
  ): Promise<StoredDocument> {
    return this.#exclusively(tenant, async () => {
      const body = typeof make === 'function' ? make() : make;
      const now = this.#now();
      const owner = ownerOf(principal);
      const made = { id, owner, revision: 1, created: now, modified: now, modifiedBy: owner, body };
      const key = { tenant, kind, key: id };
      if (this.#replica.get(tenant, kind, id) === undefined && (await this.#write(key, made))) return made;
      throw new AppError('document_changed', `somebody else made this ${kind} at the same time`);
    });
  }

  /**
   * Replaces the body of a document.
   * @param allowed the revisions that may be replaced; undefined: any
   * @throws AppError `not_found`, `revision_changed`, and as `update`
   */
  replace(
    caller: Caller,
    kind: DocumentKind,
    id: string,
    body: DocumentBody,
    allowed?: readonly number[],
  ): Promise<StoredDocument> {
    return this.update(caller, kind, id, () => body, allowed);
  }

  /**
   * Changes a document by what it is now.
   * @param change makes the new body; called again if another node was first. What it throws ends the call.
   *   If it returns the body that it was given, nothing is written
   * @param allowed the revisions that may be replaced; undefined: any
   * @throws AppError `not_found`, `revision_changed`, `bad_request`, `document_too_large`,
   *   `too_many_documents`, `document_changed`, `store_unavailable`, `overloaded`
   */
  async update(
    caller: Caller,
    kind: DocumentKind,
    id: string,
    change: (document: StoredDocument) => DocumentBody,
    allowed?: readonly number[],
  ): Promise<StoredDocument> {
    const { principal, tenant } = caller;
    return this.#attempts(tenant, kind, id, allowed, async (current, key) => {
      const body = change(current);
      if (body === current.body) return current;
      const { owner, created } = current;
      const revision = current.revision + 1;
      const modifiedBy = ownerOf(principal);
      const next = { id, owner, revision, created, modified: this.#now(), modifiedBy, body };
      return (await this.#write(key, next)) ? next : undefined;
    });
  }

  /**
   * Deletes a document.
   * @param check called with what is deleted; what it throws ends the call
   * @param allowed the revisions that may be deleted; undefined: any
   * @returns what was deleted
   * @throws AppError `not_found`, `revision_changed`, `document_changed`, `store_unavailable`, `overloaded`
   */
  async delete(
    { tenant }: Caller,
    kind: DocumentKind,
    id: string,
    allowed?: readonly number[],
    check: (document: StoredDocument) => void = () => {},
  ): Promise<StoredDocument> {
    return this.#attempts(tenant, kind, id, allowed, async (current, key) => {
      check(current);
      return (await this.#write(key, undefined)) ? current : undefined;
    });
  }

  /** Drops the documents of deleted tenants. */
  forgetEnded(hasEnded: HasEnded): void {
    for (const [tenant, { byKind }] of this.#tenants) {
      if (!hasEnded(tenant)) continue;
      this.#tenants.delete(tenant);
      for (const [kind, documents] of byKind) {
        this.#options.metrics.documents.dec({ kind }, documents.size);
        for (const id of documents.keys()) this.#tell(tenant, kind, id);
      }
    }
    this.#replica.forget(hasEnded);
  }

  /** Tries until the change takes effect. @param attempt returns undefined if another node was first */
  #attempts(
    tenant: string,
    kind: DocumentKind,
    id: string,
    allowed: readonly number[] | undefined,
    attempt: (current: StoredDocument, key: MetadataKey) => Promise<StoredDocument | undefined>,
  ): Promise<StoredDocument> {
    return this.#exclusively(tenant, async () => {
      for (let count = 0; count < limits.maxDocumentAttempts; count += 1) {
        const current = this.get(tenant, kind, id);
        if (current === undefined) throw noDocument(kind);
        if (allowed?.includes(current.revision) === false) throw changed(kind, current);
        const done = await attempt(current, { tenant, kind, key: id });
        if (done !== undefined) return done;
      }
      throw new AppError('document_changed', `others keep changing this ${kind}`);
    });
  }

  /** After all that is in the log, and alone on this node. */
  #exclusively<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.#requireLoaded();
    return this.#changes.run(tenant, async () => {
      await this.#replica.catchUp();
      return work();
    });
  }

  /** @returns false if another node was first */
  async #write(key: MetadataKey, document: StoredDocument | undefined): Promise<boolean> {
    const seen = this.#replica.get(key.tenant, key.kind, key.key);
    if (document !== undefined) requireDepth(document.body, key.kind);
    const value = document === undefined ? undefined : JSON.stringify(document);
    if (value !== undefined) this.#requireRoom(key, value.length, seen?.value.length);
    const isMade = await this.#replica.change(key, value, seen);
    this.#options.metrics.documentChanges.inc({ kind: key.kind, outcome: isMade ? 'made' : 'repeated' });
    return isMade;
  }

  /** @param before the length of what is replaced; undefined if the document is new */
  #requireRoom({ tenant, kind }: MetadataKey, length: number, before: number | undefined): void {
    if (length > limits.maxDocumentLength) {
      throw new AppError(
        'document_too_large',
        `the ${kind} has ${length} characters as JSON; ${limits.maxDocumentLength} are allowed`,
      );
    }
    const documents = this.#tenants.get(tenant);
    if (documents === undefined) return;
    const count = documents.byKind.get(kind as DocumentKind)?.size ?? 0;
    const bound = maxDocuments[kind as DocumentKind];
    if (before === undefined && count >= bound) {
      throw new AppError('too_many_documents', `there are ${count} of the kind ${kind}; no more are allowed`);
    }
    const total = documents.length - (before ?? 0) + length;
    if (total > limits.maxDocumentsLengthPerTenant && length > (before ?? 0)) {
      throw new AppError(
        'too_many_documents',
        `all documents together would have ${total} characters; ${limits.maxDocumentsLengthPerTenant} are allowed`,
      );
    }
  }

  #apply({ tenant, kind, key: id }: MetadataKey, value: string | undefined): void {
    if (this.#options.hasEnded(tenant)) return;
    const documents = this.#tenants.get(tenant) ?? noDocuments();
    this.#tenants.set(tenant, documents);
    const ofKind = documents.byKind.get(kind as DocumentKind) ?? new Map<string, Held>();
    const sizeBefore = ofKind.size;
    documents.length += (value?.length ?? 0) - (ofKind.get(id)?.length ?? 0);
    if (value === undefined) ofKind.delete(id);
    else ofKind.set(id, { document: JSON.parse(value) as StoredDocument, length: value.length });
    this.#options.metrics.documents.inc({ kind }, ofKind.size - sizeBefore);
    this.#tell(tenant, kind as DocumentKind, id);
  }

  #tell(tenant: string, kind: DocumentKind, id: string): void {
    for (const listener of this.#listeners) listener(tenant, kind, id);
  }

  #nowMs(): number {
    return Math.floor(this.#options.clock.nowMicros() / 1000);
  }

  #now(): string {
    return new Date(this.#nowMs()).toISOString();
  }

  #requireLoaded(): void {
    if (this.loaded) return;
    const reason = 'dashboards, filters and alerts are not known: the store has not answered since the start';
    throw new AppError('store_unavailable', reason);
  }
}

/** Also said of a document that the caller may not see, so that nobody learns which there are. */
export const noDocument = (kind: DocumentKind): AppError =>
  new AppError('not_found', `there is no ${kind} with this id`);

function changed(kind: DocumentKind, { revision }: StoredDocument): AppError {
  const reason = `If-Match names another revision of this ${kind} than the current one, ${revision}`;
  return new AppError('revision_changed', reason, { details: { revision } });
}

/** @throws AppError `bad_request` */
function requireDepth(body: DocumentBody, kind: string): void {
  let level: unknown[] = Object.values(body);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limits.maxDocumentDepth) {
      const reason = `the ${kind} is nested deeper than ${limits.maxDocumentDepth} levels`;
      throw new AppError('bad_request', reason);
    }
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
}

const maxDocuments: Readonly<Record<DocumentKind, number>> = {
  dashboard: limits.maxDashboardsPerTenant,
  filter: limits.maxFiltersPerTenant,
  alert: limits.maxAlertsPerTenant,
  target: limits.maxTargetsPerTenant,
  silence: limits.maxSilencesPerTenant,
  favorites: limits.maxFavoritesPerTenant,
};

const noDocuments = (): TenantDocuments => ({
  byKind: new Map(documentKinds.map((kind) => [kind, new Map()])),
  length: 0,
});

import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Principal, Privilege, ReadableRows } from '../model/identity.ts';
import type { Query as QueryTree } from '../sql/ast.ts';
import { located } from '../sql/errors.ts';
import { fillMoments, type Moments } from '../sql/moments.ts';
import { type Translation, translate } from '../sql/translate.ts';
import type { CatalogView } from '../store/dataset-entry.ts';
import type { SqlParser } from './parser.ts';
import { relationNames, visibleCatalog } from './visible-catalog.ts';

export interface TranslatorParts {
  readonly catalog: CatalogView;
  readonly parser: Pick<SqlParser, 'parse'>;
  /** This program's, for `version()`. */
  readonly version: string;
  /** Which rows of a dataset of its tenant the principal may read. */
  readableRows(principal: Principal, dataset: string): ReadableRows;
  /** Waits until what was acknowledged of these datasets is in the store, or for a bounded time; false if nothing is on its way. */
  waitForPending(tenant: string, names: readonly string[]): Promise<boolean>;
}

/** Who asks what. */
export interface Question {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  readonly moments: Moments;
}

/**
 * SQL to the store's SQL, remembering what it has translated.
 *
 * A translation holds for a text, a tenant, a state of the catalog, the privileges of whoever asks, and which ends
 * the time range has. All of these are the key: a dataset or column that appears, and a privilege that is taken away,
 * make another one. What a translation does not hold are moments: they are put in each time. Errors are not
 * remembered, since what is missing may be on its way.
 */
export class Translator {
  readonly #parts: TranslatorParts;
  readonly #known = new LRUCache<string, Translation>({
    maxSize: limits.maxTranslationCacheBytes,
    maxEntrySize: limits.maxTranslationCacheEntryBytes,
    sizeCalculation: ({ sql }, key) => 2 * (sql.length + key.length) + limits.translationOverheadBytes,
  });
  readonly #privilegeKeys = new WeakMap<readonly Privilege[], string>();

  constructor(parts: TranslatorParts) {
    this.#parts = parts;
  }

  /** @throws AppError `sql_…`, `forbidden`, `store_unavailable`, and those of the parser */
  async translate(question: Question): Promise<Translation> {
    const key = this.#keyOf(question);
    const known = this.#known.get(key);
    const translation = known ?? (await this.#make(question));
    // Not under the old key if the catalog has changed meanwhile: it may have been waited for.
    if (known === undefined && this.#keyOf(question) === key) this.#known.set(key, translation);
    return { ...translation, sql: fillMoments(translation.sql, question.moments) };
  }

  #keyOf({ principal, tenant, sql, moments }: Question): string {
    const ends = `${moments.startMicros === undefined ? '' : 's'}${moments.endMicros === undefined ? '' : 'e'}`;
    const version = this.#parts.catalog.version(tenant);
    // The text comes last, and the privileges are JSON, so no part can pass for the next.
    return `${tenant} ${version} ${ends} ${this.#privilegesOf(principal)} ${sql}`;
  }

  #privilegesOf({ privileges }: Principal): string {
    const known = this.#privilegeKeys.get(privileges) ?? JSON.stringify(privileges);
    this.#privilegeKeys.set(privileges, known);
    return known;
  }

  async #make(question: Question): Promise<Translation> {
    const { parser, catalog, version, readableRows, waitForPending } = this.#parts;
    const { principal, tenant, sql, moments } = question;
    const tree = await parser.parse(sql, tenant);
    const visible = visibleCatalog(catalog, tenant, version, (dataset) => readableRows(principal, dataset));
    const range = { start: moments.startMicros !== undefined, end: moments.endMicros !== undefined };
    try {
      await this.#awaitDatasets(tree, tenant);
      const wait = () => waitForPending(tenant, relationNames(tree));
      return await attemptTwice(() => translate(tree, visible, range), wait);
    } catch (thrown) {
      throw located(thrown, sql);
    }
  }

  /** Data is acknowledged before its tables exist in the store. */
  async #awaitDatasets(tree: QueryTree, tenant: string): Promise<void> {
    const { catalog, waitForPending } = this.#parts;
    const names = relationNames(tree);
    const unready = () => names.find((name) => catalog.get(tenant, name)?.ready === false);
    if (unready() !== undefined) await waitForPending(tenant, names);
    const missing = unready();
    if (missing === undefined) return;
    throw new AppError('store_unavailable', `the dataset "${missing}" is new and not in the store yet`);
  }
}

const mayAppear: ReadonlySet<string> = new Set(['sql_unknown_column', 'sql_unknown_relation']);

/** Once more if something is missing that may be on its way, as columns are. */
async function attemptTwice<T>(attempt: () => T, wait: () => Promise<boolean>): Promise<T> {
  try {
    return attempt();
  } catch (thrown) {
    if (!(thrown instanceof AppError) || !mayAppear.has(thrown.code) || !(await wait())) throw thrown;
    return attempt();
  }
}

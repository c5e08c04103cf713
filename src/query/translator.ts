import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CatalogView } from '../catalog/dataset-entry.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { systemClock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { Principal, Privilege, ReadableRows } from '../model/identity.ts';
import { fillMoments, type Moments } from '../sql/moments.ts';
import type { Translation } from '../sql/translate.ts';
import { CatalogAnswers } from './catalog-answers.ts';
import type { AnsweredReply, TranslationPool } from './translation-pool.ts';

export interface TranslatorParts {
  readonly catalog: CatalogView;
  readonly translations: Pick<TranslationPool, 'run'>;
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
  /** Aborted when nobody waits any more. */
  readonly signal?: CancelSignal | undefined;
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
  readonly #answers: CatalogAnswers;

  constructor(parts: TranslatorParts) {
    this.#parts = parts;
    this.#answers = new CatalogAnswers({ ...parts, timers: systemClock });
  }

  /** @throws AppError `sql_…`, `forbidden`, `store_unavailable`, and those of the pool */
  async translate(question: Question): Promise<Translation> {
    const { maxQueryTextBytes } = limits;
    // Before anything is made of it, such as a key. UTF-8 has a byte at least for each of JavaScript's characters.
    if (question.sql.length > maxQueryTextBytes)
      throw new AppError('sql_too_large', `The query has more than ${maxQueryTextBytes} bytes`);
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
    // The text comes last, and no other part holds a blank, so none can pass for the next.
    return `${tenant} ${version} ${ends} ${this.#privilegesOf(principal)} ${sql}`;
  }

  #privilegesOf({ privileges }: Principal): string {
    const known = this.#privilegeKeys.get(privileges) ?? digestOf(privileges);
    this.#privilegeKeys.set(privileges, known);
    return known;
  }

  /** Once more after a wait if something is missing that may be on its way: data is acknowledged before it is stored. */
  async #make(question: Question): Promise<Translation> {
    const { waitForPending } = this.#parts;
    let reply = await this.#attempt(question);
    if (reply.kind === 'unready') {
      await waitForPending(question.tenant, reply.relations);
      reply = await this.#attempt(question);
    }
    if (reply.kind === 'refused' && mayAppear.has(reply.error.code)) {
      if (await waitForPending(question.tenant, reply.relations)) reply = await this.#attempt(question);
    }
    return translationOf(reply);
  }

  async #attempt({ principal, tenant, sql, moments, signal }: Question): Promise<AnsweredReply> {
    const range = { start: moments.startMicros !== undefined, end: moments.endMicros !== undefined };
    return await this.#parts.translations.run({
      task: { text: sql, tenant, range },
      identity: `${principal.kind} ${principal.id ?? principal.name}`,
      answerCatalog: (question, post) => this.#answers.answer(question, { principal, tenant }, post),
      signal,
    });
  }
}

const digestOf = (privileges: readonly Privilege[]): string =>
  createHash('sha256').update(JSON.stringify(privileges)).digest('base64');

const mayAppear: ReadonlySet<string> = new Set(['sql_unknown_column', 'sql_unknown_relation']);

/** @throws AppError what the reply says instead */
function translationOf(reply: AnsweredReply): Translation {
  if (reply.kind === 'translated') return reply.translation;
  if (reply.kind === 'refused') {
    const { code, message, details } = reply.error;
    throw new AppError(code, message, details && { details });
  }
  throw new AppError('store_unavailable', `the dataset "${reply.dataset}" is new and not in the store yet`);
}

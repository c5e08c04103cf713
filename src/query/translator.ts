import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CatalogView } from '../catalog/dataset-entry.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { systemClock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { Principal, Privilege, ReadableRows } from '../model/identity.ts';
import type { CatalogSession } from '../sql/catalog-session.ts';
import {
  type GivenParameters,
  isPartOfTranslation,
  type ParameterValue,
  printValue,
} from '../sql/parameters.ts';
import { type QueryTimes, StatementTemplate } from '../sql/placeholders.ts';
import { typeOfOid } from '../sql/postgres-types.ts';
import { located } from '../sql/sql-error.ts';
import type { Translation } from '../sql/translate.ts';
import { errorOf } from '../sql/translation/refusal.ts';
import type { SqlType } from '../sql/types.ts';
import { CatalogAnswers } from './catalog-answers.ts';
import type { AnsweredReply, TranslationPool } from './translation-pool.ts';

export interface TranslatorParts {
  readonly catalog: CatalogView;
  readonly translations: Pick<TranslationPool, 'run'>;
  /** Which rows of a dataset of its tenant the principal may read. */
  readableRows(principal: Principal, dataset: string): ReadableRows;
  /**
   * Waits until what was acknowledged of these datasets is in the store, or for a bounded time; false if
   * nothing is on its way.
   */
  waitForPending(tenant: string, names: readonly string[]): Promise<boolean>;
}

/** What is asked, by whom. */
export interface TranslationQuestion {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  readonly times: QueryTimes;
  /** Of `$1`, `$2`, … */
  readonly parameters?: readonly ParameterValue[] | undefined;
  /** See `QueryQuestion`. */
  readonly parameterTypes?: readonly number[] | undefined;
  /** See `QueryQuestion`. */
  readonly session?: (() => CatalogSession) | undefined;
  /** Aborted when nobody waits any more. */
  readonly signal?: CancelSignal | undefined;
}

/** A translation that is remembered. */
interface Remembered {
  readonly translation: Translation;
  readonly template: StatementTemplate;
}

/**
 * SQL to the store's SQL, remembering what it has translated.
 *
 * A translation holds for a text, a tenant, a state of the catalog, the privileges of whoever asks, which
 * ends the time range has, and the types that the client gives to parameters. All of these are the key: a
 * dataset or column that appears, and a privilege that is taken away, make another one. What a translation
 * does not hold are times and the values of parameters: they are put in each time. Where it holds for some
 * values alone (`sql/parameters.ts`), these are part of the key, too. Errors are not remembered, since what
 * is missing may be on its way.
 */
export class Translator {
  readonly #parts: TranslatorParts;
  readonly #known = new LRUCache<string, Remembered>({
    maxSize: limits.maxTranslationCacheBytes,
    maxEntrySize: limits.maxTranslationCacheEntryBytes,
    sizeCalculation: ({ translation: { sql, knownRows } }, key) =>
      2 * (sql.length + (knownRows?.text.length ?? 0) + key.length) + limits.translationOverheadBytes,
  });
  /** Numbers of the parameters whose values are part of the key, for the key without them. */
  readonly #fixed = new LRUCache<string, readonly number[]>({
    maxSize: limits.maxTranslationCacheBytes,
    maxEntrySize: limits.maxTranslationCacheEntryBytes,
    sizeCalculation: (_, key) => 2 * key.length + limits.translationOverheadBytes,
  });
  readonly #privilegeKeys = new WeakMap<readonly Privilege[], string>();
  readonly #answers: CatalogAnswers;

  constructor(parts: TranslatorParts) {
    this.#parts = parts;
    this.#answers = new CatalogAnswers({ ...parts, timers: systemClock });
  }

  /**
   * With the times and the values of the parameters in it.
   * @throws AppError `sql_…`, `forbidden`, `store_unavailable`, and those of the pool
   */
  async translate(question: TranslationQuestion): Promise<Translation> {
    const { sql, parameters: values = [], times } = question;
    const { translation, template } = await this.#translation(question, values);
    const printed = printValues(values, translation, sql);
    return { ...translation, sql: template.fill(times, printed, translation.maxSqlBytes - template.bytes) };
  }

  /** What is known of the query without values of its parameters. @throws AppError likewise */
  async describe(question: TranslationQuestion): Promise<Pick<Translation, 'columns' | 'parameters'>> {
    return (await this.#translation(question, undefined)).translation;
  }

  async #translation(
    question: TranslationQuestion,
    values: readonly ParameterValue[] | undefined,
  ): Promise<Remembered> {
    checkSizes(question.sql, values ?? []);
    const key = this.#keyOf(question);
    const found = this.#known.get(key) ?? this.#known.get(this.#keyWith(key, values));
    if (found !== undefined) return found;
    const types = (question.parameterTypes ?? []).map(givenType);
    const translation = await this.#make(question, { types, values });
    const made = { translation, template: new StatementTemplate(translation.sql) };
    // Not under the old key if the catalog has changed meanwhile: it may have been waited for.
    if (translation.isMomentary !== true && this.#keyOf(question) === key) this.#remember(key, values, made);
    return made;
  }

  #remember(key: string, values: readonly ParameterValue[] | undefined, made: Remembered): void {
    const { fixedParameters } = made.translation;
    if (fixedParameters.length > 0) {
      const known = this.#fixed.get(key) ?? [];
      this.#fixed.set(key, [...new Set([...known, ...fixedParameters])]);
    }
    this.#known.set(this.#keyWith(key, values), made);
  }

  /** The key with the values for which alone translations hold; without values, one that no values make. */
  #keyWith(key: string, values: readonly ParameterValue[] | undefined): string {
    const fixed = this.#fixed.get(key);
    if (fixed === undefined) return key;
    const given = values && JSON.stringify(fixed.map((number) => [number, values[number - 1]]));
    return `${given ?? 'described'} ${key}`;
  }

  #keyOf({ principal, tenant, sql, times, parameterTypes = [] }: TranslationQuestion): string {
    const ends = `${times.startMicros === undefined ? '' : 's'}${times.endMicros === undefined ? '' : 'e'}`;
    const version = this.#parts.catalog.version(tenant);
    // The text comes last, and no other part holds a blank, so none can pass for the next.
    return `${tenant} ${version} ${ends} ${this.#privilegesOf(principal)} ${parameterTypes.join()} ${sql}`;
  }

  #privilegesOf({ privileges }: Principal): string {
    const known = this.#privilegeKeys.get(privileges) ?? digestOf(privileges);
    this.#privilegeKeys.set(privileges, known);
    return known;
  }

  /**
   * Once more after a wait if something is missing that may be on its way: data is acknowledged
   * before it is stored.
   */
  async #make(question: TranslationQuestion, parameters: GivenParameters): Promise<Translation> {
    const { waitForPending } = this.#parts;
    let reply = await this.#attempt(question, parameters);
    if (reply.kind === 'unready') {
      await waitForPending(question.tenant, reply.relations);
      reply = await this.#attempt(question, parameters);
    }
    if (reply.kind === 'refused' && mayAppear.has(reply.error.code)) {
      if (await waitForPending(question.tenant, reply.relations))
        reply = await this.#attempt(question, parameters);
    }
    return translationOf(reply);
  }

  async #attempt(question: TranslationQuestion, parameters: GivenParameters): Promise<AnsweredReply> {
    const { principal, tenant, sql, times, signal } = question;
    const session = question.session?.() ?? sessionOf(principal, times);
    const range = { start: times.startMicros !== undefined, end: times.endMicros !== undefined };
    return await this.#parts.translations.run({
      task: { text: sql, tenant, range, parameters, session },
      identity: `${principal.kind} ${principal.id ?? principal.name}`,
      answerCatalog: (asked, post) => this.#answers.answer(asked, { principal, tenant }, post),
      signal,
    });
  }
}

/** Of a question over HTTP. */
const sessionOf = ({ name }: Principal, { nowMicros }: QueryTimes): CatalogSession => ({
  user: name,
  database: 'millrace',
  processId: 0,
  startedMs: Math.floor(nowMicros / 1000),
  serviceStartedMs: serviceStartedMs,
  clientAddress: undefined,
  settings: [],
});

const serviceStartedMs = Math.round(performance.timeOrigin);

/** Before anything is made of them, such as a key. */
function checkSizes(sql: string, values: readonly ParameterValue[]): void {
  const { maxQueryTextBytes, maxQueryParameters, maxQueryParametersLength } = limits;
  // UTF-8 has a byte at least for each of JavaScript's characters.
  if (sql.length > maxQueryTextBytes)
    throw new AppError('sql_too_large', `The query has more than ${maxQueryTextBytes} bytes`);
  if (values.length > maxQueryParameters) {
    const reason = `${values.length} values of parameters were given; at most ${maxQueryParameters} are allowed`;
    throw new AppError('sql_too_large', reason);
  }
  let length = 0;
  for (const value of values) length += (typeof value === 'string' ? value : value?.json)?.length ?? 0;
  if (length > maxQueryParametersLength) {
    const reason = `The values of the parameters have ${length} characters; at most ${maxQueryParametersLength} are allowed`;
    throw new AppError('sql_too_large', reason);
  }
}

/** @throws AppError `sql_unsupported` */
function givenType(oid: number, index: number): SqlType | undefined {
  const type = typeOfOid(oid);
  if (type !== undefined || oid === 0 || oid === unknownOid) return type;
  throw new AppError(
    'sql_unsupported',
    `The type of parameter $${index + 1}, with the object id ${oid}, is not supported`,
  );
}

/** Of PostgreSQL's type `unknown`, by which some clients say that they do not know. */
const unknownOid = 705;

/** The literals that stand for the parameters in the store's SQL. */
function printValues(
  values: readonly ParameterValue[],
  { parameters, fixedParameters }: Translation,
  sql: string,
): readonly string[] {
  if (values.length !== parameters.length) {
    throw new AppError(
      'sql_parameter_count',
      `the query has ${parameters.length} parameters, and ${values.length} values were given for them`,
    );
  }
  if (values.length === 0) return [];
  try {
    return parameters.map(({ type, at }, index) => {
      const number = index + 1;
      // A part of the translation already, and checked where that was made.
      if (fixedParameters.includes(number) && isPartOfTranslation(type)) return '';
      return printValue(values[index] ?? null, { number, type, at });
    });
  } catch (thrown) {
    throw located(thrown, sql);
  }
}

const digestOf = (privileges: readonly Privilege[]): string =>
  createHash('sha256').update(JSON.stringify(privileges)).digest('base64');

const mayAppear: ReadonlySet<string> = new Set(['sql_unknown_column', 'sql_unknown_relation']);

/** @throws AppError what the reply says instead */
function translationOf(reply: AnsweredReply): Translation {
  if (reply.kind === 'translated') return reply.translation;
  if (reply.kind === 'refused') throw errorOf(reply.error);
  throw new AppError('store_unavailable', `the dataset "${reply.dataset}" is new and not in the store yet`);
}

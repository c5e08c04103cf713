import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CatalogView } from '../catalog/dataset-entry.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { systemClock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import type { Principal, Privilege, ReadableRows } from '../model/identity.ts';
import type { ArrivalQuestion } from '../sql/arrival-query.ts';
import type { CatalogSession } from '../sql/catalog-session.ts';
import {
  type GivenParameters,
  isPartOfTranslation,
  type ParameterValue,
  printValue,
} from '../sql/parameters.ts';
import { type QueryTimes, StatementTemplate } from '../sql/placeholders.ts';
import { typeOfOid } from '../sql/postgres-types.ts';
import { sessionTimesOf, type TimeSettings, withSessionTimes } from '../sql/session-times.ts';
import { located } from '../sql/sql-error.ts';
import type { Translation } from '../sql/translate-query.ts';
import { errorOf } from '../sql/translation/refusal.ts';
import type { SqlType } from '../sql/types.ts';
import { CatalogAnswers } from './catalog-answers.ts';
import type { StoredSizes } from './dataset-sizes.ts';
import type { AnsweredReply, TranslationPool } from './translation-pool.ts';

export interface TranslatorParts {
  readonly catalog: CatalogView;
  readonly translations: Pick<TranslationPool, 'run'>;
  /** What SHOW says where there is no session; nothing unless given. */
  readonly settings?: CatalogSession['settings'];
  /** Which rows of a dataset of its tenant the principal may read. */
  readableRows(principal: Principal, dataset: string): ReadableRows;
  /** What is stored of the datasets of a tenant, which the catalog shows; undefined if it is not known. */
  storedSizes(tenant: string): Promise<StoredSizes | undefined>;
  /**
   * Waits until the acknowledged rows of these datasets are in the store, or a time limit has passed. Returns
   * false if no rows are pending.
   */
  waitForPending(tenant: string, names: readonly string[]): Promise<boolean>;
}

/** A query to translate, with its principal and tenant. */
export interface TranslationQuestion {
  readonly principal: Principal;
  readonly tenant: string;
  readonly sql: string;
  readonly times: QueryTimes;
  /** Of `$1`, `$2`, … */
  readonly parameters?: readonly ParameterValue[] | undefined;
  /** See `QueryQuestion`. */
  readonly parameterTypes?: readonly number[] | undefined;
  /** Settings of the session, which were checked. */
  readonly timeSettings?: TimeSettings | undefined;
  /** See `QueryQuestion`. */
  readonly session?: ((showsSessions: boolean) => CatalogSession) | undefined;
  /** Aborted when nobody waits any more. */
  readonly signal?: CancelSignal | undefined;
  /** Whether the statement is needed where the rows are known; true if it is not said. */
  readonly needsSql?: boolean;
  /** Set for a question about arrivals, of which `sql` is the condition; empty for all rows. */
  readonly arrivals?: ArrivalQuestion | undefined;
}

/** A cached translation. */
interface Remembered {
  readonly translation: Translation;
  readonly template: StatementTemplate;
}

/**
 * Translates SQL to the store's SQL, and caches translations.
 *
 * A translation depends on the text, the tenant, the state of the catalog, the privileges of the principal,
 * which ends the time range has, the settings of the session about times, and the types that the client gives
 * to parameters. All of these are the key of the cache: a new dataset or column, or a withdrawn privilege,
 * gives another key. A translation does not contain times and values of parameters; they are filled in for
 * each run. Some translations depend on the values of some parameters (`sql/parameters.ts`); then these
 * values are part of the key too. Errors are not cached, because what is missing may appear soon.
 */
export class Translator {
  readonly #parts: TranslatorParts;
  readonly #known = new LRUCache<string, Remembered>({
    maxSize: limits.maxTranslationCacheBytes,
    maxEntrySize: limits.maxTranslationCacheEntryBytes,
    sizeCalculation: ({ translation: { sql, knownRows } }, key) =>
      2 * (sql.length + (knownRows?.text.length ?? 0) + key.length) + limits.translationOverheadBytes,
  });
  /** The numbers of the parameters whose values are part of the key, by the key without the values. */
  readonly #fixed = new LRUCache<string, readonly number[]>({
    maxSize: limits.maxTranslationCacheBytes,
    maxEntrySize: limits.maxTranslationCacheEntryBytes,
    sizeCalculation: (_, key) => 2 * key.length + limits.translationOverheadBytes,
  });
  /** Numbers of what somebody may read, by tenant, state of the catalog and privileges. */
  readonly #readable = new LRUCache<string, number>({ max: limits.maxReadableStates });
  /** All instances share it, because threads do not know which one gave a number. */
  static #lastReadable = 0;
  readonly #privilegeKeys = new WeakMap<readonly Privilege[], string>();
  readonly #answers: CatalogAnswers;

  constructor(parts: TranslatorParts) {
    this.#parts = parts;
    this.#answers = new CatalogAnswers({ ...parts, timers: systemClock });
  }

  /**
   * Translates a query and fills in the times and the values of the parameters.
   * @throws AppError `sql_…`, `forbidden`, `store_unavailable`, and the errors of `TranslationPool.run`
   */
  async translate(question: TranslationQuestion): Promise<Translation> {
    const { parameters: values = [], times } = question;
    const { translation, template } = await this.#translation(question, values);
    if (template.isWhole && values.length === 0 && translation.parameters.length === 0) return translation;
    const printed = printValues(values, translation, question);
    return { ...translation, sql: template.fill(times, printed, translation.maxSqlBytes - template.bytes) };
  }

  /** The columns and parameters of a query, without values of parameters. @throws AppError as `translate` */
  async describe(
    question: TranslationQuestion,
  ): Promise<Pick<Translation, 'columns' | 'aggregateColumns' | 'datasets' | 'parameters'>> {
    return (await this.#translation(question, undefined)).translation;
  }

  async #translation(
    question: TranslationQuestion,
    values: readonly ParameterValue[] | undefined,
  ): Promise<Remembered> {
    checkSizes(question.sql, values ?? []);
    const key = this.#keyOf(question);
    const found = this.#known.get(key) ?? this.#known.get(this.#keyWith(key, values));
    const isEnough = found?.translation.isWithoutSql !== true || question.needsSql === false;
    if (found !== undefined && isEnough) return found;
    const types = (question.parameterTypes ?? []).map(givenType);
    const translation = await this.#make(question, { types, values });
    const made = { translation, template: new StatementTemplate(translation.sql) };
    // The translation may have waited for the catalog to change. Then it does not belong to the old key.
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

  /** The key with the values that are part of it. Without values (`describe`), it is a key of its own. */
  #keyWith(key: string, values: readonly ParameterValue[] | undefined): string {
    const fixed = this.#fixed.get(key);
    if (fixed === undefined) return key;
    const given = values && JSON.stringify(fixed.map((number) => [number, values[number - 1]]));
    return `${given ?? 'described'} ${key}`;
  }

  #keyOf(question: TranslationQuestion): string {
    const { principal, tenant, sql, times, parameterTypes = [], timeSettings = {}, arrivals } = question;
    const ends = `${times.startMicros === undefined ? '' : 's'}${times.endMicros === undefined ? '' : 'e'}`;
    const version = this.#parts.catalog.version(tenant);
    const { timeZone = '', dateStyle = '', intervalStyle = '' } = timeSettings;
    const settings = `${timeZone};${dateStyle};${intervalStyle}`.replaceAll(' ', '');
    const form =
      arrivals === undefined
        ? ''
        : `${arrivals.form};${arrivals.maxRows};${encodeURIComponent(arrivals.dataset)}`;
    // Only the text can contain a blank, and it comes last: two different questions never give the same key.
    return `${tenant} ${version} ${form}${ends} ${this.#privilegesOf(principal)} ${parameterTypes.join()} ${settings} ${sql}`;
  }

  /** See `TranslationTask`. */
  #readableOf(tenant: string, principal: Principal): number {
    const key = `${tenant} ${this.#parts.catalog.version(tenant)} ${this.#privilegesOf(principal)}`;
    const known = this.#readable.get(key);
    if (known !== undefined) return known;
    Translator.#lastReadable += 1;
    this.#readable.set(key, Translator.#lastReadable);
    return Translator.#lastReadable;
  }

  #privilegesOf({ privileges }: Principal): string {
    const known = this.#privilegeKeys.get(privileges) ?? digestOf(privileges);
    this.#privilegeKeys.set(privileges, known);
    return known;
  }

  /**
   * Translates a query. If something is missing that pending rows may create, waits for them and tries once
   * more: rows are acknowledged before they are stored.
   */
  async #make(question: TranslationQuestion, parameters: GivenParameters): Promise<Translation> {
    const { waitForPending } = this.#parts;
    let reply = await this.#attempt(question, parameters);
    if (reply.kind === 'unready') {
      await waitForPending(question.tenant, reply.relations);
      reply = await this.#attempt(question, parameters);
    }
    // Without relations it is about the catalog alone, which has no columns that are on their way.
    if (reply.kind === 'refused' && reply.relations.length > 0 && mayAppear.has(reply.error.code)) {
      if (await waitForPending(question.tenant, reply.relations))
        reply = await this.#attempt(question, parameters);
    }
    return translationOf(reply);
  }

  async #attempt(question: TranslationQuestion, parameters: GivenParameters): Promise<AnsweredReply> {
    const { principal, tenant, sql, times, timeSettings = {}, signal, needsSql = true, arrivals } = question;
    const session =
      question.session?.(asksForSessions(sql)) ??
      sessionOf(principal, times, asksForSettings(sql) ? (this.#parts.settings ?? []) : []);
    const range = {
      start: times.startMicros !== undefined,
      end: times.endMicros !== undefined,
      ...(arrivals === undefined ? {} : { arrival: true }),
    };
    return await this.#parts.translations.run({
      task: {
        text: sql,
        arrivals,
        tenant,
        readable: this.#readableOf(tenant, principal),
        range,
        parameters,
        session,
        needsSql,
        times: timeSettings,
      },
      identity: `${principal.kind} ${principal.id ?? principal.name}`,
      answerCatalog: (asked, post) => this.#answers.answer(asked, { principal, tenant }, post),
      signal,
    });
  }
}

/** Sessions are sent to the thread that translates only for what may ask for them. */
const asksForSessions = (sql: string): boolean =>
  /pg_stat_(?:activity|ssl|gssapi)|pg_(?:cancel|terminate)_backend/i.test(sql);

const asksForSettings = (sql: string): boolean => /show|setting/i.test(sql);

/** Of a question over HTTP. */
const sessionOf = (
  { name }: Principal,
  { nowMicros }: QueryTimes,
  settings: CatalogSession['settings'],
): CatalogSession => ({
  user: name,
  database: 'millrace',
  processId: 0,
  startedMs: Math.floor(nowMicros / 1000),
  serviceStartedMs: serviceStartedMs,
  clientAddress: undefined,
  settings,
  sessions: [],
});

const serviceStartedMs = Math.round(performance.timeOrigin);

/** Checked first, before anything is computed from the text or the values. */
function checkSizes(sql: string, values: readonly ParameterValue[]): void {
  const { maxQueryTextBytes, maxQueryParameters, maxQueryParametersLength } = limits;
  // Each character of JavaScript takes at least one byte in UTF-8.
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

/** The object id of PostgreSQL's type `unknown`: some clients send it if they do not know the type. */
const unknownOid = 705;

/** The literals that replace the parameters in the store's SQL. */
function printValues(
  values: readonly ParameterValue[],
  { parameters, fixedParameters }: Translation,
  { sql, times: { nowMicros }, timeSettings = {} }: TranslationQuestion,
): readonly string[] {
  if (values.length !== parameters.length) {
    throw new AppError(
      'sql_parameter_count',
      `the query has ${parameters.length} parameters, and ${values.length} values were given for them`,
    );
  }
  if (values.length === 0) return [];
  const sessionTimes = sessionTimesOf(timeSettings);
  if (sessionTimes === undefined) throw new Error('BUG: settings of times were not checked');
  try {
    return withSessionTimes(sessionTimes, () =>
      parameters.map(({ type, at }, index) => {
        const number = index + 1;
        // The value is already part of the translation and was checked with it.
        if (fixedParameters.includes(number) && isPartOfTranslation(type)) return '';
        return printValue(values[index] ?? null, { number, type, at }, nowMicros);
      }),
    );
  } catch (thrown) {
    throw located(thrown, sql);
  }
}

const digestOf = (privileges: readonly Privilege[]): string =>
  createHash('sha256').update(JSON.stringify(privileges)).digest('base64');

const mayAppear: ReadonlySet<string> = new Set(['sql_unknown_column', 'sql_unknown_relation']);

/** The translation of a reply. @throws AppError if the reply is an error */
function translationOf(reply: AnsweredReply): Translation {
  if (reply.kind === 'translated') return reply.translation;
  if (reply.kind === 'refused') throw errorOf(reply.error);
  throw new AppError('store_unavailable', `the dataset "${reply.dataset}" is new and not in the store yet`);
}

import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { type DatasetKind, databaseOf } from '../../model/dataset.ts';
import { type DatasetColumns, describeColumns } from '../describe-dataset.ts';
import { datasetsMeant } from '../relation-names.ts';
import type { SqlCatalog, SqlDataset } from '../sql-catalog.ts';
import { isNamed } from '../syntax/identifier.ts';
import { errorOf } from './refusal.ts';
import type { CatalogAnswer, CatalogQuestion, DatasetAnswer } from './translation-messages.ts';

/** Asks the main thread. */
export type AskCatalog = (question: CatalogQuestion) => Promise<Omit<CatalogAnswer, 'isLast'>>;

interface RememberedColumns {
  /** As the main thread numbered it: nothing else has this number. */
  readonly state: number;
  readonly columns: DatasetColumns;
  /** Characters of all names. */
  readonly length: number;
}

/**
 * What a thread remembers of datasets between its tasks: their columns, which are much to send. It is used
 * only where the main thread says that they are still these. Who may read which rows is never remembered.
 */
export class ColumnMemory {
  readonly #known = new LRUCache<string, RememberedColumns>({
    maxSize: limits.maxDatasetCacheLength,
    sizeCalculation: ({ length }, key) => length + key.length + 1,
  });

  get(tenant: string, dataset: string): RememberedColumns | undefined {
    return this.#known.get(`${tenant}/${dataset}`);
  }

  add(tenant: string, dataset: string, state: number, names: readonly string[]): DatasetColumns {
    const columns = describeColumns(names);
    const length = names.reduce((sum, name) => sum + name.length, 0);
    this.#known.set(`${tenant}/${dataset}`, { state, columns, length });
    return columns;
  }
}

/** Thrown by a catalog that was asked for what it has not been told: `load` it, and translate again. */
export class NamesMissing extends Error {}

/**
 * The catalog as one task needs it: it holds what the main thread has answered, and nothing else.
 *
 * 1. `loadRelations`: the datasets that the query names. That is enough for most queries.
 * 2. `loadNames`: which datasets there are, for suggestions, for names longer than identifiers can
 *    be, and for `information_schema`. Of those that `information_schema.tables` alone needs, the
 *    kind is known and no more.
 */
export class TaskCatalog implements SqlCatalog {
  readonly database: string;
  readonly version: string;
  readonly #tenant: string;
  readonly #ask: AskCatalog;
  readonly #memory: ColumnMemory;
  readonly #relations: readonly string[];
  /** Whether the query reads the columns of all datasets. */
  readonly #wantsAllColumns: boolean;
  readonly #datasets = new Map<string, SqlDataset | 'absent' | 'forbidden'>();
  /** Of the relations, the first whose tables are not there yet. */
  #unready: string | undefined;
  #names: readonly string[] | undefined;

  /**
   * @param paths of the relations of the query
   * @param readsColumns whether the query reads the columns of all datasets
   */
  constructor(
    tenant: string,
    version: string,
    paths: readonly (readonly string[])[],
    ask: AskCatalog,
    memory: ColumnMemory,
    readsColumns: boolean,
  ) {
    this.#tenant = tenant;
    this.database = databaseOf(tenant);
    this.version = version;
    this.#relations = [...new Set(paths.flatMap(datasetsMeant))];
    this.#wantsAllColumns = readsColumns;
    this.#ask = ask;
    this.#memory = memory;
  }

  get relations(): readonly string[] {
    return this.#relations;
  }

  get unready(): string | undefined {
    return this.#unready;
  }

  /** @throws AppError what the main thread says instead of an answer */
  async loadRelations(): Promise<void> {
    if (this.#relations.length === 0) return;
    for (const answer of await this.#loadDatasets(this.#relations)) {
      if (answer.kind === 'readable' && !answer.ready) this.#unready ??= answer.name;
    }
  }

  /** @throws AppError likewise */
  async loadNames(): Promise<void> {
    const { names } = await this.#answer({ about: 'names' });
    const unknown = names.filter(({ name }) => !this.#datasets.has(name));
    const isMeant = (name: string) => this.#relations.some((relation) => isNamed(name, relation));
    const wanted = unknown.filter(({ name }) => this.#wantsAllColumns || isMeant(name));
    if (wanted.length > 0) await this.#loadDatasets(wanted.map(({ name }) => name));
    for (const { name, kind } of unknown)
      if (!this.#datasets.has(name)) this.#datasets.set(name, ofKind(name, kind));
    this.#names = names.map(({ name }) => name);
  }

  /**
   * @throws AppError `forbidden`
   * @throws NamesMissing for one that is no relation of the query
   */
  dataset(name: string): SqlDataset | undefined {
    const known = this.#datasets.get(name);
    if (known === undefined && this.#names === undefined) throw new NamesMissing(name);
    if (known === 'forbidden')
      throw new AppError('forbidden', `the credentials do not allow reading dataset "${name}"`);
    return known === 'absent' ? undefined : known;
  }

  /** @throws NamesMissing */
  names(): readonly string[] {
    if (this.#names === undefined) throw new NamesMissing('all');
    return this.#names;
  }

  async #loadDatasets(names: readonly string[]): Promise<readonly DatasetAnswer[]> {
    // Held until the answer is there: meanwhile the memory may drop it.
    const remembered = new Map(names.map((name) => [name, this.#memory.get(this.#tenant, name)]));
    const datasets = names.map((name) => ({ name, state: remembered.get(name)?.state }));
    const { datasets: answers } = await this.#answer({ about: 'datasets', datasets });
    for (const answer of answers) this.#datasets.set(answer.name, this.#described(answer, remembered));
    return answers;
  }

  #described(
    answer: DatasetAnswer,
    remembered: ReadonlyMap<string, RememberedColumns | undefined>,
  ): SqlDataset | 'absent' | 'forbidden' {
    if (answer.kind !== 'readable') return answer.kind;
    const { name, id, holds, state, rows } = answer;
    const known = remembered.get(name);
    if (answer.columns === undefined && known?.state !== state)
      throw new Error(`BUG: the columns of the dataset ${name} are not known`);
    const columns =
      answer.columns === undefined
        ? known?.columns
        : this.#memory.add(this.#tenant, name, state, answer.columns);
    if (columns === undefined) throw new Error(`BUG: the dataset ${name} has no columns`);
    return { name, id, kind: holds, ...columns, rows };
  }

  async #answer(question: CatalogQuestion): Promise<Omit<CatalogAnswer, 'isLast'>> {
    const answer = await this.#ask(question);
    if (answer.error === undefined) return answer;
    throw errorOf(answer.error);
  }
}

/** For those who show that there is a dataset, and what it holds. */
const ofKind = (name: string, kind: DatasetKind): SqlDataset => ({
  name,
  id: name,
  kind,
  fields: new Map(),
  overflows: false,
  requestColumns: [],
  rows: [],
});

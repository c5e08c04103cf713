import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { databaseOf } from '../../model/dataset.ts';
import { type DatasetColumns, describeColumns } from '../describe-dataset.ts';
import { datasetsMeant } from '../relation-names.ts';
import type { DatasetSize, ReadableDataset, SqlCatalog, SqlDataset } from '../sql-catalog.ts';
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

/**
 * What a thread remembers between its tasks of which datasets somebody may read, with what was made of them.
 * The main thread numbers each state of the catalog as it is to somebody with certain privileges.
 */
export class ReadableMemory {
  readonly #known = new LRUCache<string, Readable>({
    maxSize: limits.maxReadableCacheBytes,
    sizeCalculation: ({ list }) =>
      list.reduce((sum, { name }) => sum + 2 * name.length + limits.readableDatasetBytes, 1),
  });

  get(tenant: string, state: number): Readable | undefined {
    return this.#known.get(`${tenant}/${state}`);
  }

  add(tenant: string, state: number, list: readonly ReadableDataset[]): Readable {
    const readable = { list, names: new Set(list.map(({ name }) => name)) };
    this.#known.set(`${tenant}/${state}`, readable);
    return readable;
  }
}

interface Readable {
  readonly list: readonly ReadableDataset[];
  readonly names: ReadonlySet<string>;
}

/** Thrown by a catalog that was asked for what it has not been told: `load` it, and translate again. */
export class CatalogMissing extends Error {
  readonly what: MissingPart;

  constructor(what: MissingPart) {
    super('the catalog has not been told of all that is asked');
    this.what = what;
  }
}

/** Which datasets there are, their sizes, the columns of one of them, or of all. */
type MissingPart =
  | { readonly kind: 'names' | 'sizes' | 'all columns' }
  | { readonly kind: 'columns'; readonly dataset: string };

/** Whose catalog a task asks for, and what the thread remembers. */
export interface TaskCatalogOptions {
  readonly tenant: string;
  /** See `TranslationTask`. */
  readonly readable: number;
  /** Of this program, for `version()`. */
  readonly version: string;
  readonly ask: AskCatalog;
  readonly columns: ColumnMemory;
  readonly readables: ReadableMemory;
}

/**
 * The catalog as one task needs it: it holds what the main thread has answered, and nothing else.
 *
 * 1. `loadRelations`: the datasets that the query names. That is enough for most queries.
 * 2. `load`: what the translation was missing. That is which datasets there are, for suggestions, for names
 *    longer than identifiers can be, and for the catalog in SQL; and columns of datasets, as far as a query
 *    of the catalog gets to them.
 */
export class TaskCatalog implements SqlCatalog {
  readonly database: string;
  readonly version: string;
  readonly #options: TaskCatalogOptions;
  readonly #relations: readonly string[];
  readonly #datasets = new Map<string, SqlDataset | 'absent' | 'forbidden'>();
  /** Of the relations, the first whose tables are not there yet. */
  #unready: string | undefined;
  #readable: Readable | undefined;
  #sizes: ReadonlyMap<string, DatasetSize> | undefined;
  /** Of how many datasets columns were loaded one at a time. */
  #loadedAlone = 0;

  /** @param paths of the relations of the query */
  constructor(paths: readonly (readonly string[])[], options: TaskCatalogOptions) {
    const { tenant, version, readable, readables } = options;
    this.#options = options;
    this.database = databaseOf(tenant);
    this.version = version;
    this.#relations = [...new Set(paths.flatMap(datasetsMeant))];
    this.#readable = readables.get(tenant, readable);
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
  async load({ what }: CatalogMissing): Promise<void> {
    if (what.kind === 'names') return await this.#loadNames();
    if (what.kind === 'sizes') return await this.#loadSizes();
    const mayLoadOne = what.kind === 'columns' && this.#loadedAlone < limits.maxDatasetsLoadedAlone;
    if (mayLoadOne) this.#loadedAlone += 1;
    const { list } = this.#readable ?? { list: [] };
    const names = mayLoadOne ? [what.dataset] : list.map(({ name }) => name);
    await this.#loadDatasets(names.filter((name) => !this.#datasets.has(name)));
  }

  async #loadNames(): Promise<void> {
    const { tenant, readable, readables } = this.#options;
    const { names } = await this.#answer({ about: 'names' });
    this.#readable = readables.add(tenant, readable, names);
  }

  async #loadSizes(): Promise<void> {
    const { sizes } = await this.#answer({ about: 'sizes' });
    this.#sizes = new Map(sizes.map((size) => [size.name, size]));
  }

  /**
   * @throws AppError `forbidden`
   * @throws CatalogMissing for one that is no relation of the query
   */
  dataset(name: string): SqlDataset | undefined {
    const known = this.#datasets.get(name);
    if (known === undefined && this.#known().names.has(name))
      throw new CatalogMissing({ kind: 'columns', dataset: name });
    if (known === 'forbidden')
      throw new AppError('forbidden', `the credentials do not allow reading dataset "${name}"`);
    return known === 'absent' ? undefined : known;
  }

  /** @throws CatalogMissing */
  names(): readonly string[] {
    return this.readable().map(({ name }) => name);
  }

  /** @throws CatalogMissing */
  readable(): readonly ReadableDataset[] {
    return this.#known().list;
  }

  /** @throws CatalogMissing */
  datasets(): readonly SqlDataset[] {
    return this.readable().flatMap(({ name }) => {
      const known = this.#datasets.get(name);
      if (known === undefined) throw new CatalogMissing({ kind: 'all columns' });
      return typeof known === 'string' ? [] : [known];
    });
  }

  /** @throws CatalogMissing */
  sizes(): ReadonlyMap<string, DatasetSize> {
    if (this.#sizes === undefined) throw new CatalogMissing({ kind: 'sizes' });
    return this.#sizes;
  }

  #known(): Readable {
    if (this.#readable === undefined) throw new CatalogMissing({ kind: 'names' });
    return this.#readable;
  }

  async #loadDatasets(names: readonly string[]): Promise<readonly DatasetAnswer[]> {
    // Held until the answer is there: meanwhile the memory may drop it.
    const { tenant, columns } = this.#options;
    const remembered = new Map(names.map((name) => [name, columns.get(tenant, name)]));
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
    const { name, id, holds, state, searchFields, rows } = answer;
    const known = remembered.get(name);
    if (answer.columns === undefined && known?.state !== state)
      throw new Error(`BUG: the columns of the dataset ${name} are not known`);
    const columns =
      answer.columns === undefined
        ? known?.columns
        : this.#options.columns.add(this.#options.tenant, name, state, answer.columns);
    if (columns === undefined) throw new Error(`BUG: the dataset ${name} has no columns`);
    return { name, id, kind: holds, ...columns, searchFields, rows };
  }

  async #answer(question: CatalogQuestion): Promise<Omit<CatalogAnswer, 'isLast'>> {
    const answer = await this.#options.ask(question);
    if (answer.error === undefined) return answer;
    throw errorOf(answer.error);
  }
}

import { limits } from '../limits/limits.ts';
import { sqlError } from './sql-error.ts';

/** What a translation may spend: names of its limits, and what an error says that there is too much of. */
const bounds = {
  steps: [limits.maxSqlSteps, 'steps of translation'],
  syntaxNodes: [limits.maxSqlSyntaxNodes, 'expressions, queries and relations'],
  resolvedNodes: [limits.maxSqlResolvedNodes, 'expressions in what it expands to'],
  outputColumns: [limits.maxSqlOutputColumns, 'output columns'],
  relations: [limits.maxSqlRelations, 'relations in FROM, with those of the tables of WITH that it reads'],
  ctes: [limits.maxSqlCtes, 'common table expressions'],
  setOperations: [limits.maxSqlSetOperations, 'set operations'],
  groupKeys: [limits.maxSqlGroupKeys, 'keys in GROUP BY'],
  sortKeys: [limits.maxSqlSortKeys, 'keys in ORDER BY, DISTINCT ON and windows'],
  windows: [limits.maxSqlWindows, 'windows'],
  aliases: [limits.maxSqlAliases, 'relations and subqueries'],
  catalogSteps: [limits.maxCatalogQuerySteps, 'steps in the catalog'],
  catalogAnswerLength: [limits.maxCatalogAnswerLength, 'characters in the answer of the catalog'],
} as const satisfies Readonly<Record<string, readonly [limit: number, what: string]>>;

export type Bound = keyof typeof bounds;

/**
 * What one query has made the translator do so far, in counts that depend on its text and the catalog alone.
 * Whatever walks, copies or expands something that a client has written spends first, so that nothing is
 * done beyond a bound.
 */
export class TranslationBudget {
  readonly #spent: Record<Bound, number> = {
    steps: 0,
    syntaxNodes: 0,
    resolvedNodes: 0,
    outputColumns: 0,
    relations: 0,
    ctes: 0,
    setOperations: 0,
    groupKeys: 0,
    sortKeys: 0,
    windows: 0,
    aliases: 0,
    catalogSteps: 0,
    catalogAnswerLength: 0,
  };

  /** What the tables of WITH hold that are read by what is being resolved, beside what is spent. */
  #inlined = nothingInlined;
  #catalogLength = 0;

  /** Characters of the rows of `information_schema` that are written into the statement, beside all else. */
  get catalogLength(): number {
    return this.#catalogLength;
  }

  /** @throws AppError `sql_too_large` */
  spendCatalogRows(rows: readonly (readonly (string | number | null)[])[]): void {
    for (const row of rows) for (const cell of row) this.#catalogLength += String(cell).length + 3;
    if (this.#catalogLength <= limits.maxCatalogSqlLength) return;
    throw sqlError(
      'sql_too_large',
      'There are too many columns for what the query reads of information_schema',
    );
  }

  spent(bound: Bound): number {
    return this.#spent[bound];
  }

  /**
   * @param at byte offset of what is counted
   * @throws AppError `sql_too_large`, which names the bound
   */
  spend(bound: Bound, count: number, at?: number): void {
    this.#spent[bound] += count;
    this.#check(bound, this.#spent[bound], at);
  }

  /** See `inlinedBy` below. */
  inlinedBy<Result>(work: () => Result): { readonly result: Result; readonly inlined: Inlined } {
    const around = this.#inlined;
    const { relations, resolvedNodes } = this.#spent;
    this.#inlined = nothingInlined;
    const result = work();
    const inlined = {
      relations: this.#inlined.relations + this.#spent.relations - relations,
      resolvedNodes: this.#inlined.resolvedNodes + this.#spent.resolvedNodes - resolvedNodes,
    };
    this.#inlined = around;
    return { result, inlined };
  }

  /** @throws AppError `sql_too_large` */
  spendInlined({ relations, resolvedNodes }: Inlined, at: number | undefined): void {
    this.#inlined = {
      relations: this.#inlined.relations + relations,
      resolvedNodes: this.#inlined.resolvedNodes + resolvedNodes,
    };
    this.#check('relations', this.#inlined.relations + this.#spent.relations, at);
    this.#check('resolvedNodes', this.#inlined.resolvedNodes + this.#spent.resolvedNodes, at);
  }

  #check(bound: Bound, count: number, at: number | undefined): void {
    const [limit, what] = bounds[bound];
    if (count <= limit) return;
    throw sqlError(
      'sql_too_large',
      `The query has more than ${limit} ${what}, which is as many as are allowed`,
      at,
    );
  }
}

/**
 * What a table of WITH holds, the tables that it reads included: the store puts it in wherever it is read.
 */
export interface Inlined {
  readonly relations: number;
  readonly resolvedNodes: number;
}

/** What a recursive query reads of itself is rows, and not the query once more. */
export const nothingInlined: Inlined = { relations: 0, resolvedNodes: 0 };

/**
 * The budget of the translation that is running. Expressions are made and walked by small functions that know
 * nothing of where they are used; a translation never waits for anything, so there is one at a time.
 */
let running: TranslationBudget | undefined;

/** Does a part of a translation; all that it spends is taken from the budget. */
export function withBudget<Result>(budget: TranslationBudget, work: () => Result): Result {
  const before = running;
  running = budget;
  try {
    return work();
  } finally {
    running = before;
  }
}

/** Outside of a translation, as for the documentation, nothing is counted. */
export const spend = (bound: Bound, count = 1, at?: number): void => running?.spend(bound, count, at);

/**
 * Resolves a table of WITH.
 * @returns beside it what it holds, to be spent wherever it is read
 */
export function inlinedBy<Result>(work: () => Result): {
  readonly result: Result;
  readonly inlined: Inlined;
} {
  return running?.inlinedBy(work) ?? { result: work(), inlined: nothingInlined };
}

/** A table of WITH is read: the store works on all of it again. */
export const spendInlined = (inlined: Inlined, at: number | undefined): void =>
  running?.spendInlined(inlined, at);

export const spendCatalogRows = (rows: readonly (readonly (string | number | null)[])[]): void =>
  running?.spendCatalogRows(rows);

/**
 * Of the translated query; twice the rows of the catalog, for what is escaped and for letters of several
 * bytes.
 */
export const maxStoreSqlLength = (): number => limits.maxStoreSqlBytes + 2 * (running?.catalogLength ?? 0);

/** Refuses a text of a client that is longer than what can be done with it. */
export function checkTextLength(text: string, limit: number, what: string, at: number | undefined): void {
  if (text.length <= limit) return;
  throw sqlError('sql_too_large', `${what} has ${text.length} characters; at most ${limit} are allowed`, at);
}

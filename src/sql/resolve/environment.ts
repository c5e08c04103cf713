import { limits } from '../../limits.ts';
import type { Query } from '../ast.ts';
import type { SqlCatalog } from '../catalog.ts';
import { sqlError } from '../errors.ts';
import type { CteIr, QueryIr, RangeShape } from '../ir.ts';
import type { Scope } from './scope.ts';

/** A common table expression in scope, under the name that the user gave it. */
export interface VisibleCte {
  readonly cte: CteIr;
  readonly columns: readonly string[];
}

/** What one translation carries along. */
export class Environment {
  readonly catalog: SqlCatalog;
  readonly range: RangeShape;
  /** Begins every generated name of a relation. */
  readonly prefix: string;
  /** Datasets read so far. */
  readonly datasets = new Set<string>();
  /** True once a dataset is read of which the reader may not see all rows. */
  narrowed = false;
  /** All CTEs of the query, however deep, each after those that it uses. */
  readonly ctes: CteIr[] = [];
  /** Generated names of the CTEs that were read. */
  readonly readCtes = new Set<string>();
  #catalogLength = 0;
  #relations = 0;
  #ctes = 0;

  constructor(catalog: SqlCatalog, range: RangeShape, prefix: string) {
    this.catalog = catalog;
    this.range = range;
    this.prefix = prefix;
  }

  /** Characters of the rows that are written into the statement. */
  get catalogLength(): number {
    return this.#catalogLength;
  }

  /** @throws AppError `sql_too_large` */
  addCatalogRows(rows: readonly (readonly (string | number | null)[])[]): void {
    for (const row of rows) for (const cell of row) this.#catalogLength += String(cell).length + 3;
    if (this.#catalogLength <= limits.maxCatalogSqlLength) return;
    throw sqlError(
      'sql_too_large',
      'There are too many columns for what the query reads of information_schema',
    );
  }

  /** A new number for a CTE, unique in the query. */
  cteName(): number {
    this.#ctes += 1;
    return this.#ctes;
  }

  /** A new name for a relation, unique in the query. */
  alias(): string {
    this.#relations += 1;
    return `${this.prefix}${this.#relations}`;
  }
}

/** How the resolvers of one kind of node reach that of queries, and what they resolve in. */
export interface QueryContext {
  readonly env: Environment;
  readonly ctes: ReadonlyMap<string, VisibleCte>;
  /** @param correlatable whether the query may name columns of the query around it */
  query(query: Query, context: QueryContext, parent: Scope | undefined, correlatable: boolean): ResolvedQuery;
}

export interface ResolvedQuery {
  readonly query: QueryIr;
  readonly correlated: boolean;
}

import type { Call, Query } from '../ast.ts';
import { type Inlined, spend } from '../budget.ts';
import { cteName, relationName } from '../generated-names.ts';
import type { CteIr, Expr, QueryIr, RangeShape } from '../ir.ts';
import type { QueryParameters } from '../parameters.ts';
import type { SqlCatalog, SqlDataset } from '../sql-catalog.ts';
import { isNamed } from '../syntax/identifier.ts';
import type { SubqueryNames } from './output-name.ts';
import type { Scope } from './scope.ts';
import type { ColumnNames } from './scope-columns.ts';

/** A common table expression in scope, under the name that the user gave it. */
export interface VisibleCte {
  readonly cte: CteIr;
  /** Of its columns. */
  readonly names: ColumnNames;
  readonly inlined: Inlined;
  /** What is read in its place: in its own second part, the rows of the last round. */
  readonly rows?: QueryIr;
}

/** Answers calls of functions of the catalog with constants; undefined for other calls. */
export type ConstantCalls = (call: Call, env: Environment) => Expr | undefined;

/** What one translation carries along. */
export class Environment {
  readonly catalog: SqlCatalog;
  readonly range: RangeShape;
  readonly parameters: QueryParameters;
  readonly #constantCalls: ConstantCalls;
  /** Datasets read so far. */
  readonly datasets = new Set<string>();
  /** True once a dataset is read of which the reader may not see all rows. */
  narrowed = false;
  /** True once something depends on who asks, or when. */
  dependsOnSession = false;
  /** All CTEs of the query, however deep, each after those that it uses. */
  readonly ctes: CteIr[] = [];
  /** Generated names of the CTEs that were read. */
  readonly readCtes = new Set<string>();
  /** Of scalar subqueries. */
  readonly subqueryNames: SubqueryNames = new WeakMap();
  readonly #found = new Map<string, SqlDataset | undefined>();
  #relations = 0;
  #ctes = 0;

  constructor(
    catalog: SqlCatalog,
    range: RangeShape,
    parameters: QueryParameters,
    constantCalls: ConstantCalls = () => undefined,
  ) {
    this.catalog = catalog;
    this.range = range;
    this.parameters = parameters;
    this.#constantCalls = constantCalls;
  }

  /** What a call of a function of the catalog gives, if that is known without the store. */
  constantCall(call: Call): Expr | undefined {
    return this.#constantCalls(call, this);
  }

  /** The dataset that an identifier means; looked for once. */
  dataset(identifier: string): SqlDataset | undefined {
    if (this.#found.has(identifier)) return this.#found.get(identifier);
    const { catalog } = this;
    const longName = (): string | undefined => catalog.names().find((name) => isNamed(name, identifier));
    const dataset = catalog.dataset(identifier) ?? catalog.dataset(longName() ?? identifier);
    // An object of this translation, with which ends what is kept about it.
    const own = dataset && { ...dataset };
    this.#found.set(identifier, own);
    return own;
  }

  /** A new name for a CTE, unique in the query. */
  cteName(): string {
    spend('ctes');
    this.#ctes += 1;
    return cteName(this.#ctes);
  }

  /** A new name for a relation, unique in the query. */
  alias(): string {
    spend('aliases');
    this.#relations += 1;
    return relationName(this.#relations);
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

import { limits } from '../limits.ts';
import type { Query } from './ast.ts';
import type { SqlCatalog } from './catalog.ts';
import { sqlError } from './errors.ts';
import type { QueryIr, RangeShape } from './ir.ts';
import { printStatement } from './print/query.ts';
import { Environment } from './resolve/environment.ts';
import { uniqueNames } from './resolve/output-name.ts';
import { resolveQuery } from './resolve/query.ts';
import { rowBound } from './row-bound.ts';
import { typeLabel } from './types.ts';

export interface Translation {
  /**
   * One ClickHouse SELECT, without FORMAT and SETTINGS; it needs `semanticSettings`. `fillMoments` puts the range and
   * the time of the query into it.
   */
  readonly sql: string;
  /** Output columns in order, with PostgreSQL's names of their types. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Names of the datasets that are read. */
  readonly datasets: readonly string[];
  /** True if rows were left out that the reader may not see: the statement then needs `narrowedSettings`, too. */
  readonly narrowed: boolean;
  /** No result has more; undefined if that is not known. */
  readonly maxRows: number | undefined;
}

/**
 * Translates one SELECT. Pure: the same tree, catalog and range give the same text.
 * @param range applied to the time column of every dataset that is read
 * @throws AppError with one of the `sql_…` codes
 */
export function translate(tree: Query, catalog: SqlCatalog, range: RangeShape): Translation {
  let prefix = 't';
  for (;;) {
    const env = new Environment(catalog, range, prefix);
    const context = { env, ctes: new Map(), query: resolveQuery };
    const { query } = resolveQuery(tree, context, undefined, false);
    const names = uniqueNames(query.columns.map((column) => column.name));
    // In the outermost SELECT the user's names stand beside generated ones; they must not look alike.
    const generated = new RegExp(`^${prefix}w?\\d`);
    if (names.some((name) => generated.test(name))) {
      prefix += '_';
      continue;
    }
    return finish(query, names, env);
  }
}

function finish(query: QueryIr, names: readonly string[], env: Environment): Translation {
  const sql = printStatement(query, names, env.ctes, env.prefix);
  // Twice, for what is escaped and for letters of several bytes.
  if (Buffer.byteLength(sql) > limits.maxStoreSqlBytes + 2 * env.catalogLength) {
    throw sqlError(
      'sql_too_large',
      'The query is too complex: what the store would have to run is too large',
    );
  }
  return {
    sql,
    columns: query.columns.map(({ type }, index) => ({ name: names[index] ?? '', type: typeLabel(type) })),
    datasets: [...env.datasets],
    narrowed: env.narrowed,
    maxRows: rowBound(query),
  };
}

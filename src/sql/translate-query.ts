import { AppError } from '../errors.ts';
import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { type ArrivalQuestion, arrivalQuery } from './arrival-query.ts';
import type { Call, Query } from './ast.ts';
import { maxStoreSqlLength, TranslationBudget, withBudget } from './budget.ts';
import { answerCatalogQuery } from './catalog-query/answer-catalog-query.ts';
import { answerConstantCall } from './catalog-query/constant-call.ts';
import { isCatalogQuery } from './catalog-query/is-catalog-query.ts';
import type { CatalogSession, SessionEffect } from './catalog-session.ts';
import { withGeneratedNames } from './generated-names.ts';
import type { Expr, QueryIr, RangeShape } from './ir.ts';
import { constantRows, type KnownRows, tabSeparated, textCell } from './known-rows.ts';
import { type GivenParameters, noParameters, type ParameterUse, QueryParameters } from './parameters.ts';
import { type PostgresType, postgresType } from './postgres-types.ts';
import { tooLargeForStore } from './print/bounded.ts';
import { printStatement } from './print/print-query.ts';
import { Environment } from './resolve/environment.ts';
import { hasAggregate } from './resolve/grouping.ts';
import { uniqueNames } from './resolve/output-name.ts';
import { resolveQuery } from './resolve/resolve-query.ts';
import { visibleData } from './resolve/visible-tables.ts';
import { rowBound } from './row-bound.ts';
import { sessionTimesOf, type TimeSettings, withSessionTimes } from './session-times.ts';
import type { SqlCatalog } from './sql-catalog.ts';
import { sqlError } from './sql-error.ts';
import { SystemCatalog } from './system-catalog/system-catalog.ts';
import { text } from './types.ts';

/** A column of a result. */
export interface ResultColumn {
  /** No other column of the result has it. */
  readonly name: string;
  /** As PostgreSQL names it; others may have the same. */
  readonly label: string;
  readonly type: PostgresType;
}

export interface Translation {
  /**
   * One ClickHouse SELECT, without FORMAT and SETTINGS; it needs `semanticSettings`. `StatementTemplate` puts
   * the range, the time of the query and the values of its parameters into it.
   */
  readonly sql: string;
  /** Bytes that the statement may have, with the values of its parameters. */
  readonly maxSqlBytes: number;
  /** Output columns in order. */
  readonly columns: readonly ResultColumn[];
  /** Names of the columns that bring rows together: aggregates, or what is computed from them. */
  readonly aggregateColumns: readonly string[];
  /** Of `$1`, `$2`, … */
  readonly parameters: readonly ParameterUse[];
  /** Numbers of the parameters for whose values alone it holds. */
  readonly fixedParameters: readonly number[];
  /** Names of the datasets that are read. */
  readonly datasets: readonly string[];
  /**
   * True if rows were left out that the reader may not see: the statement then needs `narrowedSettings`, too.
   */
  readonly narrowed: boolean;
  /** No result has more; undefined if that is not known. */
  readonly maxRows: number | undefined;
  /** Its rows, where they are known without the store; they fit the form `rows` alone. */
  readonly knownRows?: KnownRows | undefined;
  /** True if the rows are known, and the statement was not asked for: it is empty. */
  readonly isWithoutSql?: boolean;
  /** True if it holds for this session at this time alone. */
  readonly isMomentary?: boolean;
  /** `EXPLAIN`: the statement is not run but shown, as `explainedRows` has it. */
  readonly isExplained?: boolean;
  /** What it does to the session that runs it, if anything. */
  readonly effects?: readonly SessionEffect[];
}

/**
 * Translates one SELECT. Pure: the same tree, catalog, range and time zone give the same text.
 * @param range applied to the time column of every dataset that is read
 * @param budget what may be spent, and afterwards what was
 * @param given types and values of the parameters, as far as they are known
 * @param needsSql whether the statement is needed where the rows of a query of the catalog are known
 * @param arrivals if the tree is a question about arrivals
 * @throws AppError with one of the `sql_…` codes
 */
export function translate(
  tree: Query,
  catalog: SqlCatalog,
  range: RangeShape,
  budget = new TranslationBudget(),
  given: GivenParameters = noParameters,
  session: CatalogSession = nobody,
  needsSql = true,
  times: TimeSettings = {},
  arrivals: ArrivalQuestion | undefined = undefined,
): Translation {
  const sessionTimes = sessionTimesOf(times);
  if (sessionTimes === undefined) throw new Error(`BUG: no settings: ${JSON.stringify(times)}`);
  try {
    return withBudget(budget, () =>
      withSessionTimes(sessionTimes, () =>
        arrivals === undefined
          ? translateStatement(tree, catalog, range, given, session, needsSql)
          : translateArrivals(tree, arrivals, new Environment(catalog, range, new QueryParameters(given))),
      ),
    );
  } catch (thrown) {
    // What V8 throws for a string that is too long and for a stack that is full.
    if (thrown instanceof RangeError) throw tooComplex();
    throw thrown;
  }
}

/** Where nobody in particular asks. */
const nobody: CatalogSession = {
  user: '',
  database: 'millrace',
  processId: 0,
  startedMs: 0,
  serviceStartedMs: 0,
  clientAddress: undefined,
  settings: [],
  sessions: [],
};

/**
 * A query of the catalog is answered here. One with functions or types that are not known there may be one
 * for the store all the same: what clients ask of `information_schema` goes both ways.
 */
function translateStatement(
  tree: Query,
  catalog: SqlCatalog,
  range: RangeShape,
  given: GivenParameters,
  session: CatalogSession,
  needsSql: boolean,
): Translation {
  if (tree.isExplained === true) {
    const { isExplained: _, ...query } = tree;
    const translation = translateStatement(query, catalog, range, given, session, true);
    return { ...translation, columns: [planColumn], knownRows: undefined, isExplained: true };
  }
  const forStore = (): Translation =>
    translateTree(tree, catalog, range, new QueryParameters(given), session);
  if (!isCatalogQuery(tree)) return forStore();
  try {
    return translateCatalogQuery(
      tree,
      new Environment(catalog, range, new QueryParameters(given)),
      session,
      needsSql,
    );
  } catch (refused) {
    if (!(refused instanceof AppError) || !mayBeForStore.has(refused.code)) throw refused;
    try {
      return forStore();
    } catch (thrown) {
      throw thrown instanceof AppError ? refused : thrown;
    }
  }
}

const planColumn: ResultColumn = { name: 'QUERY PLAN', label: 'QUERY PLAN', type: postgresType(text) };

/** The rows that `EXPLAIN` gives, as a statement and as known rows. */
export function explainedRows(translation: Translation): Translation {
  const lines = ['ClickHouse runs:', translation.sql];
  const texts = lines.map(quoteString).join(', ');
  return {
    ...translation,
    sql: `SELECT arrayJoin([${texts}]) AS ${quoteIdentifier(planColumn.name)}`,
    narrowed: false,
    maxRows: lines.length,
    knownRows: tabSeparated(lines.map((line) => [textCell(line)])),
  };
}

const mayBeForStore: ReadonlySet<string> = new Set(['sql_unsupported', 'sql_unknown_function', 'sql_type']);

function translateCatalogQuery(
  tree: Query,
  env: Environment,
  session: CatalogSession,
  needsSql: boolean,
): Translation {
  const { catalog, parameters } = env;
  const system = new SystemCatalog(visibleData(catalog), session, catalog.version);
  const { query, types, effects, parameterTypes, knownRows } = answerCatalogQuery(
    tree,
    system,
    parameters,
    needsSql,
  );
  const names = uniqueNames(query.columns.map(({ name }) => name));
  const finished = needsSql ? finish(query, names, env) : described(query, names, env, '');
  return {
    ...finished,
    maxRows: knownRows.count,
    isWithoutSql: !needsSql,
    columns: finished.columns.map((column, index) => ({ ...column, type: types[index] ?? column.type })),
    parameters: finished.parameters.map((use, index) => ({
      ...use,
      postgres: parameterTypes.get(index + 1),
    })),
    knownRows,
    isMomentary: system.dependsOnSession,
    effects,
  };
}

function translateTree(
  tree: Query,
  catalog: SqlCatalog,
  range: RangeShape,
  parameters: QueryParameters,
  session: CatalogSession,
): Translation {
  const env = new Environment(catalog, range, parameters, (call, environment) =>
    constantCall(call, environment, session),
  );
  const context = { env, ctes: new Map(), query: resolveQuery };
  const { query } = resolveQuery(tree, context, undefined, false);
  const names = uniqueNames(query.columns.map((column) => column.name));
  const finished = finish(query, names, env);
  return { ...finished, knownRows: env.ctes.length > 0 ? undefined : constantRows(query) };
}

function translateArrivals(tree: Query, question: ArrivalQuestion, env: Environment): Translation {
  const { query } = resolveQuery(tree, { env, ctes: new Map(), query: resolveQuery }, undefined, false);
  const byArrival = arrivalQuery(query, question);
  return finish(byArrival, uniqueNames(byArrival.columns.map(({ name }) => name)), env);
}

function constantCall(call: Call, env: Environment, session: CatalogSession): Expr | undefined {
  const system = new SystemCatalog(visibleData(env.catalog), session, env.catalog.version);
  const answer = answerConstantCall(call, system, env.parameters);
  env.dependsOnSession ||= system.dependsOnSession;
  return answer;
}

const tooComplex = (): Error => sqlError('sql_too_large', 'The query is too complex to be translated');

function finish(query: QueryIr, names: readonly string[], env: Environment): Translation {
  const sql = withGeneratedNames(printStatement(query, names, env.ctes), names);
  if (Buffer.byteLength(sql) > maxStoreSqlLength()) {
    throw sqlError('sql_too_large', tooLargeForStore);
  }
  return described(query, names, env, sql);
}

function described(query: QueryIr, names: readonly string[], env: Environment, sql: string): Translation {
  return {
    sql,
    maxSqlBytes: maxStoreSqlLength(),
    columns: query.columns.map(({ name, type }, index) => ({
      name: names[index] ?? '',
      label: name,
      type: postgresType(type),
    })),
    aggregateColumns:
      query.kind === 'select'
        ? query.items.flatMap((item, index) => (hasAggregate(item) ? (names[index] ?? []) : []))
        : [],
    parameters: env.parameters.uses(),
    fixedParameters: env.parameters.fixed,
    datasets: [...env.datasets],
    narrowed: env.narrowed,
    isMomentary: env.dependsOnSession,
    maxRows: rowBound(query),
  };
}

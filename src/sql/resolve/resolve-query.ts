import { quoteString } from '../../lib/quote.ts';
import type { Cte, FromItem, Query, SetOperation, SortKey, Values } from '../ast.ts';
import { inlinedBy, nothingInlined, spend } from '../budget.ts';
import { apply, columnOf } from '../build.ts';
import { coerce, settle, unify } from '../coerce.ts';
import { hasOneText } from '../functions/json/json-order.ts';
import {
  type CteIr,
  type Expr,
  outputName,
  type QueryIr,
  type SelectIr,
  type SetIr,
  type Sort,
  type ValuesIr,
} from '../ir.ts';
import { relationPaths } from '../relation-names.ts';
import { inPlace, sqlError, unsupported } from '../sql-error.ts';
import { type SqlType, sameType, storeType, text } from '../types.ts';
import type { QueryContext, ResolvedQuery, VisibleCte } from './environment.ts';
import type { ExpressionContext } from './expression-context.ts';
import { isGrouped } from './grouping.ts';
import { rowCounts } from './limit.ts';
import { coerceOutputs, mapOutputs, matchColumns } from './outputs.ts';
import { DistinctRounds } from './recursive-rounds.ts';
import { resolveExpression } from './resolve-expression.ts';
import { emptyFrom, Scope } from './scope.ts';
import { ColumnNames } from './scope-columns.ts';
import { resolveSelect } from './select.ts';

/** A query whose columns all have a type. */
export function resolveQuery(
  query: Query,
  context: QueryContext,
  parent: Scope | undefined,
  correlatable: boolean,
): ResolvedQuery {
  const resolved = inPlace(placeOf(query), () => resolveBranch(query, context, parent, correlatable));
  const types = resolved.query.columns.map(({ type }) => (type.name === 'unknown' ? text : type));
  return { ...resolved, query: coerceOutputs(resolved.query, types) };
}

/** Where a query stands, for refusals that say no place of their own: its first expression. */
function placeOf({ body }: Query): number | undefined {
  if (body.kind === 'set') return placeOf(body.left);
  return body.kind === 'values' ? body.rows[0]?.[0]?.at : body.items[0]?.expression.at;
}

/** A query whose literals may still get their type from another branch of a set operation. */
function resolveBranch(
  query: Query,
  context: QueryContext,
  parent: Scope | undefined,
  correlatable: boolean,
): ResolvedQuery {
  const ctes = resolveCtes(query, context, parent);
  const inner: QueryContext = { ...context, ctes };
  const { body } = query;
  if (body.kind === 'select') return resolveSelect(body, query, inner, parent, correlatable);
  const plain = query.orderBy.length === 0 && query.limit === undefined && query.offset === undefined;
  // In the store a set operation, and what is made of one or of VALUES, cannot name columns of
  // the query around it.
  const resolved =
    body.kind === 'set'
      ? { query: resolveSetOperation(body, inner, parent), correlated: false }
      : resolveValues(body, inner, parent, correlatable && plain);
  return plain ? resolved : { query: ordered(resolved.query, query, inner, parent), correlated: false };
}

function resolveCtes(
  query: Query,
  context: QueryContext,
  parent: Scope | undefined,
): ReadonlyMap<string, VisibleCte> {
  if (query.ctes.length === 0) return context.ctes;
  const ctes = new Map(context.ctes);
  const own = new Set<string>();
  const later = new Set(query.ctes.map(({ name }) => name));
  for (const definition of query.ctes) {
    const { name, columns, at, recursive } = definition;
    later.delete(name);
    const [early] = recursive ? relationPaths(definition.query).filter((path) => isNameIn(later, path)) : [];
    if (early !== undefined) {
      throw unsupported(
        `A reference to the WITH query "${early[0]}" in one before it, or mutual recursion,`,
        at,
      );
    }
    if (own.has(name))
      throw sqlError('sql_ambiguous', `WITH query name "${name}" specified more than once`, at);
    own.add(name);
    const { result: cte, inlined } = inlinedBy(() => resolveCte(definition, { ...context, ctes }, parent));
    if (columns.length > cte.query.columns.length) {
      throw sqlError(
        'sql_syntax',
        `WITH query "${name}" has ${cte.query.columns.length} columns, not ${columns.length}`,
        at,
      );
    }
    context.env.ctes.push(cte);
    const names = cte.query.columns.map((column) => column.name);
    ctes.set(name, { cte, names: new ColumnNames(names).renamed(columns), inlined });
  }
  return ctes;
}

function resolveCte(
  { name, columns, query, recursive, at }: Cte,
  context: QueryContext,
  parent: Scope | undefined,
): CteIr {
  const generated = context.env.cteName();
  const { body } = query;
  const plain = (): CteIr => ({
    name: generated,
    query: resolveQuery(query, context, parent, false).query,
    recursive: false,
  });
  if (!recursive || !isRead(name, query)) return plain();
  if (body.kind !== 'set' || body.operator !== 'UNION') {
    throw sqlError(
      'sql_recursion',
      `recursive query "${name}" does not have the form non-recursive-term UNION [ALL] recursive-term`,
      at,
    );
  }
  if (isRead(name, body.left)) {
    const where = 'within its non-recursive term';
    throw sqlError('sql_recursion', `recursive reference to query "${name}" must not appear ${where}`, at);
  }
  if (!isRead(name, body.right)) return plain();
  checkSelfReference(name, body.right, at);
  if (
    query.orderBy.length > 0 ||
    query.limit !== undefined ||
    query.offset !== undefined ||
    query.ctes.length > 0
  ) {
    throw unsupported('ORDER BY, LIMIT, OFFSET or WITH in a recursive query', at);
  }
  const left = resolveQuery(body.left, context, parent, false).query;
  const self = { name: generated, query: left, recursive: true };
  const names = new ColumnNames(left.columns.map((column) => column.name));
  const rounds = body.all ? undefined : new DistinctRounds(generated, left.columns, context.env);
  // The number of its columns is checked when it is complete.
  const visible = {
    cte: self,
    names: names.renamed(columns.slice(0, names.list.length)),
    inlined: nothingInlined,
    ...(rounds === undefined ? {} : { rows: rounds.rows() }),
  };
  const inner = new Map(context.ctes).set(name, visible);
  const right = resolveQuery(body.right, { ...context, ctes: inner }, parent, false).query;
  if (right.kind === 'select' && isGrouped(right)) {
    const what = `aggregate functions are not allowed in a recursive query's recursive term`;
    throw sqlError('sql_recursion', what, at);
  }
  const union = recursiveUnion(left, right, name, at);
  if (rounds === undefined) return { ...self, query: union };
  context.env.ctes.push(rounds.all(union));
  return { name: context.env.cteName(), query: rounds.rows(), recursive: false };
}

const isNameIn = (names: ReadonlySet<string>, path: readonly string[]): boolean =>
  path.length === 1 && names.has(path[0] ?? '');

const isRead = (name: string, part: Parameters<typeof relationPaths>[0]): boolean =>
  relationPaths(part).some((path) => path.length === 1 && path[0] === name);

/**
 * PostgreSQL allows one reference, in FROM. Through a WITH it can be read several times, of which the store
 * would read the first rows alone.
 */
function checkSelfReference(name: string, right: Query, at: number | undefined): void {
  if (isReadInWith(name, right)) {
    throw unsupported('A recursive query that reads its own rows in a WITH of its second part', at);
  }
  const mustNot = (what: string): Error =>
    sqlError('sql_recursion', `recursive reference to query "${name}" must not appear ${what}`, at);
  const isOwn = (path: readonly string[]): boolean => path.length === 1 && path[0] === name;
  if (relationPaths(right).filter(isOwn).length > 1) throw mustNot('more than once');
  const { body } = right;
  if (body.kind === 'set') {
    if (body.operator !== 'UNION') throw mustNot(`within ${body.operator}`);
    return;
  }
  if (body.kind !== 'select') return;
  if (!body.from.some((item) => isRead(name, item))) throw mustNot('within a subquery');
  if (body.from.some((item) => isInOuterJoin(name, item))) throw mustNot('within an outer join');
}

/** On a side of an outer join that is filled up with NULLs. */
function isInOuterJoin(name: string, item: FromItem): boolean {
  if (item.kind !== 'join') return false;
  const { type, left, right } = item;
  if ((type === 'LEFT' || type === 'FULL') && isRead(name, right)) return true;
  if ((type === 'RIGHT' || type === 'FULL') && isRead(name, left)) return true;
  return isInOuterJoin(name, left) || isInOuterJoin(name, right);
}

/** In a WITH that a query begins with, or one of its branches. */
const isReadInWith = (name: string, { ctes, body }: Query): boolean =>
  ctes.some((cte) => isRead(name, cte.query)) ||
  (body.kind === 'set' && (isReadInWith(name, body.left) || isReadInWith(name, body.right)));

/** The store takes the types of a recursive query from its first rows, so each column says its own. */
function recursiveUnion(left: QueryIr, right: QueryIr, name: string, at: number | undefined): SetIr {
  const types = left.columns.map((column) => column.type);
  const matched = matchColumns(left, right, 'UNION');
  if (matched.some((type, index) => !sameType(type, types[index] ?? type))) {
    throw sqlError(
      'sql_type',
      `recursive query "${name}" has other types in its first part; casts are needed`,
      at,
    );
  }
  const typed = (query: QueryIr): QueryIr =>
    mapOutputs(query, types, (expr, type) => asStored(coerce(expr, type, at), type));
  return {
    kind: 'set',
    columns: left.columns,
    operator: 'UNION',
    all: true,
    left: typed(left),
    right: typed(right),
  };
}

function asStored(expr: Expr, type: SqlType): Expr {
  const stored =
    type.name === 'array' || type.name === 'map' ? storeType(type) : `Nullable(${storeType(type)})`;
  return apply(`as ${stored}`, type, (a) => `CAST(${a}, ${quoteString(stored)})`, expr);
}

function resolveSetOperation(body: SetOperation, context: QueryContext, parent: Scope | undefined): SetIr {
  const { operator, all } = body;
  spend('setOperations');
  const left = resolveBranch(body.left, context, parent, false).query;
  const right = resolveBranch(body.right, context, parent, false).query;
  const types = matchColumns(left, right, operator);
  const columns = left.columns.map((column, index) => ({ ...column, type: types[index] ?? column.type }));
  return {
    kind: 'set',
    columns,
    operator,
    all,
    left: all ? coerceOutputs(left, types) : withOneText(coerceOutputs(left, types)),
    right: all ? coerceOutputs(right, types) : withOneText(coerceOutputs(right, types)),
  };
}

/** Rows of `jsonb` are compared as texts, so each value must have one alone. */
function withOneText(query: QueryIr): QueryIr {
  const types = query.columns.map(({ type }) => type);
  if (types.every(({ name }) => name !== 'jsonb')) return query;
  return mapOutputs(query, types, (expr, type) =>
    type.name === 'jsonb'
      ? apply('key of jsonb', type, (ok, a) => `if(${ok}, ${a}, NULL)`, hasOneText(expr), expr)
      : expr,
  );
}

function resolveValues(
  body: Values,
  context: QueryContext,
  parent: Scope | undefined,
  correlatable: boolean,
): ResolvedQuery {
  const scope = new Scope(emptyFrom, parent, correlatable);
  const expressionContext = plainContext(context, scope);
  spend('outputColumns', body.rows[0]?.length ?? 0);
  const rows = body.rows.map((row) => row.map((value) => resolveExpression(value, expressionContext)));
  const width = rows[0]?.length ?? 0;
  if (rows.some((row) => row.length !== width)) {
    throw sqlError('sql_syntax', 'VALUES lists must all be the same length');
  }
  const unified = Array.from({ length: width }, (_, index) =>
    unify(
      rows.flatMap((row) => row.slice(index, index + 1)),
      'VALUES',
      undefined,
    ),
  );
  const query: ValuesIr = {
    kind: 'values',
    columns: unified.map(({ type }, index) => ({ name: `column${index + 1}`, type })),
    rows: rows.map((_, row) => unified.flatMap(({ exprs }) => exprs.slice(row, row + 1))),
  };
  return { query, correlated: scope.correlated };
}

/** Of expressions that stand beside no SELECT. */
const plainContext = (context: QueryContext, scope: Scope): ExpressionContext => ({
  ...context,
  scope,
  clause: 'VALUES',
  allowAggregates: false,
  allowWindows: false,
  windows: new Map(),
  resolve: resolveExpression,
});

/** A set operation or VALUES with ORDER BY and LIMIT around it, by output columns only. */
function ordered(ir: QueryIr, query: Query, queryContext: QueryContext, parent: Scope | undefined): SelectIr {
  const context = plainContext(queryContext, new Scope(emptyFrom, parent, false));
  const alias = context.env.alias();
  spend('sortKeys', query.orderBy.length, query.orderBy[0]?.expression.at);
  spend('outputColumns', ir.columns.length);
  const items = ir.columns.map(
    ({ name, type }, index): Expr => columnOf(alias, outputName(index), type, name),
  );
  return {
    kind: 'select',
    columns: ir.columns,
    distinct: false,
    distinctOn: [],
    items,
    from: { kind: 'derived', alias, query: ir },
    where: undefined,
    groupingSets: [],
    having: undefined,
    orderBy: outputSorts(query.orderBy, ir, items),
    ...rowCounts(query, context),
  };
}

function outputSorts(keys: readonly SortKey[], ir: QueryIr, items: readonly Expr[]): readonly Sort[] {
  const places = new Map<string, number>();
  for (const [place, { name }] of ir.columns.entries()) if (!places.has(name)) places.set(name, place);
  return keys.map((key) => outputSort(key, places, items));
}

function outputSort(key: SortKey, places: ReadonlyMap<string, number>, items: readonly Expr[]): Sort {
  const { expression, descending, nullsFirst } = key;
  const index =
    expression.kind === 'column' && expression.path.length === 1
      ? (places.get(expression.path[0] ?? '') ?? -1)
      : expression.kind === 'constant' && expression.type === 'integer'
        ? Number(expression.text) - 1
        : undefined;
  if (index === undefined) {
    throw unsupported('ORDER BY an expression after UNION, INTERSECT, EXCEPT or VALUES', expression.at);
  }
  const expr = items[index];
  if (expr === undefined) {
    throw sqlError('sql_bad_reference', 'ORDER BY is not a column of the result', expression.at);
  }
  if (expr.type.name === 'array') throw unsupported('ORDER BY an array', expression.at);
  return { expr: settle(expr, expression.at), descending, nullsFirst };
}

import type { Expression, Query, Select, SelectItem, SortKey } from '../ast.ts';
import { spend } from '../budget.ts';
import { allOf, children, some } from '../build.ts';
import { condition, settle } from '../coerce.ts';
import { exprKey } from '../expr-key.ts';
import { hasOneText } from '../functions/json/json-order.ts';
import type { Expr, SelectIr, Sort } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { QueryContext, ResolvedQuery } from './environment.ts';
import type { ExpressionContext } from './expression-context.ts';
import { resolveFrom } from './from.ts';
import { checkGrouping, hasAggregate, isAggregate, isGroupingCall, withoutGrouping } from './grouping.ts';
import { GroupingKeys, type GroupKey, havingAnyRows } from './grouping-keys.ts';
import { rowCounts } from './limit.ts';
import { withNearColumns } from './near-columns.ts';
import { outputColumnName } from './output-name.ts';
import { placeSubqueries } from './place-subqueries.ts';
import { conjuncts, pushIntoReads } from './pushdown.ts';
import { isTwoPartIn } from './quantified-subquery.ts';
import { resolveExpression } from './resolve-expression.ts';
import { emptyFrom, Scope } from './scope.ts';
import { checkSets } from './set-returning-calls.ts';
import { windowsInStages } from './window-stages.ts';

/** An output column with the name by which ORDER BY and GROUP BY may mean it. */
interface Item {
  readonly name: string;
  /** As it is written; undefined for a column of a star. */
  readonly expression?: Expression;
  readonly expr: Expr;
  readonly at: number | undefined;
}

/** Output columns by their names. */
class NamedItems {
  readonly items: readonly Item[];
  readonly #named = new Map<string, Item | 'several'>();

  constructor(items: readonly Item[]) {
    this.items = items;
    for (const item of items) {
      const other = this.#named.get(item.name);
      if (other === undefined) this.#named.set(item.name, item);
      else if (other !== 'several' && exprKey(other.expr) !== exprKey(item.expr))
        this.#named.set(item.name, 'several');
    }
  }

  /** `several` for different ones. */
  named(name: string): Item | 'several' | undefined {
    return this.#named.get(name);
  }
}

/** A SELECT with its ORDER BY and LIMIT. */
export function resolveSelect(
  select: Select,
  query: Query,
  context: QueryContext,
  parent: Scope | undefined,
  correlatable: boolean,
): ResolvedQuery {
  const base = {
    ...context,
    windows: select.windows,
    resolve: resolveExpression,
    clause: 'FROM',
    allowAggregates: false,
    allowWindows: false,
  };
  const from = resolveFrom(select.from, { ...base, parent });
  const scope = new Scope(from?.scope ?? emptyFrom, parent, correlatable);
  const inClause = (clause: string, aggregates: boolean, windows: boolean): ExpressionContext => ({
    ...base,
    scope,
    clause,
    allowAggregates: aggregates,
    allowWindows: windows,
  });
  const whereContext = inClause('WHERE', false, false);
  const ofJoins = (from?.conditions ?? []).map(twoValued);
  // Their subqueries were resolved over the names of the join.
  scope.hasCorrelatedSubqueries ||= ofJoins.length > 0;
  const where = [...ofJoins, ...(select.where === undefined ? [] : resolveWhere(select.where, whereContext))];
  const selectContext = inClause('SELECT', true, true);
  const given = select.items.flatMap((item) => resolveItem(item, selectContext));
  const groupContext = inClause('GROUP BY', false, false);
  const grouping = groupingKeys(select, given, groupContext);
  const items = given.map((item, place) => ({ ...item, expr: grouping.item(item.expr, place) }));
  const named = new NamedItems(items);
  const havingContext = inClause('HAVING', true, false);
  const having =
    select.having &&
    condition(havingContext.resolve(select.having, havingContext), 'HAVING', select.having.at);
  const orderContext = inClause('ORDER BY', true, true);
  spend('sortKeys', query.orderBy.length, query.orderBy[0]?.expression.at);
  spend('sortKeys', select.distinctOn.length, select.distinctOn[0]?.at);
  const distinctKeys = select.distinctOn.map(
    (key): Item => ({
      name: '',
      expression: key,
      expr: outputExpr(key, named, named.items, orderContext, 'DISTINCT ON'),
      at: key.at,
    }),
  );
  const written = [...named.items, ...distinctKeys];
  const orderBy = query.orderBy
    .map((key) => resolveOrderKey(key, named, written, orderContext))
    .map((sort) => ({ ...sort, expr: grouping.within(sort.expr) }));
  const distinctOn = distinctKeys.map(({ expr }) => grouping.within(expr));
  checkDistinctKeys(distinctOn, grouping.sets, select.distinctOn[0]?.at);
  const sorted = [...orderBy, ...(select.distinct ? items : [])];
  if (sorted.some(({ expr }) => grouping.isTwin(expr))) {
    throw unsupported('ORDER BY and DISTINCT of a column that is twice a key of several grouping sets');
  }
  const pushed = from && pushIntoReads(from.ir, where);
  const ir: SelectIr = {
    kind: 'select',
    columns: items.map(({ name, expr }) => ({ name, type: expr.type })),
    distinct: select.distinct,
    distinctOn,
    items: items.map((item) => item.expr),
    from: pushed?.from,
    where: allOf([
      ...(pushed?.where ?? where),
      ...keyConditions(select.distinct, items, grouping, distinctOn),
    ]),
    groupingSets: grouping.sets,
    having: having && grouping.within(having),
    orderBy,
    ...rowCounts(query, orderContext),
  };
  checkGrouping(ir, items);
  checkDistinctOrder(ir, query.orderBy);
  checkSets(ir);
  const total = withTotalRow(withoutGrouping(ir));
  const whole = scope.hasCorrelatedSubqueries ? withNearColumns(total) : total;
  const placed = scope.hasCorrelatedSubqueries
    ? placeSubqueries(whole, context.env, scope.correlated)
    : whole;
  return { query: windowsInStages(placed, context.env), correlated: scope.correlated };
}

function groupingKeys(select: Select, items: readonly Item[], context: ExpressionContext): GroupingKeys {
  const named = new NamedItems(items);
  return new GroupingKeys(
    select.groupingSets.map((keys) =>
      keys.map((key): GroupKey => {
        const item = itemOfGroupKey(key, named, context);
        if (item === undefined) return { expr: settle(context.resolve(key, context), key.at), item };
        return { expr: settle(item.expr, key.at), item: items.indexOf(item) };
      }),
    ),
    items.map(({ expr }) => expr),
  );
}

/** Keys of `jsonb` are compared as texts, so each value must have one alone. */
function keyConditions(
  distinct: boolean,
  items: readonly Item[],
  grouping: GroupingKeys,
  distinctOn: readonly Expr[],
): readonly Expr[] {
  const keys = [...grouping.sets.flat(), ...distinctOn, ...(distinct ? items.map(({ expr }) => expr) : [])];
  if (keys.some(({ type }) => type.name === 'record'))
    throw unsupported('GROUP BY and DISTINCT of whole rows');
  const ofJson = new Map(keys.filter(({ type }) => type.name === 'jsonb').map((key) => [exprKey(key), key]));
  for (const key of ofJson.values())
    if (hasAggregate(key)) throw unsupported('DISTINCT of jsonb that an aggregate gives');
  return [...ofJson.values()].map(hasOneText);
}

/** The row of all rows, of which there is one even where there are none, also if nothing is aggregated. */
function withTotalRow(ir: SelectIr): SelectIr {
  // Without either, only an aggregate makes it a grouped query.
  if (ir.groupingSets.length === 0 && ir.having === undefined) return ir;
  const hasTotal = ir.groupingSets.length === 0 || ir.groupingSets.some((keys) => keys.length === 0);
  const { items, having, orderBy, distinctOn } = ir;
  const [only, second] = ir.groupingSets;
  const isOneRow = only === undefined || (only.length === 0 && second === undefined);
  // With several sets or HAVING, the store forgets it also where a query around this one uses no aggregate.
  const outputs =
    isOneRow && having === undefined ? [...items, ...orderBy.map(({ expr }) => expr), ...distinctOn] : [];
  const exprs = [...outputs, ...(having ? [having] : [])];
  const isAggregated = exprs.some((expr) => some(expr, (each) => isAggregate(each) && !isGroupingCall(each)));
  if (!hasTotal) return ir;
  if (isAggregated) return isOneRow ? { ...ir, groupingSets: [] } : ir;
  return { ...ir, groupingSets: isOneRow ? [] : ir.groupingSets, having: havingAnyRows(having) };
}

/**
 * The conditions that must all hold. In each, NULL counts as false, so an `IN (subquery)` that is one
 * needs no third value.
 */
function resolveWhere(expression: Expression, context: ExpressionContext): readonly Expr[] {
  const where = condition(context.resolve(expression, context), 'WHERE', expression.at);
  return conjuncts(where).map(twoValued);
}

function twoValued(part: Expr): Expr {
  if (part.kind === 'subquery') return { ...part, threeValued: false };
  return (isTwoPartIn(part) ? children(part)[0] : undefined) ?? part;
}

function resolveItem(item: SelectItem, context: ExpressionContext): readonly Item[] {
  const { expression, alias } = item;
  const { at } = expression;
  if (expression.kind === 'star') {
    const { relation } = expression;
    const columns = relation === undefined ? context.scope.star() : context.scope.starOf(relation, at);
    const items: Item[] = [];
    for (const { name, expr } of columns) {
      spend('outputColumns', 1, at);
      items.push({ name, expr: settle(expr(), at), at });
    }
    if (items.length > 0) return items;
    throw sqlError('sql_syntax', 'SELECT * with no tables specified is not valid', at);
  }
  spend('outputColumns', 1, at);
  const expr = context.resolve(expression, context);
  const settled = expr.type.name === 'mixed' ? settle(expr, at) : expr;
  const name = alias ?? outputColumnName(expression, context.env.subqueryNames);
  return [{ name, expression, expr: settled, at }];
}

/** An expression, a column, the number of an output column, or, if no column has that name, its alias. */
function itemOfGroupKey(key: Expression, items: NamedItems, context: ExpressionContext): Item | undefined {
  const item =
    itemByNumber(key, items, 'GROUP BY') ??
    itemByName(key, items, context.scope) ??
    itemBySubquery(key, items.items);
  if (item === undefined || !hasAggregate(item.expr)) return item;
  throw sqlError('sql_grouping', 'aggregate functions are not allowed in GROUP BY', key.at);
}

/** The name of an output column, its number, or an expression over the columns of FROM. */
function resolveOrderKey(
  key: SortKey,
  items: NamedItems,
  written: readonly Item[],
  context: ExpressionContext,
): Sort {
  const { expression, descending, nullsFirst } = key;
  return { expr: outputExpr(expression, items, written, context, 'ORDER BY'), descending, nullsFirst };
}

/** @param written what an expression with a subquery may repeat */
function outputExpr(
  key: Expression,
  items: NamedItems,
  written: readonly Item[],
  context: ExpressionContext,
  clause: string,
): Expr {
  const item =
    itemByNumber(key, items, clause) ?? itemByName(key, items, undefined) ?? itemBySubquery(key, written);
  const expr = settle(item?.expr ?? context.resolve(key, context), key.at);
  if (expr.type.name === 'record') throw unsupported(`${clause} a whole row`, key.at);
  return expr;
}

function itemByNumber(key: Expression, { items }: NamedItems, clause: string): Item | undefined {
  if (key.kind !== 'constant') return undefined;
  if (key.type !== 'integer') throw sqlError('sql_syntax', `non-integer constant in ${clause}`, key.at);
  const item = items[Number(key.text) - 1];
  if (item === undefined) {
    throw sqlError('sql_bad_reference', `${clause} position ${key.text} is not in select list`, key.at);
  }
  return item;
}

function itemByName(key: Expression, items: NamedItems, columnsFirst: Scope | undefined): Item | undefined {
  const [name, more] = key.kind === 'column' ? key.path : [];
  if (name === undefined || more !== undefined) return undefined;
  if (columnsFirst?.own(name, key.at) !== undefined) return undefined;
  const item = items.named(name);
  if (item !== 'several') return item;
  throw sqlError('sql_ambiguous', `column reference "${name}" is ambiguous`, key.at);
}

/** A subquery is written out in each place; one that is written like that of an output column is the same. */
function itemBySubquery(key: Expression, items: readonly Item[]): Item | undefined {
  if (key.kind === 'column' || key.kind === 'constant') return undefined;
  const written = JSON.stringify(key, withoutPlaces);
  spend('steps', written.length);
  if (!/"kind":"(?:[a-z]+ subquery|exists)"/.test(written)) return undefined;
  return items.find(({ expression }) => {
    if (expression?.kind !== key.kind) return false;
    const other = JSON.stringify(expression, withoutPlaces);
    spend('steps', other.length);
    return other === written;
  });
}

const withoutPlaces = (name: string, value: unknown): unknown => (name === 'at' ? undefined : value);

/** There the store computes a key of which another one is a part from that one, though it is NULL. */
function checkDistinctKeys(
  distinctOn: readonly Expr[],
  sets: readonly (readonly Expr[])[],
  at: number | undefined,
): void {
  if (sets.length < 2 || distinctOn.length === 0) return;
  const keys = new Set(sets.flat().map(exprKey));
  const isKey = (expr: Expr): boolean => keys.has(exprKey(expr));
  if (distinctOn.some((expr) => isKey(expr) && children(expr).some((part) => some(part, isKey))))
    throw unsupported('DISTINCT ON a key of several grouping sets of which another key is a part', at);
}

function checkDistinctOrder(ir: SelectIr, keys: readonly SortKey[]): void {
  const allowed = ir.distinct ? ir.items : ir.distinctOn;
  if (allowed.length === 0 || ir.orderBy.length === 0) return;
  // A literal has the type of a text there.
  const names = new Set(allowed.map((expr) => exprKey(settle(expr, undefined))));
  const other = ir.orderBy.findIndex((sort) => !names.has(exprKey(sort.expr)));
  if (other < 0) return;
  const leading = new Set(ir.orderBy.slice(0, other).map((sort) => exprKey(sort.expr)));
  // ORDER BY of DISTINCT ON begins with its expressions; what follows chooses the row.
  if (!ir.distinct && [...names].every((name) => leading.has(name))) return;
  throw sqlError(
    'sql_bad_reference',
    ir.distinct
      ? 'for SELECT DISTINCT, ORDER BY expressions must appear in select list'
      : 'SELECT DISTINCT ON expressions must match initial ORDER BY expressions',
    keys[other]?.expression.at,
  );
}

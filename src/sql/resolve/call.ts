import type { Call, SortKey, Window } from '../ast.ts';
import { spend } from '../budget.ts';
import { some } from '../build.ts';
import { condition, settle } from '../coerce.ts';
import { callAggregate } from '../functions/aggregates/aggregate-call.ts';
import { aggregateFunctions } from '../functions/aggregates/aggregates.ts';
import { windowFunctions } from '../functions/aggregates/windows.ts';
import { type CallSite, callOverload, type SpecialForm } from '../functions/definition.ts';
import { findFunction, functionNames } from '../functions/function-table.ts';
import { findSetFunction, rowsOf } from '../functions/set-returning.ts';
import type { Expr, Sort, WindowSpec } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { suggestion } from '../suggestions.ts';
import type { ExpressionContext } from './expression-context.ts';
import { framed } from './frame.ts';

/** A call by its name: an aggregate, a window function or a scalar function of the tables. */
export function resolveCall(call: Call, context: ExpressionContext): Expr {
  const site: CallSite = { name: call.name, at: call.at };
  if (Object.hasOwn(aggregateFunctions, call.name)) return resolveAggregate(call, context, site);
  if (Object.hasOwn(windowFunctions, call.name)) return resolveWindowFunction(call, context, site);
  if (call.over !== undefined) {
    throw sqlError('sql_unknown_function', `${call.name} is no window function and no aggregate`, call.at);
  }
  if (call.star || call.distinct || call.filter !== undefined || hasOrder(call)) {
    throw sqlError('sql_unknown_function', `${call.name} is no aggregate`, call.at);
  }
  const definition = findFunction(call.name);
  const rows = findSetFunction(call.name);
  if (rows !== undefined) return resolveRows(call, rows, context, site);
  const known = definition === undefined ? context.env.constantCall(call) : undefined;
  if (known !== undefined) return known;
  if (definition === undefined) {
    throw sqlError(
      'sql_unknown_function',
      `function ${call.name} does not exist or is not allowed${suggestion(call.name, functionNames)}`,
      call.at,
    );
  }
  const args = call.args.map((arg) => context.resolve(arg, context));
  return typeof definition === 'function' ? definition(args, site) : callOverload(definition, args, site);
}

const clausesWithRows: ReadonlySet<string> = new Set(['SELECT', 'GROUP BY', 'ORDER BY']);

/** `SELECT unnest(…)`; whether the rest of the query allows it is seen when all of it is known. */
function resolveRows(call: Call, form: SpecialForm, context: ExpressionContext, site: CallSite): Expr {
  if (!clausesWithRows.has(context.clause)) {
    throw unsupported(`${call.name}, which gives rows, in ${context.clause}`, call.at);
  }
  return rowsOf(
    form(
      call.args.map((arg) => context.resolve(arg, context)),
      site,
    ),
  );
}

const hasOrder = (call: Call): boolean => call.withinGroup.length > 0 || call.orderBy.length > 0;

function resolveAggregate(call: Call, context: ExpressionContext, site: CallSite): Expr {
  const definition = aggregateFunctions[call.name];
  const windowed = call.over !== undefined;
  if (definition === undefined) throw sqlError('sql_unknown_function', `no aggregate ${call.name}`, call.at);
  if (windowed ? !context.allowWindows : !context.allowAggregates) {
    const what = windowed ? 'window functions' : 'aggregate functions';
    throw sqlError('sql_grouping', `${what} are not allowed in ${context.clause}`, call.at);
  }
  if (windowed && call.orderBy.length > 0) throw unsupported('ORDER BY in a window function', call.at);
  if (windowed && call.distinct) throw unsupported('DISTINCT in a window function', call.at);
  // Inside a window function the arguments may be aggregates; inside an aggregate they may not.
  const inner: ExpressionContext = windowed
    ? { ...context, clause: 'a window function', allowWindows: false }
    : { ...context, clause: 'an aggregate function', allowAggregates: false, allowWindows: false };
  spend('sortKeys', call.withinGroup.length + call.orderBy.length, call.at);
  const args = call.args.map((arg) => context.resolve(arg, inner));
  if (
    args.length > 0 &&
    args.some((arg) => some(arg, isOuterColumn)) &&
    !args.some((arg) => some(arg, isOwnColumn))
  ) {
    throw unsupported('An aggregate over columns of an outer query', call.at);
  }
  return callAggregate(
    definition,
    {
      args,
      star: call.star,
      distinct: call.distinct,
      filter: call.filter && condition(context.resolve(call.filter, inner), 'FILTER', call.filter.at),
      withinGroup: call.withinGroup.map((key) => resolveSort(key, inner)),
      orderBy: call.orderBy.map((key) => resolveSort(key, inner)),
      over: call.over && resolveWindow(call.over, context),
    },
    site,
  );
}

const isOuterColumn = (expr: Expr): boolean => expr.kind === 'column' && expr.outer;
const isOwnColumn = (expr: Expr): boolean => expr.kind === 'column' && !expr.outer;

function resolveWindowFunction(call: Call, context: ExpressionContext, site: CallSite): Expr {
  const form = windowFunctions[call.name];
  if (form === undefined || call.over === undefined) {
    throw sqlError('sql_unknown_function', `window function ${call.name} requires an OVER clause`, call.at);
  }
  if (!context.allowWindows) {
    throw sqlError('sql_grouping', `window functions are not allowed in ${context.clause}`, call.at);
  }
  if (call.distinct || call.star || call.filter !== undefined || hasOrder(call)) {
    throw unsupported(`DISTINCT, FILTER and ORDER BY for ${call.name}`, call.at);
  }
  const inner: ExpressionContext = { ...context, clause: 'a window function', allowWindows: false };
  const args = call.args.map((arg) => context.resolve(arg, inner));
  return form(args, resolveWindow(call.over, context), site);
}

/** A sort key that is an expression; ORDER BY of a query has more forms. */
function resolveSort(key: SortKey, context: ExpressionContext): Sort {
  const { descending, nullsFirst, expression } = key;
  return { expr: settle(context.resolve(expression, context), expression.at), descending, nullsFirst };
}

function resolveWindow(window: Window, context: ExpressionContext): WindowSpec {
  if (window.reference !== undefined) {
    const named = context.windows.get(window.reference);
    if (named !== undefined) return resolveWindow(named, context);
    throw sqlError('sql_syntax', `window "${window.reference}" does not exist`);
  }
  spend('sortKeys', window.partitionBy.length + window.orderBy.length);
  const inner: ExpressionContext = { ...context, clause: 'a window definition', allowWindows: false };
  const partitionBy = window.partitionBy.map((key) => settle(context.resolve(key, inner), key.at));
  const orderBy = window.orderBy.map((key) => resolveSort(key, inner));
  return window.frame === undefined
    ? { partitionBy, orderBy, frame: undefined }
    : framed(window.frame, partitionBy, orderBy, inner);
}

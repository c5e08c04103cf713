import type { Call, SortKey, Window } from '../ast.ts';
import { spend } from '../budget.ts';
import { some } from '../build.ts';
import { condition, settle } from '../coerce.ts';
import { callAggregate } from '../functions/aggregates/aggregate-call.ts';
import { aggregateFunctions } from '../functions/aggregates/aggregates.ts';
import { mergedParts } from '../functions/aggregates/frame-parts.ts';
import { windowFunctions } from '../functions/aggregates/windows.ts';
import { type CallSite, callOverload, type SpecialForm } from '../functions/definition.ts';
import { findFunction, functionNames } from '../functions/function-table.ts';
import { findSetFunction, rowsOf } from '../functions/set-returning.ts';
import type { Expr, Sort } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { suggestion } from '../suggestions.ts';
import type { ExpressionContext } from './expression-context.ts';
import { type FramedWindow, framed } from './frame.ts';

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
  const window = call.over && resolveWindow(call.over, context);
  const called = callAggregate(
    definition,
    {
      args,
      star: call.star,
      distinct: call.distinct,
      filter: call.filter && condition(context.resolve(call.filter, inner), 'FILTER', call.filter.at),
      withinGroup: call.withinGroup.map((key) => resolveSort(key, inner)),
      orderBy: call.orderBy.map((key) => resolveSort(key, inner)),
      over: window?.over,
    },
    site,
  );
  return window?.parts === undefined ? called : mergedParts(called, window.parts, site);
}

const isOuterColumn = (expr: Expr): boolean => expr.kind === 'column' && expr.outer;
const isOwnColumn = (expr: Expr): boolean => expr.kind === 'column' && !expr.outer;

function resolveWindowFunction(call: Call, context: ExpressionContext, site: CallSite): Expr {
  const form = windowFunctions[call.name];
  if (call.withinGroup.length > 0) {
    throw unsupported(`${call.name} as a hypothetical-set aggregate (WITHIN GROUP)`, call.at);
  }
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
  const { over, parts } = resolveWindow(call.over, context);
  // Functions of the whole partition look at no frame.
  if (parts !== undefined && framedFunctions.has(call.name)) {
    throw unsupported(`EXCLUDE in the frame of ${call.name}`, call.at);
  }
  return form(args, over, site);
}

const framedFunctions: ReadonlySet<string> = new Set(['first_value', 'last_value', 'nth_value']);

/** A sort key that is an expression; ORDER BY of a query has more forms. */
function resolveSort(key: SortKey, context: ExpressionContext): Sort {
  const { descending, nullsFirst, expression } = key;
  return { expr: settle(context.resolve(expression, context), expression.at), descending, nullsFirst };
}

function resolveWindow(window: Window, context: ExpressionContext): FramedWindow {
  const { partitionBy: partition, orderBy: order, frame, at } = refined(window, context);
  spend('sortKeys', partition.length + order.length, at);
  const inner: ExpressionContext = { ...context, clause: 'a window definition', allowWindows: false };
  const partitionBy = partition.map((key) => settle(context.resolve(key, inner), key.at));
  const orderBy = order.map((key) => resolveSort(key, inner));
  return frame === undefined
    ? { over: { partitionBy, orderBy, frame: undefined }, parts: undefined }
    : framed(frame, partitionBy, orderBy, inner);
}

/** The window with what it takes from those of the WINDOW clause that it names. */
function refined(window: Window, context: ExpressionContext): Window {
  spend('steps');
  const { at } = window;
  if (window.reference !== undefined) return refined(namedWindow(window.reference, at, context), context);
  if (window.base === undefined) return window;
  const base = refined(namedWindow(window.base, at, context), context);
  const cannot = (what: string): Error => sqlError('sql_window', `cannot ${what}`, at);
  if (window.partitionBy.length > 0) throw cannot(`override PARTITION BY clause of window "${window.base}"`);
  if (window.orderBy.length > 0 && base.orderBy.length > 0)
    throw cannot(`override ORDER BY clause of window "${window.base}"`);
  if (base.frame !== undefined) throw cannot(`copy window "${window.base}" because it has a frame clause`);
  const orderBy = window.orderBy.length > 0 ? window.orderBy : base.orderBy;
  return { ...window, base: undefined, partitionBy: base.partitionBy, orderBy };
}

function namedWindow(name: string, at: number | undefined, { windows }: ExpressionContext): Window {
  const window = windows.get(name);
  if (window !== undefined) return window;
  throw sqlError('sql_syntax', `window "${name}" does not exist`, at);
}

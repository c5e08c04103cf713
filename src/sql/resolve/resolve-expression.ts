import type { Expression } from '../ast.ts';
import { spend } from '../budget.ts';
import { and, apply, literal, not, or } from '../build.ts';
import { condition, convert, settle, typedParameter, unify } from '../coerce.ts';
import { arrayElement, arrayLiteral, arraySlice, quantified } from '../functions/arrays/arrays.ts';
import { type CaseBranch, caseOf } from '../functions/conditional.ts';
import type { CallSite } from '../functions/definition.ts';
import { callOperator, compare, labelOf } from '../functions/operators.ts';
import { asRow, rowOf } from '../functions/rows.ts';
import type { Expr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { numberLiteral } from '../syntax/literals.ts';
import { callOf } from '../syntax/read-operator.ts';
import { arrayOf, bool, commonType, typeLabel, unknown } from '../types.ts';
import { resolveCall } from './call.ts';
import type { ExpressionContext } from './expression-context.ts';
import { groupingCall } from './grouping.ts';
import { resolveQuantifiedSubquery } from './quantified-subquery.ts';
import { resolveArraySubquery, resolveExists, resolveScalarSubquery } from './subquery.ts';
import { castTo } from './type-names.ts';

/** Gives an expression its names and types. The result may still be `unknown` or `mixed` by type. */
export function resolveExpression(expression: Expression, context: ExpressionContext): Expr {
  const resolve = (each: Expression): Expr => context.resolve(each, context);
  const conditionOf = (each: Expression, clause: string): Expr => condition(resolve(each), clause, each.at);
  const { at } = expression;
  switch (expression.kind) {
    case 'constant':
      return constant(expression.type, expression.text);
    case 'parameter': {
      const parameter = context.env.parameters.reference(expression.number, at);
      return parameter.type.name === 'unknown' ? parameter : typedParameter(parameter, parameter.type, at);
    }
    case 'column':
      return context.scope.column(expression.path, at);
    case 'star':
      throw sqlError('sql_syntax', 'A star is not allowed here', at);
    case 'operator': {
      const functionName = functionOfOperator(expression);
      if (functionName !== undefined) return resolveCall(callOf(functionName, expression.args, at), context);
      return callOperator(expression.name, expression.args.map(resolve), site(expression.name, at));
    }
    case 'and':
      return and(...expression.args.map((arg) => conditionOf(arg, 'AND')));
    case 'or':
      return or(...expression.args.map((arg) => conditionOf(arg, 'OR')));
    case 'not':
      return not(conditionOf(expression.arg, 'NOT'));
    case 'is null':
      return isNull(resolve(expression.arg), expression.negated, at);
    case 'is truth':
      return isTruth(expression, conditionOf(expression.arg, 'IS'));
    case 'is distinct':
      return isDistinct(resolve(expression.left), resolve(expression.right), expression.negated, at);
    case 'in list':
      return inList(resolve(expression.arg), expression.items.map(resolve), expression.negated, at);
    case 'between':
      return between(expression, resolve);
    case 'case':
      return resolveCase(expression, resolve, site('CASE', at));
    case 'cast':
      return resolveCast(expression, resolve);
    case 'subscript':
      return subscript(resolve(expression.arg), resolve(expression.index), at);
    case 'slice': {
      const { arg, from, to } = expression;
      return arraySlice(resolve(arg), from && resolve(from), to && resolve(to), at);
    }
    case 'array':
      return arrayLiteral(expression.items.map(resolve), at);
    case 'any':
    case 'all':
      return resolveQuantified(expression, resolve);
    case 'grouping':
      return groupingCall(expression.args.map((arg) => settle(resolve(arg), arg.at)));
    case 'call':
      return resolveCall(expression, context);
    case 'scalar subquery':
      return resolveScalarSubquery(expression.query, context, at);
    case 'exists':
      return resolveExists(expression.query, context, at);
    case 'array subquery':
      return resolveArraySubquery(expression.query, context, at);
    case 'field':
      return fieldOf(expression, context);
    case 'quantified subquery': {
      const { arg } = expression;
      const values = (arg.kind === 'row' ? arg.items : [arg]).map(resolve);
      return resolveQuantifiedSubquery(expression, values, context);
    }
    case 'row': {
      const items = expression.items.flatMap((item) => rowItems(item, context));
      return rowOf(
        items.map((_, index) => `f${index + 1}`),
        items,
        at,
      );
    }
  }
}

/** Operators that are other names of functions, by how many operands they have. */
const operatorFunctions: ReadonlyMap<string, string> = new Map([
  ['1 @', 'abs'],
  ['1 |/', 'sqrt'],
  ['1 ||/', 'cbrt'],
  ['2 ^@', 'starts_with'],
]);
const functionOfOperator = ({ name, args }: Kind<'operator'>): string | undefined =>
  operatorFunctions.get(`${args.length} ${name}`);

const site = (name: string, at: number | undefined): CallSite => ({ name, at });

function constant(type: string, text: string): Expr {
  if (type === 'null') return literal(unknown, null);
  if (type === 'boolean') return literal(bool, text === 'true');
  return type === 'string' ? literal(unknown, text) : numberLiteral(text);
}

function isNull(expr: Expr, negated: boolean, at: number | undefined): Expr {
  // An array that is NULL is an outer array without the inner one.
  const test = (each: Expr): Expr =>
    apply('is null', bool, (a) => (each.type.name === 'array' ? `empty(${a})` : `isNull(${a})`), each);
  // A row is NULL if all of its values are, and not NULL if none is.
  const row = asRow(expr);
  if (row !== undefined)
    return and(...row.args.slice(0, row.fields.length).map((value) => isNull(value, negated, at)));
  const columns = expr.kind === 'mixed' ? expr.has.map((type) => expr.column(type)) : [settle(expr, at)];
  const all = and(...columns.map(test));
  return negated ? not(all) : all;
}

type Kind<Name extends Expression['kind']> = Extract<Expression, { readonly kind: Name }>;

/** The values of `row (a, t.*)`. */
function rowItems(item: Expression, context: ExpressionContext): readonly Expr[] {
  if (item.kind !== 'star') return [settle(context.resolve(item, context), item.at)];
  const { relation, at } = item;
  const columns = relation === undefined ? context.scope.star() : context.scope.starOf(relation, at);
  return Array.from(columns, ({ expr }) => {
    spend('outputColumns', 1, at);
    return settle(expr(), at);
  });
}

/** `(t).name`, of a relation or of a row whose values are at hand. */
function fieldOf({ arg, name, at }: Kind<'field'>, context: ExpressionContext): Expr {
  const [relation = '', second] = arg.kind === 'column' ? arg.path : [];
  const isRelation =
    arg.kind === 'column' && second === undefined && context.scope.own(relation, at) === undefined;
  if (isRelation && context.scope.ownRelation(relation) !== undefined) {
    return context.scope.column([relation, name], at);
  }
  const value = context.resolve(arg, context);
  const row = asRow(value);
  const place = row?.fields.indexOf(name) ?? -1;
  const found = place < 0 ? undefined : row?.args[place];
  if (found !== undefined) return found;
  if (row !== undefined) throw sqlError('sql_unknown_column', `column "${name}" not found in record`, at);
  throw unsupported(`The field "${name}" of ${typeLabel(value.type)}`, at);
}

function isTruth(expression: Kind<'is truth'>, arg: Expr): Expr {
  const { value, negated } = expression;
  if (value === 'unknown') return isNull(arg, negated, expression.at);
  const whenNull = value === 'false';
  const known = apply(`ifNull ${whenNull}`, bool, (a) => `ifNull(${a}, ${whenNull})`, arg);
  return whenNull === negated ? known : not(known);
}

/** `a != b`, and where one side is NULL: whether the other isn't. */
function isDistinct(left: Expr, right: Expr, negated: boolean, at: number | undefined): Expr {
  const different = compare('<>', left, right, at);
  const sides = different.kind === 'apply' ? different.args : [];
  const isMissing = sides[0]?.type.name === 'array' ? 'empty' : 'isNull';
  const distinct = apply(
    'is distinct',
    bool,
    (unequal, a, b) => `ifNull(${unequal}, ${isMissing}(${a}) != ${isMissing}(${b}))`,
    different,
    ...sides,
  );
  return negated ? not(distinct) : distinct;
}

/** The engine's IN knows no NULL in the list and only literals: everything else becomes comparisons. */
function inList(arg: Expr, items: readonly Expr[], negated: boolean, at: number | undefined): Expr {
  const isOfOneType = commonType([arg, ...items].map(({ type }) => type)) !== undefined;
  if (!isOfOneType) {
    const found = or(...items.map((each) => compare('=', arg, each, at)));
    return negated ? not(found) : found;
  }
  const { type, exprs } = unify([arg, ...items], 'IN', at);
  const [value, ...candidates] = exprs;
  if (value === undefined) throw sqlError('sql_syntax', 'IN needs a value', at);
  const plain =
    ['text', 'int2', 'int4', 'int8', 'float'].includes(type.name) &&
    candidates.every((each) => each.kind === 'literal' && each.value !== null);
  const found = plain
    ? apply('in', bool, (a, ...list) => `(${a} IN (${list.join(', ')}))`, value, ...candidates)
    : or(...candidates.map((each) => compare('=', value, each, at)));
  return negated ? not(found) : found;
}

function between(expression: Kind<'between'>, resolve: (each: Expression) => Expr): Expr {
  const { at, symmetric, negated } = expression;
  const [arg, low, high] = [expression.arg, expression.low, expression.high].map(resolve);
  if (arg === undefined || low === undefined || high === undefined) {
    throw sqlError('sql_syntax', 'BETWEEN needs two bounds', at);
  }
  const within = (from: Expr, to: Expr): Expr =>
    and(compare('>=', arg, from, at), compare('<=', arg, to, at));
  const inside = symmetric ? or(within(low, high), within(high, low)) : within(low, high);
  return negated ? not(inside) : inside;
}

function resolveCase(
  expression: Kind<'case'>,
  resolve: (each: Expression) => Expr,
  callSite: CallSite,
): Expr {
  const operand = expression.operand && resolve(expression.operand);
  const branches = expression.branches.map(({ when, result }): CaseBranch => {
    const test = resolve(when);
    return {
      when:
        operand === undefined ? condition(test, 'CASE WHEN', when.at) : compare('=', operand, test, when.at),
      result: resolve(result),
    };
  });
  return caseOf(branches, expression.otherwise && resolve(expression.otherwise), callSite);
}

/** The elements of `ARRAY[…]::type[]` are converted one by one; without any, the type says what it is. */
function resolveCast({ arg, type }: Kind<'cast'>, resolve: (each: Expression) => Expr): Expr {
  if (!type.array || arg.kind !== 'array') return castTo(resolve(arg), type);
  if (arg.items.length === 0) return castTo(literal(unknown, '{}'), type);
  const element = { ...type, array: false };
  return arrayLiteral(
    arg.items.map((item) => castTo(resolve(item), element)),
    arg.at,
  );
}

/** `x = ANY (array)`, with any operator that gives a boolean. */
function resolveQuantified(expression: Kind<'any' | 'all'>, resolve: (each: Expression) => Expr): Expr {
  const { at, operator, kind } = expression;
  const arg = resolve(expression.arg);
  const array = resolve(expression.array);
  const callSite = site(operator, at);
  const typed = array.type.name === 'unknown' ? convert(array, arrayOf(settle(arg, at).type), at) : array;
  const items = operator === (kind === 'any' ? '=' : '<>') ? constantItems(typed) : undefined;
  // The store looks a list up, in its indexes, too; an array it would walk through for each row.
  if (items !== undefined) return inList(arg, items, kind === 'all', at);
  const test = (element: Expr): Expr =>
    condition(callOperator(operator, [arg, element], callSite), `${operator} ${kind.toUpperCase()}`, at);
  return quantified(kind, typed, test, callSite);
}

/** The elements of an array that is written with literals and parameters; undefined for others. */
function constantItems(array: Expr): readonly Expr[] | undefined {
  const isItem = (each: Expr): boolean => each.kind === 'literal' || each.kind === 'parameter';
  const isList = array.kind === 'apply' && array.name === 'array' && array.args.length > 0;
  return isList && array.args.every(isItem) ? array.args : undefined;
}

function subscript(arg: Expr, index: Expr, at: number | undefined): Expr {
  if (arg.type.name === 'array') return arrayElement(arg, index, at);
  if (arg.type.name !== 'map') throw unsupported('A subscript of something other than labels', at);
  return labelOf(arg, index, { at });
}

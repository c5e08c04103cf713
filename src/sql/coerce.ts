import { quoteString } from '../lib/quote.ts';
import { apply, literal, wholeOf } from './build.ts';
import { conversion } from './functions/numbers/conversions.ts';
import { intervalOfText } from './functions/time/interval-of-text.ts';
import { literalParts, partsOf } from './functions/time/interval-parts.ts';
import { intervalPartsText, intervalText, partsText } from './functions/time/interval-text.ts';
import type { Expr, Literal, Mixed, Parameter } from './ir.ts';
import { beginOfDay, dayOfQuery, momentOfQuery } from './moment-of-query.ts';
import { sessionTimes } from './session-times.ts';
import { sqlError, unsupported } from './sql-error.ts';
import { readArrayText, readLiteral } from './syntax/literals.ts';
import { isInfiniteMoment, readMomentWord } from './syntax/moment-words.ts';
import {
  arrayOf,
  bool,
  commonType,
  float,
  intervalOf,
  isInteger,
  isNumber,
  isTimestamp,
  numericScale,
  type SqlType,
  sameType,
  storeType,
  text,
  typeLabel,
  unknown,
  widerInteger,
} from './types.ts';

/** What PostgreSQL converts without being asked. */
export function isImplicit(from: SqlType, to: SqlType): boolean {
  if (from.name === 'unknown' || sameType(from, to)) return true;
  if (from.name === 'mixed') return ['text', 'float', 'bool'].includes(to.name);
  if (isInteger(from) && isInteger(to)) return widerInteger(from, to) === to;
  if (isNumber(from) && isNumber(to))
    return to.name === 'float' || (to.name === 'numeric' && from.name !== 'float');
  if (from.name === 'array' && to.name === 'array') return isImplicit(from.element, to.element);
  if (from.name === 'time') return to.name === 'interval';
  return (from.name === 'date' && isTimestamp(to)) || (isTimestamp(from) && isTimestamp(to));
}

/**
 * The expression as a value of that type.
 * @throws AppError `sql_type` when PostgreSQL would not convert it without a cast, `sql_bad_value` when a
 * literal is no value of the type
 */
export function coerce(expr: Expr, to: SqlType, at: number | undefined): Expr {
  if (expr.kind === 'mixed') return narrow(expr, to, at);
  if (!isImplicit(expr.type, to)) {
    throw sqlError('sql_type', `${typeLabel(expr.type)} is not ${typeLabel(to)}; a cast is needed`, at);
  }
  return convert(expr, to, at);
}

/** `coerce`, and what needs a cast too. */
export function convert(expr: Expr, to: SqlType, at: number | undefined): Expr {
  if (expr.kind === 'mixed') return convert(narrow(expr, to, at), to, at);
  if (expr.kind === 'parameter' && expr.type.name === 'unknown') return typedParameter(expr, to, at);
  if (expr.kind === 'literal') {
    const converted = convertLiteral(expr, to, at);
    if (converted !== undefined) return converted;
  }
  if (sameType(expr.type, to)) return expr.type === to ? expr : { ...expr, type: to };
  const whole = wholeOf(expr);
  if (whole !== undefined && (isInteger(to) || to.name === 'float' || to.name === 'text'))
    return convert(whole, to, at);
  // Integers of any width are safe to mix in the store; narrowing is checked, widening costs nothing.
  if (isInteger(expr.type) && isInteger(to) && widerInteger(expr.type, to) === to)
    return { ...expr, type: to };
  if (expr.type.name === 'numeric' && to.name === 'text' && !expr.type.exact) {
    throw unsupported('The text of a numeric whose digits are not fixed (use round(x, digits) first)', at);
  }
  if (expr.type.name === 'array' && to.name === 'array') return castElements(expr, to.element, at);
  return intervalCast(expr, to, at) ?? castByStore(expr, to, at);
}

/** Casts from and to intervals that are not one expression of the store for all of them. */
function intervalCast(expr: Expr, to: SqlType, at: number | undefined): Expr | undefined {
  if (to.name === 'text') refuseStyle(expr.type, at);
  if (expr.type.name === 'interval' && to.name === 'text') return intervalAsText(expr, at);
  if (expr.type.name === 'text' && to.name === 'interval') return intervalOfText(expr, at);
  if (expr.type.name === 'time' && to.name === 'interval')
    return apply('time as interval', intervalOf('clock'), (a) => a, expr);
  return undefined;
}

function castByStore(expr: Expr, to: SqlType, at: number | undefined): Expr {
  const render = conversion(expr.type, to);
  if (render === undefined) {
    if (expr.type.name === 'text' && to.name === 'array')
      throw unsupported(`A cast of a text that is no literal to ${typeLabel(to)}`, at);
    throw sqlError('sql_type', `cannot cast type ${typeLabel(expr.type)} to ${typeLabel(to)}`, at);
  }
  return apply(`cast ${typeKey(expr.type)} ${typeKey(to)}`, to, render, expr);
}

/** A parameter as a value of that type. */
export function typedParameter(parameter: Parameter, type: SqlType, at: number | undefined): Expr {
  const typed = parameter.typed(type);
  return typed.kind === 'literal' ? convert(typed, type, at) : typed;
}

/**
 * Text of times is computed in the default styles alone; what clients are shown is written as they like it.
 */
function refuseStyle({ name }: SqlType, at: number | undefined): void {
  const { dateStyle, intervalStyle } = sessionTimes();
  if (name === 'interval' && intervalStyle !== 'postgres')
    throw unsupported(`The text of an interval within a query, with IntervalStyle ${intervalStyle},`, at);
  const isTime = name === 'date' || name === 'timestamp' || name === 'timestamptz';
  if (isTime && dateStyle.format !== 'ISO')
    throw unsupported(`The text of a ${name} within a query, with DateStyle ${dateStyle.format},`, at);
}

function intervalAsText(expr: Expr, at: number | undefined): Expr {
  const known = literalParts(expr);
  if (known !== undefined) return literal(text, intervalPartsText(known));
  const form = expr.type.name === 'interval' ? expr.type.form : 'any';
  if (form === 'clock' || form === 'days') {
    return apply(`text of ${form}`, text, (a) => `if(isNull(${a}), NULL, ${intervalText(a, form)})`, expr);
  }
  const parts = partsOf(expr);
  if (parts === undefined) {
    throw unsupported(
      'The text of an interval whose days and hours the store has lost (use extract (epoch from …), justify_interval (…))',
      at,
    );
  }
  // A part that is NULL makes NULL of the length.
  const render = (a: string, m: string, d: string, u: string): string =>
    `if(isNull(${a}), NULL, ${partsText(...([m, d, u].map((part) => `ifNull(${part}, 0)`) as [string, string, string]))})`;
  return apply('text of parts', text, render, expr, parts.months, parts.days, parts.micros);
}

/** Tells apart types that print differently. */
export function typeKey(type: SqlType): string {
  if (type.name === 'array') return `${typeKey(type.element)}[]`;
  return type.name === 'numeric' ? `numeric(${type.scale})` : type.name;
}

/** Every element of an array, which is kept inside an outer one, as a value of that type. */
export function castElements(array: Expr, to: SqlType, at: number | undefined): Expr {
  if (array.type.name !== 'array') throw new Error(`BUG: ${array.type.name} is no array`);
  const element = convert(
    apply('x', array.type.element, () => 'x'),
    to,
    at,
  );
  return apply(
    `elements ${typeKey(array.type.element)} ${typeKey(to)}`,
    arrayOf(to),
    (a, x) => (x === 'x' ? `${a}` : `arrayMap(e -> arrayMap(x -> ${x}, e), ${a})`),
    array,
    element,
  );
}

function convertLiteral(expr: Literal, to: SqlType, at: number | undefined): Expr | undefined {
  const { value } = expr;
  const hasNoCast = to.name === 'bool' && isNumber(expr.type) && expr.type.name !== 'int4';
  if (value === null && !hasNoCast) return literal(to, null);
  if (typeof value !== 'string') return undefined;
  if (expr.type.name === 'unknown' && to.name === 'array') return arrayOfText(value, to.element, at);
  if (expr.type.name === 'unknown') return momentByWord(value, to, at) ?? readLiteral(value, to, at);
  if (isInteger(expr.type) && isInteger(to)) return readLiteral(value, to, at);
  if (isNumber(expr.type) && to.name === 'float') return literal(float, value);
  if (isInteger(expr.type) && to.name === 'numeric' && numericScale(to) === 0) return literal(to, value);
  return undefined;
}

/** `'now'`, `'today'`: of the moment of the query, as a timestamp or date. */
function momentByWord(value: string, to: SqlType, at: number | undefined): Expr | undefined {
  if (to.name !== 'date' && to.name !== 'timestamp' && to.name !== 'timestamptz') return undefined;
  if (isInfiniteMoment(value))
    throw unsupported(`The ${typeLabel(to)} ${JSON.stringify(value.trim().toLowerCase())}`, at);
  const word = readMomentWord(value);
  if (word === undefined) return undefined;
  const day = word === 'now' ? 0 : word.days;
  const later = (): string => (day === 0 ? dayOfQuery() : `addDays(${dayOfQuery()}, ${day})`);
  const { name } = to;
  if (name === 'date') return apply(`day ${day}`, to, later);
  return word === 'now'
    ? apply(`now ${name}`, to, () => momentOfQuery(name))
    : apply(`begin of day ${day} ${name}`, to, () => beginOfDay(later(), name));
}

/** `'{1,2,NULL}'`, in which what stands in quotes is no NULL. */
function arrayOfText(value: string, element: SqlType, at: number | undefined): Expr {
  if (/^\s*\{\s*\{/.test(value)) throw unsupported('An array of arrays', at);
  const words = readArrayText(value);
  if (/^\s*(?:\[[\d+:\-[\] ]*\]\s*=|\{\s*\{)/.test(value))
    throw unsupported('The text of an array with bounds or of several dimensions', at);
  if (words === undefined)
    throw sqlError('sql_bad_value', `malformed array literal: ${JSON.stringify(value)}`, at);
  const items = words.map((word) => convert(literal(unknown, word), element, at));
  return apply('array', arrayOf(element), (...each) => `[${printedArray(each, element)}]`, ...items);
}

const printedArray = (items: readonly string[], element: SqlType): string =>
  items.length === 0
    ? `CAST([], ${quoteString(`Array(Nullable(${storeType(element)}))`)})`
    : `[${items.join(', ')}]`;

/** The column of a field that has values of the type asked for; as text, all of them. */
function narrow(expr: Mixed, to: SqlType, at: number | undefined): Expr {
  const wanted = isNumber(to) ? 'num' : to.name === 'bool' ? 'bool' : 'str';
  if (wanted !== 'str') {
    if (expr.convertible || expr.has.includes(wanted)) return expr.column(wanted);
    throw sqlError('sql_type', `column "${expr.label}" has no value of type ${typeLabel(to)}`, at);
  }
  const parts = expr.has.map((type) => convert(expr.column(type), text, at));
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return apply('coalesce', text, (...values) => `coalesce(${values.join(', ')})`, ...parts);
}

/** The type that an expression has where nothing asks for another: text for literals and mixed fields. */
export const settle = (expr: Expr, at: number | undefined): Expr =>
  expr.type.name === 'unknown' || expr.type.name === 'mixed' ? coerce(expr, text, at) : expr;

/** Brings several expressions to the type that they have in common. */
export function unify(
  exprs: readonly Expr[],
  context: string,
  at: number | undefined,
): { readonly type: SqlType; readonly exprs: readonly Expr[] } {
  const type = commonType(exprs.map((expr) => expr.type));
  if (type === undefined) {
    const names = [...new Set(exprs.map((expr) => typeLabel(expr.type)))];
    throw sqlError('sql_type', `${context}: types ${names.join(' and ')} cannot be matched`, at);
  }
  return { type, exprs: exprs.map((expr) => coerce(expr, type, at)) };
}

/** A condition: a boolean, or an error that names the clause. */
export function condition(expr: Expr, clause: string, at: number | undefined): Expr {
  if (isImplicit(expr.type, bool)) return coerce(expr, bool, at);
  throw sqlError(
    'sql_type',
    `argument of ${clause} must be type boolean, not type ${typeLabel(expr.type)}`,
    at,
  );
}

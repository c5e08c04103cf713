import { apply, isConstant, literal } from '../build.ts';
import { coerce, settle, unify } from '../coerce.ts';
import type { Expr, Renderer } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { int4, isInteger, isNumber, typeLabel } from '../types.ts';
import { type CallSite, checkCount, type FunctionTable, type SpecialForm } from './definition.ts';
import { compare } from './operators.ts';

const variadic =
  (render: string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1000, site);
    const { type, exprs } = unify(args, site.name.toUpperCase(), site.at);
    if (type.name === 'array') throw unsupported(`${site.name} of arrays`, site.at);
    if (exprs.length === 1 && exprs[0] !== undefined) return exprs[0];
    return apply(site.name, type, (...parts) => `${render}(${parts.join(', ')})`, ...exprs);
  };

/** A value that can be read in any case: it costs nothing and raises no error. */
const isPlain = (expr: Expr): boolean => isConstant(expr) || expr.kind === 'column';

/**
 * Later arguments count, and may raise errors, only where all before them are NULL; the engine computes all.
 */
const coalesce: SpecialForm = (args, site) => {
  checkCount(args, 1, 1000, site);
  const { type, exprs } = unify(args, 'COALESCE', site.at);
  const [first, ...rest] = exprs;
  if (first === undefined || rest.length === 0) return first ?? literal(type, null);
  if (rest.every(isPlain) && type.name !== 'array') {
    return apply('coalesce', type, (...parts) => `coalesce(${parts.join(', ')})`, ...exprs);
  }
  const isThere = type.name === 'array' ? 'notEmpty' : 'isNotNull';
  const render: Renderer = (...parts) => {
    const branches = parts.slice(0, -1).map((part) => `${isThere}(${part}), ${part}`);
    return `multiIf(${branches.join(', ')}, ${parts.at(-1)})`;
  };
  return apply('coalesce', type, render, ...exprs);
};

/** As the operator takes it that compares them: of the other's type, or for the wider kind of number. */
function comparedValue(value: Expr, other: Expr, at: number | undefined): Expr {
  if (value.type.name === 'unknown' && other.type.name !== 'mixed')
    return other.type.name === 'unknown' ? value : coerce(value, other.type, at);
  const isWidened =
    value.type.name !== 'float' && isNumber(value.type) && !isInteger(other.type) && isNumber(other.type);
  return isWidened ? (unify([value, other], 'NULLIF', at).exprs[0] ?? value) : value;
}

const nullIf: SpecialForm = (args, site) => {
  const [given, other] = args;
  if (given === undefined || other === undefined)
    throw sqlError('sql_unknown_function', 'NULLIF takes 2 arguments', site.at);
  const value = comparedValue(given, other, site.at);
  const equal = compare('=', value, other, site.at);
  const result = settle(value, site.at);
  return apply(
    'nullif',
    result.type,
    (condition, a) => `if(${condition}, ${result.type.name === 'array' ? '[]' : 'NULL'}, ${a})`,
    equal,
    result,
  );
};

/** How many of the arguments are NULL, or are not. */
const nulls =
  (isCounted: 'isNull' | 'isNotNull'): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1000, site);
    const values = args.map((arg) => settle(arg, site.at));
    const each = (part: string, index: number): string => {
      if (values[index]?.type.name !== 'array') return `${isCounted}(${part})`;
      return `${isCounted === 'isNull' ? 'empty' : 'notEmpty'}(${part})`;
    };
    return apply(site.name, int4, (...parts) => `toInt32(${parts.map(each).join(' + ')})`, ...values);
  };

export interface CaseBranch {
  readonly when: Expr;
  readonly result: Expr;
}

/** `CASE WHEN … THEN … ELSE … END`; the conditions are booleans already. */
export function caseOf(branches: readonly CaseBranch[], otherwise: Expr | undefined, site: CallSite): Expr {
  const missing = literal({ name: 'unknown' }, null);
  const results = [...branches.map((branch) => branch.result), otherwise ?? missing];
  const { type, exprs } = unify(results, 'CASE', site.at);
  if (type.name === 'map') throw sqlError('sql_type', `CASE cannot give ${typeLabel(type)}`, site.at);
  const args = branches.flatMap((branch, index) => [branch.when, exprs[index] ?? missing]);
  return apply('case', type, (...parts) => `multiIf(${parts.join(', ')})`, ...args, exprs.at(-1) ?? missing);
}

export const conditionalFunctions: FunctionTable = {
  coalesce,
  greatest: variadic('greatest'),
  least: variadic('least'),
  nullif: nullIf,
  num_nulls: nulls('isNull'),
  num_nonnulls: nulls('isNotNull'),
};

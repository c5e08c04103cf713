import type { Call, Expression, Query } from '../ast.ts';
import { isSessionInUtc } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import { compileAggregate, compileWindow, isAggregate } from './catalog-aggregates.ts';
import { noColumn } from './catalog-error.ts';
import { callFunction } from './catalog-functions.ts';
import { callOperator, compareBy, converted, isEqual } from './catalog-operators.ts';
import { setFunctionTypes } from './catalog-rows-functions.ts';
import type { CompileContext, Compiled, Frame } from './catalog-scope.ts';
import { unified } from './common-type.ts';
import { arrayOf, checkedInteger, elementOf, isArrayType, keyOf, lowerBound } from './value-conversion.ts';
import { lengthOf, spendLength } from './value-length.ts';

type Kind<Name extends Expression['kind']> = Extract<Expression, { readonly kind: Name }>;

/** Makes an expression ready to be computed, each time for a step. @throws AppError `sql_…` */
export function compile(expression: Expression, context: CompileContext): Compiled {
  const compiled = compileNode(expression, context);
  if (expression.kind === 'constant' || expression.kind === 'column' || expression.kind === 'parameter')
    return compiled;
  const { spend } = context;
  const { run } = compiled;
  return {
    ...compiled,
    run: (frame) => {
      spend(1);
      return run(frame);
    },
  };
}

function compileNode(expression: Expression, context: CompileContext): Compiled {
  const sub = (each: Expression): Compiled => compile(each, context);
  switch (expression.kind) {
    case 'constant':
      return constant(expression);
    case 'parameter':
      return context.parameter(expression.number, 'unknown', expression.at);
    case 'column':
      return context.scope.column(expression.path, expression.at);
    case 'star':
      throw sqlError('sql_syntax', 'A star is not allowed here', expression.at);
    case 'operator':
      return callOperator(expression.name, expression.args.map(sub), context, expression.at);
    case 'and':
    case 'or':
      return junction(
        expression.kind,
        expression.args.map((arg) => condition(sub(arg), context)),
      );
    case 'not': {
      const arg = condition(sub(expression.arg), context);
      return boolean((frame) => negation(arg.run(frame)));
    }
    case 'is null': {
      const { run } = sub(expression.arg);
      const { negated } = expression;
      return boolean((frame) => (run(frame) === null) !== negated);
    }
    case 'is truth':
      return truth(expression, condition(sub(expression.arg), context));
    case 'is distinct': {
      const { negated, at } = expression;
      const sides = [sub(expression.left), sub(expression.right)];
      const [left, right] = unified(sides, context, 'IS DISTINCT FROM', at);
      return boolean((frame) => isEqual(left?.run(frame) ?? null, right?.run(frame) ?? null) === negated);
    }
    case 'in list':
      return inList(expression, context);
    case 'between':
      return between(expression, context);
    case 'cast':
      return cast(expression, context);
    case 'subscript':
      return subscript(sub(expression.arg), typed(sub(expression.index), 'int4', context));
    case 'slice':
      throw unsupported('A slice', expression.at);
    case 'field':
      return fieldOf(sub(expression.arg), expression.name, expression.at);
    case 'array': {
      const items = unified(expression.items.map(sub), context, 'ARRAY', expression.at);
      if (items.some(({ type }) => isArrayType(type))) throw unsupported('An array of arrays', expression.at);
      return {
        type: arrayOf(items[0]?.type ?? 'text'),
        run: (frame) => {
          const values = items.map(({ run }) => run(frame));
          spendLength(context, lengthOf(values));
          return values;
        },
      };
    }
    case 'any':
    case 'all':
      return quantified(expression, context);
    case 'case':
      return caseOf(expression, context);
    case 'call':
      return call(expression, context);
    case 'grouping':
      throw unsupported('GROUPING', expression.at);
    case 'scalar subquery':
    case 'exists':
    case 'array subquery':
      return subquery(expression, context);
    case 'quantified subquery':
      return quantifiedSubquery(expression, context);
    case 'row':
      throw unsupported('A row as a value', expression.at);
  }
}

const boolean = (run: Compiled['run']): Compiled => ({ type: 'bool', run });
const negation = (value: Value): Value => (value === null ? null : !value);

function constant({ type, text }: Kind<'constant'>): Compiled {
  switch (type) {
    case 'null':
      return { type: 'unknown', run: () => null, written: null };
    case 'boolean':
      return boolean(() => text === 'true');
    case 'integer': {
      const value = checkedInteger(Number(text), 'int8');
      return { type: Math.abs(value) > 0x7fff_ffff ? 'int8' : 'int4', run: () => value };
    }
    case 'decimal': {
      const value = Number(text);
      return { type: 'numeric', run: () => value };
    }
    default:
      return { type: 'unknown', run: () => text, written: text };
  }
}

/** As a value of a type, which a string without one takes from its context. */
export function typed(compiled: Compiled, type: string, context: CompileContext): Compiled {
  return converted(compiled, type, context.catalog);
}

/** @throws AppError `sql_type` for what is neither true nor false */
export function condition(compiled: Compiled, context: CompileContext, at?: number): Compiled {
  if (compiled.type === 'bool' || compiled.type === 'unknown') return typed(compiled, 'bool', context);
  throw sqlError('sql_type', `argument of a condition must be type boolean, not type ${compiled.type}`, at);
}

function junction(kind: 'and' | 'or', args: readonly Compiled[]): Compiled {
  const decides = kind === 'or';
  return boolean((frame) => {
    let result: Value = !decides;
    for (const { run } of args) {
      const value = run(frame);
      if (value === decides) return decides;
      if (value === null) result = null;
    }
    return result;
  });
}

function truth({ value, negated }: Kind<'is truth'>, arg: Compiled): Compiled {
  const wanted = value === 'unknown' ? null : value === 'true';
  return boolean((frame) => (arg.run(frame) === wanted) !== negated);
}

function inList({ arg, items, negated, at }: Kind<'in list'>, context: CompileContext): Compiled {
  const [value, ...candidates] = unified(
    [arg, ...items].map((each) => compile(each, context)),
    context,
    'IN',
    at,
  );
  const { spend } = context;
  return boolean((frame) => {
    spend(candidates.length);
    const wanted = value?.run(frame) ?? null;
    const found = isAmong(
      wanted,
      candidates.map(({ run }) => run(frame)),
    );
    return negated ? negation(found) : found;
  });
}

/** Whether a value is in a list: NULL if it may be. */
function isAmong(value: Value, items: readonly Value[]): Value {
  if (items.length === 0) return false;
  if (value === null) return null;
  if (items.some((item) => item !== null && isEqual(item, value))) return true;
  return items.includes(null) ? null : false;
}

function between(expression: Kind<'between'>, context: CompileContext): Compiled {
  const { at, negated, symmetric } = expression;
  const [arg, low, high] = unified(
    [expression.arg, expression.low, expression.high].map((each) => compile(each, context)),
    context,
    'BETWEEN',
    at,
  );
  if (arg === undefined || low === undefined || high === undefined) throw unsupported('BETWEEN', at);
  const ordered = (first: Compiled, last: Compiled): Compiled =>
    junction('and', [compareBy('>=', arg, first), compareBy('<=', arg, last)]);
  const inside = symmetric ? junction('or', [ordered(low, high), ordered(high, low)]) : ordered(low, high);
  return negated ? boolean((frame) => negation(inside.run(frame))) : inside;
}

/** Other names of types, and those of the domains of `information_schema`. */
const typeSynonyms: Readonly<Record<string, string>> = {
  sql_identifier: 'name',
  character_data: 'text',
  yes_or_no: 'text',
  cardinal_number: 'int4',
  time_stamp: 'timestamptz',
  float4: 'float8',
};

const castTypes: ReadonlySet<string> = new Set(
  (
    'bool int2 int4 int8 float8 numeric text name char varchar bpchar oid regclass regtype regproc regprocedure ' +
    'regnamespace regrole int2vector oidvector timestamptz timestamp unknown xid xid8 json'
  ).split(' '),
);

function cast({ arg, type, at }: Kind<'cast'>, context: CompileContext): Compiled {
  const name = typeSynonyms[type.name] ?? type.name;
  if (!castTypes.has(name)) throw unsupported(`The type ${type.name} in a query of the catalog`, at);
  const to = type.array ? arrayOf(name) : name;
  if (arg.kind === 'parameter') return context.parameter(arg.number, to, at);
  const compiled = compile(arg, context);
  if (to === 'timestamp' && compiled.type === 'timestamptz' && !isSessionInUtc())
    throw unsupported('A timestamp without time zone in a query of the catalog, outside of UTC,', at);
  const result = typed(compiled, to, context);
  const [length] = type.modifiers;
  if (length === undefined || (name !== 'varchar' && name !== 'bpchar')) return result;
  return {
    type: to,
    run: (frame) => {
      const value = result.run(frame);
      return typeof value === 'string' ? [...value].slice(0, length).join('') : value;
    },
  };
}

function subscript(array: Compiled, index: Compiled): Compiled {
  const first = lowerBound(array.type);
  return {
    type: elementOf(array.type),
    run: (frame) => {
      const items = array.run(frame);
      const place = index.run(frame);
      return Array.isArray(items) && typeof place === 'number' ? (items[place - first] ?? null) : null;
    },
  };
}

/** Fields of the rows that functions give, by the names of their types. */
function fieldOf(record: Compiled, name: string, at: number | undefined): Compiled {
  const fields = setFunctionTypes[record.type];
  const index = fields?.findIndex((field) => field.name === name) ?? -1;
  const field = fields?.[index];
  if (field === undefined) throw noColumn(`column "${name}" not found in data type`, undefined, at);
  return {
    type: field.type,
    run: (frame) => {
      const value = record.run(frame);
      return Array.isArray(value) ? (value[index] ?? null) : null;
    },
  };
}

const quantified = (expression: Kind<'any' | 'all'>, context: CompileContext): Compiled =>
  quantifiedOver(expression, expression.kind, compile(expression.array, context), context);

/** @param given the array */
function quantifiedOver(
  expression: Pick<Kind<'quantified subquery'>, 'operator' | 'arg' | 'at'>,
  kind: 'any' | 'all',
  given: Compiled,
  context: CompileContext,
): Compiled {
  const { operator, at } = expression;
  const arg = compile(expression.arg, context);
  const array =
    given.type === 'unknown'
      ? typed(given, arrayOf(arg.type === 'unknown' ? 'text' : arg.type), context)
      : given;
  if (!isArrayType(array.type))
    throw sqlError('sql_type', 'op ANY/ALL (array) requires array on right side', at);
  // The element takes a place in a frame of its own, beside the argument.
  const element: Compiled = { type: elementOf(array.type), run: (frame) => frame.computed[0] ?? null };
  const value: Compiled =
    arg.written === undefined ? { type: arg.type, run: (frame) => frame.computed[1] ?? null } : arg;
  const test = condition(callOperator(operator, [value, element], context, at), context);
  return boolean((frame) => {
    const items = array.run(frame);
    if (!Array.isArray(items)) return null;
    context.spend(items.length);
    const left = arg.run(frame);
    let result: Value = kind === 'all';
    for (const item of items) {
      const each = test.run({ rows: [], computed: [item, left], outer: undefined });
      if (each === (kind === 'any')) return each;
      if (each === null) result = null;
    }
    return result;
  });
}

function caseOf({ operand, branches, otherwise, at }: Kind<'case'>, context: CompileContext): Compiled {
  const value = operand && compile(operand, context);
  const tests = branches.map(({ when }) => {
    const test = compile(when, context);
    return value === undefined
      ? condition(test, context)
      : condition(callOperator('=', [value, test], context, at), context);
  });
  const results = unified(
    [
      ...branches.map(({ result }) => compile(result, context)),
      otherwise === undefined
        ? { type: 'unknown', run: () => null, written: null }
        : compile(otherwise, context),
    ],
    context,
    'CASE',
    at,
  );
  return {
    type: results[0]?.type ?? 'text',
    run: (frame) => {
      const index = tests.findIndex(({ run }) => run(frame) === true);
      return (index < 0 ? results.at(-1) : results[index])?.run(frame) ?? null;
    },
  };
}

function call(expression: Call, context: CompileContext): Compiled {
  if (expression.over !== undefined) return compileWindow(expression, context, compile);
  if (isAggregate(expression.name)) return compileAggregate(expression, context, compile);
  if (expression.star || expression.distinct || expression.filter !== undefined) {
    throw sqlError('sql_unknown_function', `${expression.name} is no aggregate`, expression.at);
  }
  const args = expression.args.map((arg) => compile(arg, context));
  return callFunction(expression.name, args, context, expression.at);
}

/** `IN (SELECT …)` looks a set up; all else is compared with each row. */
function quantifiedSubquery(expression: Kind<'quantified subquery'>, context: CompileContext): Compiled {
  const { quantifier, operator, query, at } = expression;
  if (quantifier === 'any' && operator === '=') return subquery(expression, context);
  const rows = subquery({ kind: 'array subquery', query, at }, context);
  return quantifiedOver(expression, quantifier, rows, context);
}

type SubqueryKind = Extract<Expression, { readonly query: Query }>;

function subquery(expression: SubqueryKind, context: CompileContext): Compiled {
  const { at } = expression;
  const query = context.query(expression.query, { parent: context.scope, ctes: context.ctes });
  const rows = rememberedUnless(query.isCorrelated, query.rows);
  if (expression.kind === 'exists') return boolean((frame) => rows(frame).length > 0);
  const [column, second] = query.columns;
  if (column === undefined || second !== undefined)
    throw sqlError('sql_syntax', 'subquery must return only one column', at);
  if (expression.kind === 'array subquery') {
    if (isArrayType(column.type)) throw unsupported('An array of arrays', at);
    return {
      type: arrayOf(column.type),
      run: (frame) => {
        const items = rows(frame).map(([value = null]) => value);
        spendLength(context, lengthOf(items));
        return items;
      },
    };
  }
  if (expression.kind === 'scalar subquery') {
    return {
      type: column.type,
      run: (frame) => {
        const found = rows(frame);
        if (found.length > 1)
          throw sqlError(
            'sql_cardinality',
            'more than one row returned by a subquery used as an expression',
            at,
          );
        return found[0]?.[0] ?? null;
      },
    };
  }
  if (expression.kind !== 'quantified subquery') throw new Error('BUG: no such subquery');
  const [arg] = unified(
    [compile(expression.arg, context), { type: column.type, run: () => null }],
    context,
    'IN',
    at,
  );
  const lists = new WeakMap<object, ReadonlySet<string>>();
  return boolean((frame) => {
    const value = arg?.run(frame) ?? null;
    const found = rows(frame);
    if (found.length === 0) return false;
    if (value === null) return null;
    const list = lists.get(found) ?? new Set(found.map(([item = null]) => keyOf([item])));
    lists.set(found, list);
    return list.has(keyOf([value])) ? true : list.has(keyOf([null])) ? null : false;
  });
}

/** What does not depend on the query around it is computed once. */
export function rememberedUnless<Result>(
  isCorrelated: boolean,
  make: (frame: Frame) => Result,
): (frame: Frame) => Result {
  if (isCorrelated) return make;
  let known: { readonly result: Result } | undefined;
  return (frame) => {
    known ??= { result: make(frame) };
    return known.result;
  };
}

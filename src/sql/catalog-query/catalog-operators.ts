import { sqlError, unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import type { Compiled, Frame } from './catalog-scope.ts';
import { isFound, likePattern, regularExpression } from './re2-pattern.ts';
import {
  arrayOf,
  castValue,
  commonTypeOf,
  compareValues,
  elementOf,
  isArrayType,
  isNumberType,
  readValue,
} from './value-conversion.ts';
import { bounded, requireSize, sizeOf } from './value-size.ts';

type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';
type Run = Compiled['run'];

const tests: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const isComparison = (name: string): name is Comparison => Object.hasOwn(tests, name);

export const isEqual = (left: Value, right: Value): boolean =>
  left === null || right === null ? left === right : compareValues(left, right) === 0;

/** Of two expressions of one type. */
export function compareBy(name: Comparison, left: Compiled, right: Compiled): Compiled {
  const test = tests[name];
  return strict('bool', [left.run, right.run], (a, b) => test(compareValues(a, b)));
}

/** NULL if one of the arguments is. */
function strict(
  type: string,
  [first, second]: readonly Run[],
  compute: (a: Value, b: Value) => Value,
): Compiled {
  return {
    type,
    run: (frame: Frame) => {
      const a = first?.(frame) ?? null;
      if (a === null) return null;
      if (second === undefined) return compute(a, null);
      const b = second(frame);
      return b === null ? null : compute(a, b);
    },
  };
}

interface Place {
  readonly catalog: SystemCatalog;
}

/** An operator by its name. @throws AppError `sql_type`, `sql_unsupported` */
export function callOperator(
  written: string,
  args: readonly Compiled[],
  { catalog }: Place,
  at: number | undefined,
): Compiled {
  const name = written === '!=' ? '<>' : written;
  const [left, right] = args;
  if (left === undefined) throw unsupported(`The operator ${name}`, at);
  if (right === undefined) return sign(name, left, at);
  const as = (each: Compiled, type: string): Compiled => converted(each, type, catalog);
  if (isComparison(name)) {
    const type = commonTypeOf([left.type, right.type]);
    return compareBy(name, as(left, type), as(right, type));
  }
  const pattern = patterns[name];
  if (pattern !== undefined) {
    const test = remembered(pattern);
    return strict('bool', [as(left, 'text').run, as(right, 'text').run], (a, b) =>
      test(String(b), String(a)),
    );
  }
  if (name === '||') return concatenation(left, right, as);
  const arrays = arrayTests[name];
  if (arrays !== undefined && (isArrayType(left.type) || isArrayType(right.type))) {
    const type = commonTypeOf([left.type, right.type]);
    return strict('bool', [as(left, type).run, as(right, type).run], (a, b) => arrays(items(a), items(b)));
  }
  const compute = arithmetic[name];
  if (compute === undefined) throw unsupported(`The operator ${name} in a query of the catalog`, at);
  const [a, b] = [left, right].map((each) => (each.type === 'unknown' ? as(each, 'int4') : each));
  if (a === undefined || b === undefined || !isNumberType(a.type) || !isNumberType(b.type))
    throw sqlError('sql_type', `operator does not exist: ${left.type} ${name} ${right.type}`, at);
  const type = commonTypeOf([a.type, b.type]);
  const isWhole = type !== 'float8' && type !== 'numeric';
  return strict(type, [a.run, b.run], (x, y) => {
    if ((name === '/' || name === '%') && y === 0) throw sqlError('sql_failed', 'division by zero', at);
    const result = compute(Number(x), Number(y));
    return isWhole ? Math.trunc(result) : result;
  });
}

export function converted(each: Compiled, type: string, catalog: SystemCatalog): Compiled {
  if (each.as !== undefined) return each.as(type);
  if (each.type === type) return each;
  if (each.written !== undefined) {
    const value = each.written === null ? null : readValue(each.written, type, catalog);
    return { type, run: () => value };
  }
  return { type, run: (frame) => castValue(each.run(frame), each.type, type, catalog) };
}

function sign(name: string, arg: Compiled, at: number | undefined): Compiled {
  if (name !== '-' && name !== '+') throw unsupported(`The operator ${name}`, at);
  return strict(arg.type, [arg.run], (value) => (name === '-' ? -Number(value) : value));
}

const items = (value: Value): readonly Value[] => (Array.isArray(value) ? value : []);
const contains = (all: readonly Value[], some: readonly Value[]): boolean =>
  some.every((item) => all.some((each) => isEqual(each, item)));

const arrayTests: Readonly<Record<string, (a: readonly Value[], b: readonly Value[]) => boolean>> = {
  '@>': contains,
  '<@': (a, b) => contains(b, a),
  '&&': (a, b) => a.some((item) => b.some((each) => isEqual(each, item))),
};

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '&': (a, b) => Number(BigInt(a) & BigInt(b)),
  '|': (a, b) => Number(BigInt(a) | BigInt(b)),
  '<<': (a, b) => a * 2 ** b,
  '>>': (a, b) => Math.floor(a / 2 ** b),
};

function concatenation(
  left: Compiled,
  right: Compiled,
  as: (each: Compiled, type: string) => Compiled,
): Compiled {
  const [isLeft, isRight] = [left, right].map(({ type }) => isArrayType(type));
  if (isLeft !== true && isRight !== true)
    return strict('text', [as(left, 'text').run, as(right, 'text').run], (a, b) =>
      bounded(`${String(a)}${String(b)}`),
    );
  const element = elementOf(isLeft === true ? left.type : right.type);
  const type = arrayOf(element);
  const both = [left, right].map((each) => {
    const isItem = !isArrayType(each.type) && each.type !== 'unknown';
    const of = as(each, isItem ? element : type);
    return (frame: Frame): Value => (isItem ? [of.run(frame)] : of.run(frame));
  });
  return {
    type,
    run: (frame) => {
      const parts = both.map((run) => run(frame)).filter((part) => part !== null);
      for (const part of parts) requireSize(sizeOf(part));
      return parts.length === 0 ? null : bounded(parts.flatMap(items));
    },
  };
}

type Pattern = (pattern: string) => (text: string) => boolean;

const regex =
  (flags: string, isWanted: boolean): Pattern =>
  (pattern) => {
    const compiled = regularExpression(pattern, flags);
    return (text) => isFound(compiled, text) === isWanted;
  };

const like =
  (flags: string, isWanted: boolean): Pattern =>
  (pattern) => {
    const compiled = likePattern(pattern, flags);
    return (text) => isFound(compiled, text) === isWanted;
  };

const patterns: Readonly<Record<string, Pattern>> = {
  '~': regex('', true),
  '~*': regex('i', true),
  '!~': regex('', false),
  '!~*': regex('i', false),
  '~~': like('', true),
  '~~*': like('i', true),
  '!~~': like('', false),
  '!~~*': like('i', false),
};

/** A pattern is mostly the same for all rows. */
function remembered(make: Pattern): (pattern: string, text: string) => boolean {
  let known: { readonly pattern: string; readonly test: (text: string) => boolean } | undefined;
  return (pattern, text) => {
    if (known?.pattern !== pattern) known = { pattern, test: make(pattern) };
    return known.test(text);
  };
}

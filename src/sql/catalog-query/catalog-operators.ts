import { sqlError, unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import type { CompileContext, Compiled, Frame } from './catalog-scope.ts';
import { isFound, likePattern, regularExpression } from './re2-pattern.ts';
import {
  arrayOf,
  castValue,
  checkedInteger,
  commonTypeOf,
  compareValues,
  elementOf,
  isArrayType,
  isNumberType,
  isTextType,
  mismatch,
  readValue,
} from './value-conversion.ts';
import { lengthOf, spendLength } from './value-length.ts';

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

type Place = Pick<CompileContext, 'catalog' | 'spend'>;

/** An operator by its name. @throws AppError `sql_type`, `sql_unsupported` */
export function callOperator(
  written: string,
  args: readonly Compiled[],
  context: Place,
  at: number | undefined,
): Compiled {
  const { catalog } = context;
  const name = written === '!=' ? '<>' : written;
  const [left, right, escapeLetter] = args;
  if (left === undefined) throw unsupported(`The operator ${name}`, at);
  if (right === undefined) return sign(name, left, at);
  const as = (each: Compiled, type: string): Compiled => converted(each, type, catalog);
  if (isComparison(name)) {
    const types = [left.type, right.type];
    if (mismatch(types) !== undefined) throw noOperator(left, name, right, at);
    const type = commonTypeOf(types);
    return compareBy(name, as(left, type), as(right, type));
  }
  const pattern = patterns[name];
  if (pattern !== undefined) {
    const test = remembered(pattern);
    const own = escapeLetter && as(escapeLetter, 'text');
    const [subject, wanted] = [as(left, 'text').run, as(right, 'text').run];
    return {
      type: 'bool',
      run: (frame) => {
        const [a, b] = [subject(frame), wanted(frame)];
        const letter = own === undefined ? '\\' : own.run(frame);
        if (a === null || b === null || letter === null) return null;
        const [text, by] = [String(a), String(b)];
        spendLength(context, by.length);
        context.spend(Math.ceil((text.length * by.length) / 32));
        return test(by, String(letter), text);
      },
    };
  }
  if (name === '||') return concatenation(left, right, as, context, at);
  const arrays = arrayTests[name];
  if (arrays !== undefined && (isArrayType(left.type) || isArrayType(right.type))) {
    const type = commonTypeOf([left.type, right.type]);
    return strict('bool', [as(left, type).run, as(right, type).run], (a, b) => {
      context.spend(items(a).length * items(b).length);
      return arrays(items(a), items(b));
    });
  }
  const compute = arithmetic[name];
  if (compute === undefined) throw unsupported(`The operator ${name} in a query of the catalog`, at);
  const [a, b] = [left, right].map((each) => (each.type === 'unknown' ? as(each, 'int4') : each));
  if (a === undefined || b === undefined || !isNumberType(a.type) || !isNumberType(b.type))
    throw noOperator(left, name, right, at);
  const type = commonTypeOf([a.type, b.type]);
  const isWhole = type !== 'float8';
  if (type === 'numeric') throw unsupported('Arithmetic with decimals in a query of the catalog', at);
  return strict(type, [a.run, b.run], (x, y) => {
    if ((name === '/' || name === '%') && y === 0)
      throw sqlError('sql_division_by_zero', 'division by zero', at);
    const result = compute(Number(x), Number(y));
    return isWhole ? checkedInteger(Math.trunc(result), type) : result;
  });
}

const noOperator = (left: Compiled, name: string, right: Compiled, at: number | undefined): Error =>
  sqlError('sql_unknown_function', `operator does not exist: ${left.type} ${name} ${right.type}`, at);

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
  some.every((item) => item !== null && all.some((each) => isEqual(each, item)));

const arrayTests: Readonly<Record<string, (a: readonly Value[], b: readonly Value[]) => boolean>> = {
  '@>': contains,
  '<@': (a, b) => contains(b, a),
  '&&': (a, b) => a.some((item) => item !== null && b.some((each) => isEqual(each, item))),
};

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '&': (a, b) => Number(BigInt(a) & BigInt(b)),
  '|': (a, b) => Number(BigInt(a) | BigInt(b)),
  '#': (a, b) => Number(BigInt(a) ^ BigInt(b)),
  '<<': (a, b) => a * 2 ** b,
  '>>': (a, b) => Math.floor(a / 2 ** b),
};

function concatenation(
  left: Compiled,
  right: Compiled,
  as: (each: Compiled, type: string) => Compiled,
  context: Place,
  at: number | undefined,
): Compiled {
  const [isLeft, isRight] = [left, right].map(({ type }) => isArrayType(type));
  if (isLeft !== true && isRight !== true) {
    const isText = ({ type }: Compiled): boolean => isTextType(type);
    if (!isText(left) && !isText(right)) throw noOperator(left, '||', right, at);
    return strict('text', [as(left, 'text').run, as(right, 'text').run], (a, b) => {
      const [first, second] = [String(a), String(b)];
      spendLength(context, first.length + second.length);
      return first + second;
    });
  }
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
      spendLength(
        context,
        parts.reduce<number>((sum, part) => sum + lengthOf(part), 0),
      );
      return parts.length === 0 ? null : parts.flatMap(items);
    },
  };
}

type Pattern = (pattern: string, escapeLetter: string) => (text: string) => boolean;

const regex =
  (flags: string, isWanted: boolean): Pattern =>
  (pattern) => {
    const compiled = regularExpression(pattern, flags);
    return (text) => isFound(compiled, text) === isWanted;
  };

const like =
  (flags: string, isWanted: boolean): Pattern =>
  (pattern, escapeLetter) => {
    const compiled = likePattern(pattern, escapeLetter, flags);
    return (text) => (compiled !== undefined && isFound(compiled, text)) === isWanted;
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
function remembered(make: Pattern): (pattern: string, escapeLetter: string, text: string) => boolean {
  let known: { readonly key: string; readonly test: (text: string) => boolean } | undefined;
  return (pattern, escapeLetter, text) => {
    const key = escapeLetter + pattern;
    if (known?.key !== key) known = { key, test: make(pattern, escapeLetter) };
    return known.test(text);
  };
}

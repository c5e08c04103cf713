import { groupBy } from '../../lib/group-by.ts';
import type { Call, Expression, SortKey } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import { converted } from './catalog-operators.ts';
import type { CompileContext, Compiled, Frame } from './catalog-scope.ts';
import {
  arrayOf,
  checkedInteger,
  compareValues,
  compareWithNulls,
  isArrayType,
  isNumberType,
  keyOf,
} from './value-conversion.ts';
import { lengthOf, spendLength } from './value-length.ts';

type Compile = (expression: Expression, context: CompileContext) => Compiled;

/** Of what it is computed. */
interface AggregateCall {
  /** The type of the first argument. */
  readonly argument: string;
  readonly context: CompileContext;
}

interface Aggregate {
  readonly type: (argument: string) => string;
  /** Whether it takes NULL for a value. */
  readonly takesNulls?: boolean;
  /** Of the values of all rows, and of the second argument in the first row. */
  readonly compute: (values: readonly Value[], second: Value, call: AggregateCall) => Value;
}

const asGiven = (type: string): string => (type === 'unknown' ? 'text' : type);
const extreme =
  (sign: 1 | -1) =>
  (values: readonly Value[]): Value =>
    values.reduce<Value>(
      (best, value) => (best === null || compareValues(value, best) * sign > 0 ? value : best),
      null,
    );

const aggregates: Readonly<Record<string, Aggregate>> = {
  count: { type: () => 'int8', compute: (values) => values.length },
  sum: {
    type: (type) => (type === 'float8' ? type : 'int8'),
    compute: (values, _, { argument }) => {
      if (values.length === 0) return null;
      const sum = values.reduce<number>((total, value) => total + Number(value), 0);
      return argument === 'float8' ? sum : checkedInteger(sum, 'int8');
    },
  },
  max: { type: asGiven, compute: extreme(1) },
  min: { type: asGiven, compute: extreme(-1) },
  bool_or: { type: () => 'bool', compute: (values) => (values.length === 0 ? null : values.includes(true)) },
  bool_and: {
    type: () => 'bool',
    compute: (values) => (values.length === 0 ? null : !values.includes(false)),
  },
  every: { type: () => 'bool', compute: (values) => (values.length === 0 ? null : !values.includes(false)) },
  array_agg: {
    type: arrayOf,
    takesNulls: true,
    compute: (values, _, { context }) => {
      spendLength(context, lengthOf(values));
      return values.length === 0 ? null : values;
    },
  },
  string_agg: {
    type: () => 'text',
    compute: (values, separator, { context }) => {
      if (values.length === 0) return null;
      const by = String(separator ?? '');
      spendLength(context, lengthOf(values) + values.length * by.length);
      return values.join(by);
    },
  },
};

export const isAggregate = (name: string): boolean => Object.hasOwn(aggregates, name);

export function compileAggregate(call: Call, context: CompileContext, compile: Compile): Compiled {
  const aggregate = aggregates[call.name];
  if (aggregate === undefined || call.withinGroup.length > 0) throw unsupported(call.name, call.at);
  const [given, second] = call.args.map((arg) => compile(arg, context));
  if (given === undefined && !call.star)
    throw sqlError('sql_unknown_function', `function ${call.name}() does not exist`, call.at);
  const isText = call.name === 'string_agg' || given?.type === 'unknown';
  const arg = given && isText ? converted(given, 'text', context.catalog) : given;
  if (call.name === 'sum' && arg !== undefined && !isNumberType(arg.type))
    throw sqlError('sql_type', `function sum(${arg.type}) does not exist`, call.at);
  if (call.name === 'sum' && arg?.type === 'numeric')
    throw unsupported('A sum of decimals in a query of the catalog', call.at);
  if (call.name === 'array_agg' && arg !== undefined && isArrayType(arg.type))
    throw unsupported('An array of arrays', call.at);
  const aggregateCall: AggregateCall = { argument: arg?.type ?? 'int8', context };
  const filter = call.filter && compile(call.filter, context);
  const order = sorter(call.orderBy, context, compile);
  const separator = second && converted(second, 'text', context.catalog);
  const place = context.scope.compute({
    kind: 'aggregate',
    compute: (frames) => {
      context.spend(frames.length);
      const chosen = filter === undefined ? frames : frames.filter((frame) => filter.run(frame) === true);
      const values = order(chosen).map((frame) => (arg === undefined ? true : arg.run(frame)));
      const known = aggregate.takesNulls === true ? values : values.filter((value) => value !== null);
      const first = chosen[0];
      const extra = separator !== undefined && first !== undefined ? separator.run(first) : null;
      return aggregate.compute(call.distinct ? distinct(known) : known, extra, aggregateCall);
    },
  });
  return { type: aggregate.type(arg?.type ?? 'int8'), run: (frame) => frame.computed[place] ?? null };
}

function distinct(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [keyOf([value]), value])).values()].toSorted(compareWithNulls);
}

/** Sorts frames by keys. */
export function sorter(
  keys: readonly SortKey[],
  context: CompileContext,
  compile: Compile,
): (frames: readonly Frame[]) => readonly Frame[] {
  if (keys.length === 0) return (frames) => frames;
  const compiled = keys.map((key) => ({ ...key, run: compile(key.expression, context).run }));
  return (frames) => {
    spendSorting(context, frames.length);
    return frames
      .map((frame) => ({ frame, values: compiled.map(({ run }) => run(frame)) }))
      .toSorted((a, b) => compareKeys(a.values, b.values, compiled))
      .map(({ frame }) => frame);
  };
}

/** As many comparisons as sorting takes. */
export const spendSorting = ({ spend }: Pick<CompileContext, 'spend'>, rows: number): void =>
  spend(Math.ceil(rows * Math.log2(rows + 1)));

const ascending = { descending: false, nullsFirst: false };

/** The order of two rows by their sort keys. */
export function compareKeys(
  left: readonly Value[],
  right: readonly Value[],
  keys: ReadonlyArray<Pick<SortKey, 'descending' | 'nullsFirst'>>,
): number {
  for (let index = 0; index < left.length; index++) {
    const { descending, nullsFirst } = keys[index] ?? ascending;
    const a = left[index] ?? null;
    const b = right[index] ?? null;
    if (a === null && b === null) continue;
    if (a === null || b === null) return (a === null) === nullsFirst ? -1 : 1;
    const order = compareValues(a, b);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}

type Numbering = (sorted: readonly Frame[], keys: (frame: Frame) => string) => readonly number[];

const numberings: Readonly<Record<string, Numbering>> = {
  row_number: (sorted) => sorted.map((_, index) => index + 1),
  rank: (sorted, keys) => {
    let rank = 0;
    let last: string | undefined;
    return sorted.map((frame, index) => {
      const key = keys(frame);
      if (key !== last) rank = index + 1;
      last = key;
      return rank;
    });
  },
};

/** `row_number()` and `rank()` over a partition; others are not needed of the catalog. */
export function compileWindow(call: Call, context: CompileContext, compile: Compile): Compiled {
  const numbering = Object.hasOwn(numberings, call.name) ? numberings[call.name] : undefined;
  const { over } = call;
  const isNamed = over?.reference !== undefined || over?.base !== undefined;
  if (numbering === undefined || over === undefined || isNamed)
    throw unsupported(`The window function ${call.name} in a query of the catalog`, call.at);
  const partition = over.partitionBy.map((key) => compile(key, context).run);
  const keys = over.orderBy.map((key) => compile(key.expression, context).run);
  const order = sorter(over.orderBy, context, compile);
  const place = context.scope.compute({
    kind: 'window',
    compute: (frames) => {
      const parts = groupBy(frames, (frame) => keyOf(partition.map((run) => run(frame))));
      const numbers = new Map<Frame, number>();
      for (const part of parts.values()) {
        const sorted = order(part);
        const given = numbering(sorted, (frame) => keyOf(keys.map((run) => run(frame))));
        for (const [index, frame] of sorted.entries()) numbers.set(frame, given[index] ?? 0);
      }
      return frames.map((frame) => numbers.get(frame) ?? null);
    },
  });
  return { type: 'int8', run: (frame) => frame.computed[place] ?? null };
}

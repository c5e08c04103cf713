import { microsPerDay } from '../../lib/timestamp.ts';
import type { Frame, FrameBound } from '../ast.ts';
import { apply } from '../build.ts';
import { coerce } from '../coerce.ts';
import { constantOf } from '../functions/definition.ts';
import type { Expr, IntervalParts, Sort, WindowSpec } from '../ir.ts';
import { isSessionInUtc } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { bool, float, interval, isInteger, isTimestamp, type SqlType } from '../types.ts';
import type { ExpressionContext } from './expression-context.ts';

type Offset = Extract<FrameBound, { readonly offset: unknown }>;

const isOffset = (bound: FrameBound): bound is Offset => 'offset' in bound;

/** A window with a frame. */
export function framed(
  frame: Frame,
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  context: ExpressionContext,
): WindowSpec {
  const { mode, start, end } = frame;
  if (mode === 'RANGE' && (isOffset(start) || isOffset(end))) {
    return rangeOf(frame, partitionBy, orderBy, context);
  }
  const bound = (each: FrameBound): string =>
    isOffset(each) ? printed(each, rowCount(each)) : each.kind.toUpperCase();
  return { partitionBy, orderBy, frame: { mode, start: bound(start), end: bound(end) } };
}

const printed = ({ kind }: Offset, size: number): string => `${size} ${kind.toUpperCase()}`;

function rowCount({ offset }: Offset): number {
  if (offset.kind === 'constant' && offset.type === 'integer' && /^\d{1,9}$/.test(offset.text)) {
    return Number(offset.text);
  }
  throw unsupported('A window frame whose offset is not a positive integer literal', offset.at);
}

/**
 * `RANGE BETWEEN interval '1 hour' PRECEDING AND CURRENT ROW`. The store takes whole offsets of up to 31
 * bits, and keys without NULL. So keys are doubles, of microseconds for times, divided by the power of two
 * that makes the offsets such numbers, which changes none of their digits; and rows without a key, which are
 * peers of each other alone, are a partition of their own, or, where the frame is open on one side, lie
 * beyond all others on theirs.
 */
function rangeOf(
  { start, end }: Frame,
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  context: ExpressionContext,
): WindowSpec {
  const [sort, second] = orderBy;
  if (sort === undefined || second !== undefined) {
    throw sqlError('sql_syntax', 'RANGE with an offset needs exactly one ORDER BY column');
  }
  const isOpen = [start, end].some((bound) => bound.kind.startsWith('unbounded'));
  const { expr } = sort;
  const sizes = [start, end].map((bound) => (isOffset(bound) ? rangeSize(bound, expr.type, context) : 0));
  const unit = commonUnit(sizes);
  const bound = (each: FrameBound, index: number): string =>
    isOffset(each) ? printed(each, (sizes[index] ?? 0) / unit) : each.kind.toUpperCase();
  const place = isOpen ? beyondAll(sort) : '0';
  const key = isOpen ? finitePosition : position;
  const check = (a: string): string => (!isOpen && isBeside(start, end, sizes) ? ` + ${refuseNull(a)}` : '');
  const scaled = (a: string): string => `ifNull(${key(a, expr.type)}, ${place}) / ${unit}${check(a)}`;
  const hasNoKey = apply('has no key', bool, (a) => `isNull(${a})`, expr);
  return {
    partitionBy: isOpen ? partitionBy : [...partitionBy, hasNoKey],
    orderBy: [
      { ...sort, expr: apply(`key or ${place} / ${unit} ${start.kind} ${end.kind}`, float, scaled, expr) },
    ],
    frame: { mode: 'RANGE', start: bound(start, 0), end: bound(end, 1) },
  };
}

/** True for a frame without the row itself. The peers of a row without a key would be in it nevertheless. */
const isBeside = (start: FrameBound, end: FrameBound, [first = 0, last = 0]: readonly number[]): boolean =>
  (start.kind === 'following' && first > 0) || (end.kind === 'preceding' && last > 0);

const refuseNull = (key: string): string =>
  `throwIf(isNull(${key}), 'a RANGE frame beside its row, by what is NULL')`;

const isTime = (type: SqlType): boolean => isTimestamp(type) || type.name === 'date';

/** The key as a double. Microseconds since 1970 have fewer digits than that can have until the year 2255. */
const position = (key: string, type: SqlType): string =>
  isTime(type) ? `toFloat64(toUnixTimestamp64Micro(toDateTime64(${key}, 6, 'UTC')))` : `toFloat64(${key})`;

const beyondAll = ({ descending, nullsFirst }: Sort): string => (descending === nullsFirst ? 'inf' : '-inf');

/** Where what has no number lies beyond them all, nothing else may. */
function finitePosition(key: string, type: SqlType): string {
  const place = position(key, type);
  if (type.name !== 'float') return place;
  const infinite = `ifNull(NOT isFinite(${key}), false)`;
  return `(${place} + throwIf(${infinite}, 'a RANGE frame by what is no finite number'))`;
}

function rangeSize({ offset }: Offset, key: SqlType, context: ExpressionContext): number {
  const resolved = context.resolve(offset, context);
  const { at } = offset;
  const size = isTime(key) ? microsOf(resolved, key, at) : numberOf(resolved, key, at);
  if (size >= 0) return size;
  throw sqlError('sql_out_of_range', 'invalid preceding or following size in window function', at);
}

function microsOf(offset: Expr, key: SqlType, at: number | undefined): number {
  const length = coerce(offset, interval, at);
  const parts = length.kind === 'literal' ? (length.value as IntervalParts | null) : null;
  if (parts !== null && parts.days !== 0 && key.name === 'timestamptz' && !isSessionInUtc()) {
    throw unsupported('A RANGE frame of days, which may have 23 hours, outside of UTC', at);
  }
  if (parts !== null && parts.months === 0) return parts.days * microsPerDay + parts.micros;
  throw unsupported('A RANGE frame whose offset is not the literal of an interval without months', at);
}

function numberOf(given: Expr, key: SqlType, at: number | undefined): number {
  const offset = constantOf(given, key);
  // Beyond 53 bits a double is not every integer.
  const isExact = key.name === 'float' || (isInteger(key) && key.name !== 'int8');
  if (!isExact) throw unsupported(`A RANGE frame with an offset by a key of this type`, at);
  const size = offset.kind === 'literal' && offset.value !== null ? Number(offset.value) : Number.NaN;
  if (Number.isFinite(size)) return size;
  throw unsupported('A RANGE frame whose offset is not a literal', at);
}

/** The largest power of two of which all are multiples. */
function commonUnit(sizes: readonly number[]): number {
  const largest = Math.max(...sizes);
  if (largest === 0) return 1;
  let unit = 1;
  while (largest / unit >= 2 ** 31) unit *= 2;
  while (sizes.some((size) => !Number.isInteger(size / unit)) && largest / unit < 2 ** 30) unit /= 2;
  if (sizes.every((size) => Number.isInteger(size / unit))) return unit;
  throw unsupported('A RANGE frame with such an offset');
}

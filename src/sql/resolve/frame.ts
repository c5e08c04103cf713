import { microsPerDay } from '../../lib/timestamp.ts';
import type { Frame, FrameBound } from '../ast.ts';
import { apply, some } from '../build.ts';
import { coerce, convert } from '../coerce.ts';
import { constantValue } from '../constant-value.ts';
import { windowFunctions } from '../functions/aggregates/windows.ts';
import { constantOf } from '../functions/definition.ts';
import type { Expr, IntervalParts, Sort, WindowSpec } from '../ir.ts';
import { isSessionInUtc } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { isNumberText } from '../syntax/number-text.ts';
import { raiseIf } from '../syntax/raise.ts';
import {
  bool,
  float,
  int8,
  interval,
  isInteger,
  isNumber,
  isTimestamp,
  numericScale,
  type SqlType,
  typeLabel,
} from '../types.ts';
import type { ExpressionContext } from './expression-context.ts';

type Offset = Extract<FrameBound, { readonly offset: unknown }>;

const isOffset = (bound: FrameBound): bound is Offset => 'offset' in bound;

/** Rows by which an aggregate over a window is computed, if EXCLUDE leaves more than one piece of a frame. */
export interface FramePart {
  readonly over: WindowSpec;
  /** It has no row, whatever its frame. */
  readonly isEmpty: boolean;
}

export interface FramedWindow {
  readonly over: WindowSpec;
  /** Of a frame with EXCLUDE: what is left of it, in order. */
  readonly parts: readonly FramePart[] | undefined;
}

/** A window with a frame. */
export function framed(
  frame: Frame,
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  context: ExpressionContext,
): FramedWindow {
  const { mode, start, end, exclude, at } = frame;
  if (mode === 'GROUPS' && orderBy.length === 0) {
    throw sqlError('sql_window', 'GROUPS mode requires an ORDER BY clause', at);
  }
  const hasOffset = isOffset(start) || isOffset(end);
  if (exclude !== undefined) return excluding(frame, partitionBy, orderBy, context);
  const plain = (over: WindowSpec): FramedWindow => ({ over, parts: undefined });
  if (!hasOffset) {
    // Groups of peers are what RANGE counts from and to, where it counts none.
    const kinds = { start: start.kind.toUpperCase(), end: end.kind.toUpperCase() };
    return plain({ partitionBy, orderBy, frame: { mode: mode === 'ROWS' ? 'ROWS' : 'RANGE', ...kinds } });
  }
  if (mode === 'RANGE') return plain(rangeOf(frame, partitionBy, orderBy, context));
  const [first, last] = [placeOf(start, context), placeOf(end, context)];
  return plain(
    mode === 'ROWS' ? rows(partitionBy, orderBy, first, last) : groups(partitionBy, orderBy, first, last, at),
  );
}

const rows = (
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  first: number,
  last: number,
): WindowSpec => ({
  partitionBy,
  orderBy,
  frame: { mode: 'ROWS', start: printedPlace(first, 'PRECEDING'), end: printedPlace(last, 'FOLLOWING') },
});

/** Groups of peers are numbered by a window of their own (`window-stages.ts`), and counted by the number. */
function groups(
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  first: number,
  last: number,
  at: number | undefined,
): WindowSpec {
  const number = windowFunctions['dense_rank'];
  if (number === undefined) throw new Error('BUG: dense_rank is missing');
  const group = number([], { partitionBy, orderBy, frame: undefined }, { name: 'dense_rank', at });
  return {
    partitionBy,
    orderBy: [{ expr: group, descending: false, nullsFirst: false }],
    frame: { mode: 'RANGE', start: printedPlace(first, 'PRECEDING'), end: printedPlace(last, 'FOLLOWING') },
  };
}

/** @param open the side on which what is infinite is open */
function printedPlace(place: number, open: 'PRECEDING' | 'FOLLOWING'): string {
  if (!Number.isFinite(place)) return `UNBOUNDED ${open}`;
  if (place === 0) return 'CURRENT ROW';
  return `${Math.abs(place)} ${place < 0 ? 'PRECEDING' : 'FOLLOWING'}`;
}

/** Where a frame begins or ends, counted from the row in rows or groups. */
function placeOf(bound: FrameBound, context: ExpressionContext): number {
  if (bound.kind === 'current row') return 0;
  if (!isOffset(bound)) return bound.kind === 'unbounded preceding' ? -Infinity : Infinity;
  const count = countOf(bound, context);
  return bound.kind === 'preceding' ? -count : count;
}

/** The store counts in 31 bits, which no partition exceeds. */
const maxFrameOffset = 2 ** 31 - 1;

function countOf({ offset }: Offset, context: ExpressionContext): number {
  const { at } = offset;
  const given = constantOf(context.resolve(offset, context), int8);
  if (some(given, (each) => each.kind === 'column' || each.kind === 'mixed')) {
    throw sqlError('sql_bad_reference', 'argument of a window frame must not contain variables', at);
  }
  const count = constantValue(convert(given, int8, at));
  if (count === null) throw sqlError('sql_bad_frame', 'frame offset must not be null', at);
  if (typeof count !== 'bigint') {
    throw unsupported('A window frame whose offset is not a constant integer', at);
  }
  if (count < 0n) throw sqlError('sql_bad_frame', 'frame offset must not be negative', at);
  return Math.min(Number(count), maxFrameOffset);
}

/** EXCLUDE: the rows of the frame before and behind what is left out, and what is left of the row's peers. */
function excluding(
  { mode, start, end, exclude, at }: Frame,
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  context: ExpressionContext,
): FramedWindow {
  const byRows = mode === 'ROWS';
  if (mode === 'RANGE' && (isOffset(start) || isOffset(end))) {
    throw unsupported('EXCLUDE in a RANGE frame with an offset', at);
  }
  if (byRows && exclude !== 'current row') {
    throw unsupported(`EXCLUDE ${exclude?.toUpperCase()} in a ROWS frame`, at);
  }
  const [first, last] = [placeOf(start, context), placeOf(end, context)];
  const piece = (from: number, to: number): WindowSpec =>
    byRows ? rows(partitionBy, orderBy, from, to) : groups(partitionBy, orderBy, from, to, at);
  const hasRow = first <= 0 && last >= 0;
  const ofPeers = (): readonly WindowSpec[] => {
    if (byRows || !hasRow || exclude === 'group') return [];
    const peers = [...partitionBy, ...orderBy.map((sort) => sort.expr)];
    if (exclude === 'ties') return [rows(peers, [], 0, 0)];
    return [rows(peers, [], -Infinity, -1), rows(peers, [], 1, Infinity)];
  };
  const parts = [
    ...(first < 0 ? [piece(first, Math.min(last, -1))] : []),
    ...ofPeers(),
    ...(last > 0 ? [piece(Math.max(first, 1), last)] : []),
  ];
  const own = rows(partitionBy, orderBy, 0, 0);
  return {
    over: piece(first, last),
    parts:
      parts.length === 0 ? [{ over: own, isEmpty: true }] : parts.map((over) => ({ over, isEmpty: false })),
  };
}

const printed = ({ kind }: Offset, size: number): string => `${size} ${kind.toUpperCase()}`;

/**
 * `RANGE BETWEEN interval '1 hour' PRECEDING AND CURRENT ROW`. The store takes whole offsets of up to 31
 * bits, and keys without NULL. So keys are doubles, of microseconds for times, divided by the power of two
 * that makes the offsets such numbers, which changes none of their digits; and rows without a key, which are
 * peers of each other alone, are a partition of their own, or, where the frame is open on one side, lie
 * beyond all others on theirs.
 */
function rangeOf(
  { start, end, at }: Frame,
  partitionBy: readonly Expr[],
  orderBy: readonly Sort[],
  context: ExpressionContext,
): WindowSpec {
  const [sort, second] = orderBy;
  if (sort === undefined || second !== undefined) {
    throw sqlError(
      'sql_window',
      'RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column',
      at,
    );
  }
  const isOpen = [start, end].some((bound) => bound.kind.startsWith('unbounded'));
  const { expr } = sort;
  const offsets = [start, end].map((bound) =>
    isOffset(bound) ? rangeSize(bound, expr.type, context) : noOffset,
  );
  // Decimals are counted in their last digit.
  const digits = Math.max(numericScale(expr.type), ...offsets.map((offset) => offset.digits));
  const isDecimal = expr.type.name === 'numeric' || expr.type.name === 'int8';
  const sizes = offsets.map(({ size }) => (isDecimal ? Math.round(size * 10 ** digits) : size));
  if (sizes.some((size) => isDecimal && size > maxExact)) {
    throw unsupported('A RANGE frame with an offset of more than 15 digits', at);
  }
  const unit = commonUnit(sizes, at);
  const bound = (each: FrameBound, index: number): string =>
    isOffset(each) ? printed(each, (sizes[index] ?? 0) / unit) : each.kind.toUpperCase();
  const place = isOpen ? beyondAll(sort) : '0';
  const key = isOpen ? finitePosition : position;
  const check = (a: string): string => (!isOpen && isBeside(start, end, sizes) ? ` + ${refuseNull(a)}` : '');
  const scaled = (a: string): string =>
    `ifNull(${isDecimal ? decimalPosition(a, digits) : key(a, expr.type)}, ${place}) / ${unit}${check(a)}`;
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

const refuseNull = (key: string): string => raiseIf(`isNull(${key})`, 'rangeBesideNull');

const isTime = (type: SqlType): boolean => isTimestamp(type) || type.name === 'date';

/** The key as a double. Microseconds since 1970 have fewer digits than that can have until the year 2255. */
const position = (key: string, type: SqlType): string =>
  isTime(type) ? `toFloat64(toUnixTimestamp64Micro(toDateTime64(${key}, 6, 'UTC')))` : `toFloat64(${key})`;

/** Integers up to this one are doubles. */
const maxExact = 2 ** 53;

function decimalPosition(key: string, digits: number): string {
  const whole = `toInt256(${key} * toDecimal256('1${'0'.repeat(digits)}', 0))`;
  return `(toFloat64(${whole}) + ${raiseIf(`abs(${whole}) > ${maxExact}`, 'rangeOfManyDigits')})`;
}

const beyondAll = ({ descending, nullsFirst }: Sort): string => (descending === nullsFirst ? 'inf' : '-inf');

/** Where what has no number lies beyond them all, nothing else may. */
function finitePosition(key: string, type: SqlType): string {
  const place = position(key, type);
  if (type.name !== 'float') return place;
  return `(${place} + ${raiseIf(`NOT isFinite(${key})`, 'rangeOfInfinity')})`;
}

interface RangeOffset {
  readonly size: number;
  /** Behind its point. */
  readonly digits: number;
}

const noOffset: RangeOffset = { size: 0, digits: 0 };

function rangeSize({ offset }: Offset, key: SqlType, context: ExpressionContext): RangeOffset {
  const resolved = context.resolve(offset, context);
  const { at } = offset;
  const found = isTime(key) ? { size: microsOf(resolved, key, at), digits: 0 } : numberOf(resolved, key, at);
  if (found.size >= 0) return found;
  throw sqlError('sql_bad_frame', 'invalid preceding or following size in window function', at);
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

function numberOf(given: Expr, key: SqlType, at: number | undefined): RangeOffset {
  const offset = constantOf(given, key);
  if (!isNumber(key)) {
    throw sqlError(
      'sql_unsupported',
      `RANGE with offset PRECEDING/FOLLOWING is not supported for column type ${typeLabel(key)}`,
      at,
    );
  }
  const value = offset.kind === 'literal' ? offset.value : constantValue(offset);
  if (value === null) throw sqlError('sql_bad_frame', 'frame offset must not be null', at);
  const text = String(value);
  if (value === undefined || !isNumberText(text)) {
    throw unsupported('A RANGE frame whose offset is no constant', at);
  }
  if (isInteger(key) && !Number.isInteger(Number(text))) {
    throw sqlError(
      'sql_unsupported',
      `RANGE with offset PRECEDING/FOLLOWING is not supported for column type ${typeLabel(key)} and offset type numeric`,
      at,
    );
  }
  const [, fraction = ''] = /^[^.e]*\.(\d*)$/i.exec(text) ?? [];
  return { size: Number(text), digits: fraction.length };
}

/** The largest power of two of which all are multiples. */
function commonUnit(sizes: readonly number[], at: number | undefined): number {
  const largest = Math.max(...sizes);
  if (largest === 0) return 1;
  let unit = 1;
  while (largest / unit >= 2 ** 31) unit *= 2;
  while (sizes.some((size) => !Number.isInteger(size / unit)) && largest / unit < 2 ** 30) unit /= 2;
  if (sizes.every((size) => Number.isInteger(size / unit))) return unit;
  throw unsupported('A RANGE frame with an offset of more digits than the other one has room for', at);
}

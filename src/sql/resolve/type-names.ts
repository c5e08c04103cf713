import type { TypeName } from '../ast.ts';
import { apply, literal } from '../build.ts';
import { convert } from '../coerce.ts';
import { castArray } from '../functions/arrays/arrays.ts';
import type { Expr, Mixed } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import {
  bool,
  bytea,
  date,
  doubleScale,
  float,
  int2,
  int4,
  int8,
  interval,
  isNumber,
  json,
  jsonb,
  maxNumericScale,
  numeric,
  type SqlType,
  text,
  time,
  timestamp,
  timestamptz,
  unknown,
} from '../types.ts';

/** The types that a query may name. */
const typesByName: ReadonlyMap<string, SqlType> = new Map<string, SqlType>([
  ['bool', bool],
  ['int2', int2],
  ['int4', int4],
  ['int8', int8],
  ['float8', float],
  ['numeric', numeric(doubleScale, false)],
  ['text', text],
  ['varchar', text],
  ['timestamp', timestamp],
  ['timestamptz', timestamptz],
  ['date', date],
  ['time', time],
  ['bytea', bytea],
  ['interval', interval],
  ['json', json],
  ['jsonb', jsonb],
]);

/** The types, for the documentation. */
export const typeNames: readonly string[] = [...typesByName.keys(), 'type[]'];

/** `CAST(expr AS type)`. */
export function castTo(expr: Expr, name: TypeName): Expr {
  const type = typesByName.get(name.name);
  if (type === undefined) throw unsupported(`The type ${name.name}${name.array ? '[]' : ''}`, name.at);
  if (name.array) return castToArray(expr, type, name);
  if (type.name === 'interval') return castToInterval(expr, name);
  if (type.name === 'numeric') return castToNumeric(expr, name);
  if (name.name === 'varchar') return castToVarchar(expr, name);
  if (name.name === 'time') return castToTime(expr, name);
  if (name.modifiers.length > 0) throw unsupported(`A modifier of the type ${name.name}`, name.at);
  return castValue(expr, type, name.at);
}

function castToArray(expr: Expr, type: SqlType, name: TypeName): Expr {
  if (name.modifiers.length > 0) throw unsupported(`A modifier of the type ${name.name}[]`, name.at);
  return castArray(expr, type, name.at);
}

/** The fields of an interval, by their bits in its modifier (PostgreSQL's src/include/utils/timestamp.h). */
const intervalFields: ReadonlyMap<number, string> = new Map([
  [1 << 1, 'month'],
  [1 << 2, 'year'],
  [1 << 3, 'day'],
  [1 << 10, 'hour'],
  [1 << 11, 'minute'],
  [1 << 12, 'second'],
]);

/** `interval '90' day` is a number with its unit behind it. */
function castToInterval(expr: Expr, name: TypeName): Expr {
  const [field] = name.modifiers;
  if (field === undefined) return castValue(expr, interval, name.at);
  const unit = intervalFields.get(field);
  const isNumber =
    expr.kind === 'literal' && typeof expr.value === 'string' && /^\s*-?\d+\s*$/.test(expr.value);
  if (unit === undefined || !isNumber || name.modifiers.length > 1) {
    throw unsupported('An interval with fields, other than a whole number with one unit,', name.at);
  }
  return convert(literal(unknown, `${expr.value} ${unit}`), interval, name.at);
}

/** Of a field with several types of value, all of them are converted. */
function castValue(expr: Expr, type: SqlType, at: number | undefined): Expr {
  return expr.kind === 'mixed' && isNumber(type) ? castMixed(expr, type, at) : convert(expr, type, at);
}

function castMixed(expr: Mixed, type: SqlType, at: number | undefined): Expr {
  const parts = expr.has
    .filter((each) => each !== 'bool')
    .map((each) => convert(expr.column(each), type, at));
  return apply(`coalesce`, type, (...values) => `coalesce(${values.join(', ')})`, ...parts);
}

/** `time(3)` keeps three digits of a second. */
function castToTime(expr: Expr, name: TypeName): Expr {
  const value = castValue(expr, time, name.at);
  const [digits] = name.modifiers;
  if (digits === undefined) return value;
  const unit = 10 ** Math.max(0, 6 - digits);
  return apply(
    `time(${digits})`,
    time,
    (a) => `intDiv(toInt64(${a}) + ${Math.floor(unit / 2)}, ${unit}) * ${unit}`,
    value,
  );
}

function castToVarchar(expr: Expr, name: TypeName): Expr {
  const value = castValue(expr, text, name.at);
  const [length] = name.modifiers;
  return length === undefined
    ? value
    : apply(`varchar ${length}`, text, (a) => `substringUTF8(${a}, 1, ${length})`, value);
}

function castToNumeric(expr: Expr, name: TypeName): Expr {
  const [precision, scale = 0] = name.modifiers;
  if (precision === undefined) return castToBareNumeric(expr, name.at);
  if (precision < 1 || precision > 76 || scale < 0 || scale > Math.min(precision, maxNumericScale)) {
    throw unsupported(`numeric(${precision},${scale}), outside numeric(76,${maxNumericScale}),`, name.at);
  }
  const type = { ...numeric(scale, true), digits: precision };
  const value = castValue(expr, type, name.at);
  // A literal keeps the digits it was written with until it gets a scale here.
  const rounded = convert(value, type, name.at);
  const bound = `toDecimal256('1${'0'.repeat(precision - scale)}', 0)`;
  return apply(
    `numeric(${precision},${scale})`,
    type,
    (a) => `(${a} + toDecimal256(accurateCast(if(abs(${a}) >= ${bound}, -1, 0), 'UInt8'), 0))`,
    rounded,
  );
}

/** Without a scale, the value keeps the digits that it has. */
function castToBareNumeric(expr: Expr, at: number | undefined): Expr {
  switch (expr.type.name) {
    case 'numeric':
      return expr;
    case 'int2':
    case 'int4':
    case 'int8':
      return convert(expr, numeric(0, true), at);
    case 'unknown':
      return convert(expr, numeric(0, true), at);
    case 'float':
    case 'text':
    case 'jsonb':
    case 'mixed':
      return castValue(expr, numeric(doubleScale, false), at);
    default:
      throw sqlError('sql_type', `cannot cast type ${expr.type.name} to numeric`, at);
  }
}

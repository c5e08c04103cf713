import type { FieldType } from '../model/column.ts';

/**
 * Static types. PostgreSQL's operators mean different things for different types (`7 / 2`), so every
 * expression gets one before it is printed.
 */
export type SqlType =
  | { readonly name: SimpleTypeName }
  | {
      readonly name: 'numeric';
      /** Digits behind the point in the store, where a decimal's scale is part of its type. */
      readonly scale: number;
      /** True when PostgreSQL shows exactly `scale` digits too, so that the text form is known. */
      readonly exact: boolean;
      /** Digits in all, where they were declared. */
      readonly digits?: number;
    }
  | { readonly name: 'array'; readonly element: SqlType }
  | { readonly name: 'interval'; readonly form: IntervalForm };

/**
 * What is known of the months, days and hours of an interval, of which the store keeps the length alone:
 * `clock` has hours only, however many, `days` as many days as fit, like a difference of timestamps, `mixed`
 * some days and hours; `any` may have months.
 */
export type IntervalForm = 'clock' | 'days' | 'mixed' | 'any';

export type SimpleTypeName =
  | 'bool'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float'
  | 'text'
  | 'timestamp'
  | 'timestamptz'
  | 'date'
  /** A time of day: microseconds since midnight. */
  | 'time'
  | 'bytea'
  | 'map'
  /** Both are JSON as text; they differ in what is at a position of a scalar. */
  | 'json'
  | 'jsonb'
  /** A row of values, which the store has as its text. */
  | 'record'
  /** A string literal or NULL whose context has not given it a type yet. */
  | 'unknown'
  /** A field that holds several types of value. */
  | 'mixed';

const simple = (name: SimpleTypeName): SqlType => ({ name });

export const bool = simple('bool');
export const int2 = simple('int2');
export const int4 = simple('int4');
export const int8 = simple('int8');
export const float = simple('float');
export const text = simple('text');
export const timestamp = simple('timestamp');
export const timestamptz = simple('timestamptz');
export const date = simple('date');
export const time = simple('time');
export const bytea = simple('bytea');
/** Microseconds, with a day of 24 hours and, as in PostgreSQL's comparisons, a month of 30 days. */
export const intervalOf = (form: IntervalForm): SqlType => ({ name: 'interval', form });
export const interval = intervalOf('any');
/** The form of what is made of several: without months, if none of them may have some. */
export const commonForm = (forms: readonly IntervalForm[], otherwise: IntervalForm): IntervalForm =>
  forms.includes('any') ? 'any' : otherwise;
export const map = simple('map');
export const json = simple('json');
export const jsonb = simple('jsonb');
export const record = simple('record');
export const arrayOf = (element: SqlType): SqlType => ({ name: 'array', element });
export const unknown = simple('unknown');
export const mixed = simple('mixed');
export const numeric = (scale: number, exact: boolean): SqlType => ({ name: 'numeric', scale, exact });

/** The type in which SQL sees a physical column of a field. JSON numbers are double precision. */
export const fieldSqlType = {
  num: float,
  str: text,
  bool,
} as const satisfies Record<FieldType, SqlType>;

/** Digits of a decimal of the store (Decimal256). */
export const maxNumericDigits = 76;
/** Digits of a decimal that readers of Arrow and Parquet know (128 bits). */
export const maxDecimalDigits = 38;
/** Scales beyond this one leave too few digits before the point. */
export const maxNumericScale = 60;
/** Digits behind the point of a quotient. PostgreSQL gives at least 16 significant ones. */
export const quotientScale = 20;
/** Digits behind the point of a `numeric` made from a double, which has 15 significant ones. */
export const doubleScale = 25;

const integerWidths: ReadonlyMap<string, number> = new Map([
  ['int2', 1],
  ['int4', 2],
  ['int8', 3],
]);
export const isInteger = (type: SqlType): boolean => integerWidths.has(type.name);
export const isNumber = (type: SqlType): boolean =>
  isInteger(type) || type.name === 'numeric' || type.name === 'float';
/** Doubles, alone or in an array. */
export const holdsFloats = (type: SqlType): boolean =>
  type.name === 'array' ? holdsFloats(type.element) : type.name === 'float';
export const isTimestamp = (type: SqlType): boolean =>
  type.name === 'timestamp' || type.name === 'timestamptz';

/** The wider of two integer types. */
export const widerInteger = (left: SqlType, right: SqlType): SqlType =>
  (integerWidths.get(left.name) ?? 0) >= (integerWidths.get(right.name) ?? 0) ? left : right;

/** The ClickHouse type of integers of that width. */
export const storeInteger = (type: SqlType): 'Int16' | 'Int32' | 'Int64' =>
  type.name === 'int2' ? 'Int16' : type.name === 'int4' ? 'Int32' : 'Int64';

export const numericScale = (type: SqlType): number => (type.name === 'numeric' ? type.scale : 0);
export const isExactNumeric = (type: SqlType): boolean => type.name !== 'numeric' || type.exact;

const labels: Readonly<Record<SimpleTypeName, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float: 'double precision',
  text: 'text',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
  date: 'date',
  time: 'time without time zone',
  bytea: 'bytea',
  map: 'map',
  json: 'json',
  jsonb: 'jsonb',
  record: 'record',
  unknown: 'unknown',
  mixed: 'a field of several types',
};

/** The type as PostgreSQL writes it in messages. */
export function typeLabel(type: SqlType): string {
  switch (type.name) {
    case 'array':
      return `${typeLabel(type.element)}[]`;
    case 'numeric':
    case 'interval':
      return type.name;
    default:
      return labels[type.name];
  }
}

/** Two types that print, compare and store alike. */
export function sameType(left: SqlType, right: SqlType): boolean {
  if (left.name === 'numeric' && right.name === 'numeric') return left.scale === right.scale;
  if (left.name === 'array' && right.name === 'array') return sameType(left.element, right.element);
  return left.name === right.name;
}

/**
 * The type that PostgreSQL gives to several expressions in one place (CASE, COALESCE, UNION, comparisons).
 * Undefined where there is none.
 */
export function commonType(types: readonly SqlType[]): SqlType | undefined {
  let common: SqlType | undefined;
  for (const type of types) {
    if (type.name === 'unknown' || type.name === 'mixed') continue;
    common = common === undefined ? type : commonOfTwo(common, type);
    if (common === undefined) return undefined;
  }
  return common ?? text;
}

function commonOfTwo(left: SqlType, right: SqlType): SqlType | undefined {
  if (isNumber(left) && isNumber(right)) return commonNumber(left, right);
  const timeTypes = ['date', 'timestamp', 'timestamptz'];
  const [leftRank, rightRank] = [timeTypes.indexOf(left.name), timeTypes.indexOf(right.name)];
  if (leftRank >= 0 && rightRank >= 0) return leftRank >= rightRank ? left : right;
  if (left.name === 'interval' && right.name === 'interval') {
    return left.form === right.form ? left : intervalOf(commonForm([left.form, right.form], 'mixed'));
  }
  if (left.name === 'array' && right.name === 'array') {
    const element = commonOfTwo(left.element, right.element);
    return element && arrayOf(element);
  }
  return left.name === right.name ? left : undefined;
}

function commonNumber(left: SqlType, right: SqlType): SqlType {
  if (left.name === 'float' || right.name === 'float') return float;
  if (left.name !== 'numeric' && right.name !== 'numeric') return widerInteger(left, right);
  const [leftScale, rightScale] = [numericScale(left), numericScale(right)];
  const exact = isExactNumeric(left) && isExactNumeric(right) && leftScale === rightScale;
  return numeric(Math.max(leftScale, rightScale), exact);
}

/** The ClickHouse type of the values of a type. */
export function storeType(type: SqlType): string {
  switch (type.name) {
    case 'bool':
      return 'Bool';
    case 'int2':
    case 'int4':
    case 'int8':
      return storeInteger(type);
    case 'float':
      return 'Float64';
    case 'numeric':
      return `Decimal(${maxNumericDigits}, ${type.scale})`;
    case 'timestamp':
    case 'timestamptz':
      return "DateTime64(6, 'UTC')";
    case 'date':
      return 'Date32';
    case 'interval':
    case 'time':
      return 'Int64';
    case 'map':
      return 'Map(String, String)';
    case 'array':
      return `Array(Array(Nullable(${storeType(type.element)})))`;
    default:
      return 'String';
  }
}

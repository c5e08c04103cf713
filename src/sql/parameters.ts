import { AppError, type ErrorCode } from '../errors.ts';
import { jsonElements } from '../lib/json-elements.ts';
import { microsPerDay, microsPerSecond } from '../lib/timestamp.ts';
import { limits } from '../limits/limits.ts';
import { literal } from './build.ts';
import type { Literal, Parameter } from './ir.ts';
import type { PostgresType } from './postgres-types.ts';
import { printLiteral } from './print/literal.ts';
import { sessionZone } from './session-times.ts';
import { sqlError } from './sql-error.ts';
import { dayOf, readLiteral } from './syntax/literals.ts';
import { isInfiniteMoment, readMomentWord } from './syntax/moment-words.ts';
import { isTimestamp, type SqlType, text, typeLabel, unknown } from './types.ts';

/**
 * Parameters of a query, `$1` to `$n`, as PostgreSQL has them (src/backend/parser/parse_param.c): the client
 * may give a parameter a type; if it does not, the first context that needs one does, for all places where
 * the parameter stands. What no context gives a type is text.
 *
 * A value never is a part of the SQL of a query. It is read as its type reads its text form, and what it is
 * then is printed as a literal (`print/literal.ts`), with all that literals of a query go through.
 *
 * A translation holds for all values, with placeholders for them, but for two kinds of parameters, whose
 * values become a part of it: those of which the translator needs to know the value (a unit, a regular
 * expression, LIMIT), and those of types whose values make a difference to it (`isPartOfTranslation`).
 */

/** The value of a parameter: NULL, PostgreSQL's text form of it, or an array or object as JSON. */
export type ParameterValue = string | null | { readonly json: string };

/** What is given with a query. */
export interface GivenParameters {
  /** Undefined, or beyond its end: the type is inferred. */
  readonly types: readonly (SqlType | undefined)[];
  /** Undefined where the query is described and not run. */
  readonly values: readonly ParameterValue[] | undefined;
}

export const noParameters: GivenParameters = { types: [], values: [] };

/** A parameter of a translated query. */
export interface ParameterUse {
  readonly type: SqlType;
  /** As clients know the type, where it is not that of `type`. */
  readonly postgres?: PostgresType | undefined;
  /** Where it stands first, as a byte offset; undefined if it is not in the query. */
  readonly at: number | undefined;
}

/** Decimals have a scale, intervals have months or not, and arrays and JSON are read off the event loop. */
export const isPartOfTranslation = ({ name }: SqlType): boolean =>
  ['numeric', 'interval', 'time', 'bytea', 'array', 'json', 'jsonb'].includes(name);

/** What takes the place of a value where there is none. */
const samples: Readonly<Record<string, string>> = {
  bool: 'true',
  int2: '1',
  int4: '1',
  int8: '1',
  float: '1',
  numeric: '0',
  text: 'x',
  timestamp: '2000-01-01',
  timestamptz: '2000-01-01',
  date: '2000-01-01',
  interval: '00:00:00',
  time: '00:00:00',
  bytea: '',
  array: '{}',
  json: '{}',
  jsonb: '{}',
};

/** The parameters of one translation. */
export class QueryParameters {
  readonly #given: GivenParameters;
  readonly #types = new Map<number, SqlType>();
  /** Where each stands first. */
  readonly #places = new Map<number, number | undefined>();
  readonly #fixed = new Set<number>();

  constructor(given: GivenParameters) {
    this.#given = given;
    for (const [index, type] of given.types.entries())
      if (type !== undefined) this.#types.set(index + 1, type);
  }

  /** Those with values that the translation holds for alone. */
  get fixed(): readonly number[] {
    return [...this.#fixed].sort((a, b) => a - b);
  }

  /** A place where a parameter stands. */
  reference(number: number, at: number | undefined): Parameter {
    if (!this.#places.has(number)) this.#places.set(number, at);
    return this.#parameter(number, this.#types.get(number) ?? unknown);
  }

  /**
   * The type of each, when the query is resolved.
   * @throws AppError `sql_parameter_type` for one that is neither in the query nor given a type
   */
  uses(): readonly ParameterUse[] {
    const count = Math.max(this.#given.types.length, 0, ...this.#places.keys());
    return Array.from({ length: count }, (_, index) => {
      const number = index + 1;
      const type = this.#types.get(number);
      if (type === undefined && !this.#places.has(number)) {
        throw sqlError(
          'sql_parameter_type',
          `could not determine data type of parameter $${number}: it is not used`,
        );
      }
      return { type: type ?? text, at: this.#places.get(number) };
    });
  }

  #parameter(number: number, type: SqlType): Parameter {
    return {
      kind: 'parameter',
      type,
      number,
      typed: (to) => this.#typed(number, to),
      constant: (to, sample) => {
        if (!this.#types.has(number)) this.#setType(number, to);
        return this.#constant(number, this.#types.get(number) ?? to, sample);
      },
    };
  }

  #typed(number: number, to: SqlType): Parameter | Literal {
    const type = this.#types.get(number);
    if (type === undefined) this.#setType(number, to);
    else if (!isSameType(type, to)) {
      throw sqlError(
        'sql_parameter_type',
        `inconsistent types deduced for parameter $${number}: ${typeLabel(type)} and ${typeLabel(to)}; a cast says which it is`,
        this.#places.get(number),
      );
    }
    return isPartOfTranslation(to) ? this.#constant(number, to) : this.#parameter(number, to);
  }

  #setType(number: number, type: SqlType): void {
    if (Object.hasOwn(samples, type.name)) this.#types.set(number, type);
    else
      throw sqlError(
        'sql_parameter_type',
        `parameter $${number} cannot be of type ${typeLabel(type)}`,
        this.#places.get(number),
      );
  }

  #constant(number: number, type: SqlType, sample = samples[type.name] ?? ''): Literal {
    this.#fixed.add(number);
    const { values } = this.#given;
    if (values === undefined) return literal(unknown, sample);
    const value = values[number - 1];
    const at = this.#places.get(number);
    if (value === undefined) {
      throw sqlError(
        'sql_parameter_count',
        `there is no value for parameter $${number}: ${values.length} were given`,
        at,
      );
    }
    return literal(unknown, checkedText(value, { number, type, at }));
  }
}

/** Decimals of all scales are of one type to PostgreSQL, and so are intervals of all forms. */
const isSameType = (left: SqlType, right: SqlType): boolean =>
  left.name === 'array' && right.name === 'array'
    ? isSameType(left.element, right.element)
    : left.name === right.name;

interface NumberedUse extends ParameterUse {
  readonly number: number;
}

/**
 * The value of a parameter as a literal in the store's SQL.
 * @param nowMicros what `now` and `today` mean as a time
 * @throws AppError `sql_bad_value`, `sql_out_of_range`, `sql_too_large`, with the number of the parameter
 */
export function printValue(value: ParameterValue, use: NumberedUse, nowMicros: number): string {
  const written = textForm(value, use);
  const micros = written === null ? undefined : wordMicros(written, use, nowMicros);
  if (micros !== undefined)
    return printLiteral(literal(use.type, use.type.name === 'date' ? dayOf(micros) : micros));
  return printLiteral(written === null ? literal(use.type, null) : readWritten(written, use));
}

/** The text form of a value, which is checked to be one of the type. @throws AppError likewise */
function checkedText(value: ParameterValue, use: NumberedUse): string | null {
  const written = textForm(value, use);
  // Arrays, and words that mean a time, are read where they are converted.
  if (written === null || use.type.name === 'array') return written;
  if (wordMicros(written, use, 0) === undefined) readWritten(written, use);
  return written;
}

/**
 * The time that a word such as `now` or `today` means; undefined for all else. @throws AppError
 * `sql_unsupported`
 */
function wordMicros(written: string, use: NumberedUse, nowMicros: number): number | undefined {
  const { type } = use;
  if (type.name !== 'date' && !isTimestamp(type)) return undefined;
  if (isInfiniteMoment(written))
    throw refusal(
      'sql_unsupported',
      `the ${typeLabel(type)} ${JSON.stringify(written)} is not supported`,
      use,
    );
  const word = readMomentWord(written);
  if (word === undefined) return undefined;
  const zone = sessionZone();
  const clockMicros = nowMicros + zone.offsetSeconds(nowMicros / 1000) * microsPerSecond;
  if (word === 'now') return type.name === 'timestamptz' ? nowMicros : clockMicros;
  const beginMicros = (dayOf(clockMicros) + word.days) * microsPerDay;
  if (type.name !== 'timestamptz') return beginMicros;
  return beginMicros - zone.offsetSecondsOfClock(beginMicros / 1000) * microsPerSecond;
}

function readWritten(written: string, use: NumberedUse): Literal {
  try {
    return readLiteral(written, use.type, undefined);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    throw refusal(thrown.code, `${thrown.message}; allowed is ${allowedFor(use.type)}`, use);
  }
}

/** The longest double, `-1.7976931348623157e308` written without an exponent, and some zeros. */
const maxWordLength = 400;

function textForm(value: ParameterValue, use: NumberedUse): string | null {
  if (value === null) return null;
  const { type } = use;
  const written = typeof value === 'string' ? value : fromJson(value.json, use);
  const isLong = type.name === 'text' || isPartOfTranslation(type);
  const maxLength = isLong ? limits.maxSqlLiteralLength : maxWordLength;
  if (written.length > maxLength) {
    throw refusal('sql_too_large', `${written.length} characters; at most ${maxLength} are allowed`, use);
  }
  if (written.includes('\0')) throw refusal('sql_bad_value', 'a text must not contain a NUL character', use);
  return written;
}

function fromJson(source: string, use: NumberedUse): string {
  const { type } = use;
  if (type.name === 'json' || type.name === 'jsonb') return source;
  if (type.name === 'array' && source.startsWith('[')) return arrayText(source, type.element, use);
  const given = source.startsWith('[') ? 'an array' : 'an object';
  throw refusal(
    'sql_bad_value',
    `${given} is no value of type ${typeLabel(type)}; allowed is ${allowedFor(type)}`,
    use,
  );
}

/** PostgreSQL's text form of an array. */
function arrayText(source: string, element: SqlType, use: NumberedUse): string {
  const holdsJson = element.name === 'json' || element.name === 'jsonb';
  const words = jsonElements(source).map((each) => {
    if (each === 'null') return 'NULL';
    if (each.startsWith('"')) return quoted(JSON.parse(each) as string);
    if (!each.startsWith('[') && !each.startsWith('{')) return each;
    if (holdsJson) return quoted(each);
    throw refusal('sql_bad_value', `an array of ${typeLabel(element)} has one dimension here`, use);
  });
  return `{${words.join(',')}}`;
}

const quoted = (word: string): string => `"${word.replace(/["\\]/g, '\\$&')}"`;

function refusal(code: ErrorCode, reason: string, { number, at }: NumberedUse): AppError {
  const details = { parameter: number, ...(at === undefined ? {} : { offset: at }) };
  return new AppError(code, `parameter $${number}: ${reason}`, { details });
}

const exampleTime = 'a time such as 2024-05-01 12:00:00 or 2024-05-01T12:00:00Z';

function allowedFor(type: SqlType): string {
  switch (type.name) {
    case 'bool':
      return 'true or false';
    case 'int2':
      return 'a whole number from -32768 to 32767';
    case 'int4':
      return 'a whole number from -2147483648 to 2147483647';
    case 'int8':
      return 'a whole number from -9223372036854775808 to 9223372036854775807';
    case 'float':
      return 'a number, NaN, Infinity or -Infinity';
    case 'numeric':
      return 'a number';
    case 'timestamp':
    case 'timestamptz':
      return exampleTime;
    case 'date':
      return 'a date such as 2024-05-01';
    case 'interval':
      return 'an interval such as 1 hour 30 minutes';
    case 'time':
      return 'a time of day such as 12:00:00';
    case 'bytea':
      return 'bytes such as \\x0a1b';
    case 'array':
      return 'an array';
    case 'json':
    case 'jsonb':
      return 'JSON';
    default:
      return 'a text';
  }
}

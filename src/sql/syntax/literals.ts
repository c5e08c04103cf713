import { roundHalfEven } from '../../lib/round-half-even.ts';
import { microsPerDay, microsPerSecond, readTimestamp, type WrittenTimestamp } from '../../lib/timestamp.ts';
import { literal } from '../build.ts';
import type { IntervalParts, Literal, LiteralValue } from '../ir.ts';
import { sessionTimes, sessionZone } from '../session-times.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import {
  float,
  intervalOf,
  isTimestamp,
  maxNumericDigits,
  maxNumericScale,
  numeric,
  numericScale,
  type SqlType,
  storeInteger,
  typeLabel,
} from '../types.ts';
import { binaryJson } from './binary-json.ts';
import { readBytes } from './bytea-text.ts';
import { parseInterval } from './datetime.ts';
import { verboseInterval } from './interval-spellings.ts';
import { isNumberText } from './number-text.ts';
import { mayBeInterval, mayBeTimestamp } from './other-spellings.ts';
import { readTimeOfDay } from './read-time-of-day.ts';
import { readSpelledTimestamp } from './timestamp-spellings.ts';

/** 1900, where the store's time types begin, to 2254, where microseconds no longer fit a double. */
const minDays = -25_567;
const maxDays = 104_092;

const integerLimits = {
  Int16: [-(2n ** 15n), 2n ** 15n - 1n],
  Int32: [-(2n ** 31n), 2n ** 31n - 1n],
  Int64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const;

/** Of months and of days, in 32 bits with a sign. */
const maxIntervalUnits = 2 ** 31;
/** The store has the length of an interval in microseconds, in 64 bits with a sign. */
export const maxIntervalDays = Math.floor(2 ** 63 / microsPerDay) - 1;
export const outOfRangeInterval = `interval out of range: at most ${maxIntervalDays} days, and beside them 285 years of hours, can be used`;

/** Digits and a sign of the widest integer, without zeros in front. */
const maxIntegerLength = 20;
const withoutZeros = (text: string): string => text.replace(/^([+-]?)0+(?=\d)/, '$1');

/**
 * The type that PostgreSQL gives to a number as it was written. One with more digits than the store's
 * decimals have is taken for a double.
 */
export function numberLiteral(text: string): Literal {
  if (/^-?\d+$/.test(text)) {
    const digits = withoutZeros(text);
    for (const name of ['int4', 'int8'] as const) {
      if (fitsInteger(digits, { name })) return literal({ name }, String(BigInt(digits)));
    }
  }
  return numericLiteral(text) ?? literal(float, inDoubleRange(text, undefined));
}

/** A number that would become an infinity, or zero without being it, is out of range. */
function inDoubleRange(text: string, at: number | undefined): string {
  const value = Number(text);
  const isLost = value === 0 && /^[^e]*[1-9]/i.test(text);
  if (Number.isFinite(value) && !isLost) return text;
  throw sqlError('sql_out_of_range', `"${text}" is out of range for type double precision`, at);
}

const fitsInteger = (text: string, type: SqlType): boolean => {
  if (text.length > maxIntegerLength) return false;
  const [min, max] = integerLimits[storeInteger(type)];
  return BigInt(text) >= min && BigInt(text) <= max;
};

/** Undefined if a decimal of the store cannot hold it. */
function numericLiteral(written: string): Literal | undefined {
  const text = withoutExponent(written);
  if (text === undefined) return undefined;
  const scale = text.split('.')[1]?.length ?? 0;
  return scale > maxNumericScale || text.length > maxNumericDigits
    ? undefined
    : literal(numeric(scale, true), text);
}

/** `1.5e-3` → `0.0015`; undefined for exponents far beyond a decimal's digits. */
function withoutExponent(written: string): string | undefined {
  const [mantissa = '0', exponentText = '0'] = written.toLowerCase().split('e');
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > maxNumericDigits) return undefined;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const point = whole.length + exponent;
  // Zeros on either side, so that the point falls between digits.
  const digits = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const split = Math.max(point, 1);
  const integer = digits.slice(0, split).replace(/^0+(?=\d)/, '');
  const decimals = digits.slice(split);
  return `${sign}${integer}${decimals === '' ? '' : `.${decimals}`}`;
}

/**
 * Gives a string literal the type that its context asks for, as PostgreSQL does before the query runs.
 * @throws AppError `sql_bad_value` when the text is no value of that type
 */
export function readLiteral(text: string, type: SqlType, at: number | undefined): Literal {
  const value = parseAs(text, type, at);
  if (value === undefined) {
    if (mayBeOf(text.trim(), type))
      throw unsupported(`The ${typeLabel(type)} ${JSON.stringify(text.trim())}, in this spelling,`, at);
    throw sqlError(
      'sql_bad_value',
      `invalid input syntax for type ${typeLabel(type)}: ${JSON.stringify(text)}`,
      at,
    );
  }
  if (type.name === 'interval' && typeof value === 'object' && value !== null)
    return intervalLiteral(value, at);
  return type.name === 'numeric' ? numericOfScale(String(value), type, at) : literal(type, value);
}

/** What PostgreSQL may read otherwise. */
function mayBeOf(text: string, type: SqlType): boolean {
  if (type.name === 'numeric') return /^[+-]?(?:nan|inf|infinity)$/i.test(text);
  if (type.name === 'interval') return mayBeInterval(text);
  return (type.name === 'date' || isTimestamp(type)) && mayBeTimestamp(text);
}

/** @throws AppError `sql_out_of_range` for what PostgreSQL or the store cannot hold */
export function intervalLiteral(parts: IntervalParts, at?: number): Literal {
  const { months, days, micros } = parts;
  const isTooLong =
    Math.max(Math.abs(months), Math.abs(days)) >= maxIntervalUnits ||
    !Number.isSafeInteger(micros) ||
    Math.abs(months * 30 + days) + Math.abs(micros) / microsPerDay > maxIntervalDays;
  if (isTooLong) throw sqlError('sql_out_of_range', outOfRangeInterval, at);
  const isFitting = Math.abs(micros) < microsPerDay && days * micros >= 0;
  const form = months !== 0 ? 'any' : days === 0 ? 'clock' : isFitting ? 'days' : 'mixed';
  return literal(intervalOf(form), parts);
}

/** A numeric literal keeps the digits that it was written with; decimals of different scales mix. */
function numericOfScale(text: string, type: SqlType, at: number | undefined): Literal {
  const own = numericLiteral(text);
  if (own === undefined)
    throw sqlError('sql_out_of_range', `${text} has more digits than numeric can have here`, at);
  return numericScale(own.type) < numericScale(type) ? literal(type, String(own.value)) : own;
}

/**
 * The elements of PostgreSQL's text form of an array of one dimension; around them spaces of ASCII.
 * @returns undefined for any other text
 */
export function readArrayText(text: string): readonly (string | null)[] | undefined {
  const end = trimmedEnd(text, text.length) - 1;
  let at = skipSpaces(text, 0);
  if (text[at] !== '{' || text[end] !== '}' || end === at) return undefined;
  at = skipSpaces(text, at + 1);
  if (at === end) return [];
  const items: (string | null)[] = [];
  for (;;) {
    const word = readArrayWord(text, at, end);
    if (word === undefined) return undefined;
    items.push(word.value);
    if (word.end === end) return items;
    if (text[word.end] !== ',') return undefined;
    at = skipSpaces(text, word.end + 1);
  }
}

/**
 * One element, which begins at `start`.
 * @returns undefined if none does; else the place behind it and the spaces that follow it
 */
function readArrayWord(
  text: string,
  start: number,
  end: number,
): { readonly value: string | null; readonly end: number } | undefined {
  const isQuoted = text[start] === '"';
  let value = '';
  /** Up to here, it does not end with a space that says nothing. */
  let solid = 0;
  let at = isQuoted ? start + 1 : start;
  for (; at < end; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') {
      at += 1;
      if (at >= end) return undefined;
      value += text[at];
      solid = value.length;
      continue;
    }
    if (character === '"' || (!isQuoted && (character === ',' || character === '{' || character === '}')))
      break;
    value += character;
    if (!isSpace(text.charCodeAt(at))) solid = value.length;
  }
  if (isQuoted) return text[at] === '"' && at < end ? { value, end: skipSpaces(text, at + 1) } : undefined;
  if (solid === 0 || (at < end && text[at] !== ',')) return undefined;
  const word = value.slice(0, solid);
  // What stands behind a backslash is a letter of a word that is not NULL.
  const isNull = word.length === 4 && word.toLowerCase() === 'null' && text.slice(start, start + 4) === word;
  return { value: isNull ? null : word, end: at };
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function trimmedEnd(text: string, from: number): number {
  let end = from;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

function parseAs(text: string, type: SqlType, at: number | undefined): LiteralValue | undefined {
  const trimmed = text.trim();
  switch (type.name) {
    case 'text':
      return text;
    case 'int2':
    case 'int4':
    case 'int8':
      if (!/^[+-]?\d+$/.test(trimmed)) return undefined;
      if (!fitsInteger(withoutZeros(trimmed.replace('+', '')), type)) {
        throw sqlError(
          'sql_out_of_range',
          `value "${trimmed}" is out of range for type ${typeLabel(type)}`,
          at,
        );
      }
      return String(BigInt(withoutZeros(trimmed.replace('+', ''))));
    case 'numeric':
      return isNumberText(trimmed) ? trimmed.replace('+', '') : undefined;
    case 'float':
      return parseFloatText(trimmed, at);
    case 'bool':
      return parseBoolean(trimmed);
    case 'timestamp':
    case 'timestamptz':
      return inStoreRange(timestampMicros(trimmed, type), microsPerDay, type, at);
    case 'date': {
      const clock = writtenTimestamp(trimmed)?.clockMicros;
      // The end of a day is the next one, but not its date.
      const end = /[\sT]24:?00/i.test(trimmed) ? 1 : 0;
      return inStoreRange(clock === undefined ? undefined : dayOf(clock - end), 1, type, at);
    }
    case 'time':
      return timeOfDay(trimmed, at);
    case 'bytea':
      return readBytes(text);
    case 'interval':
      if (sessionTimes().intervalStyle === 'sql_standard' && isNegativeList(trimmed))
        throw unsupported('A negative interval of several fields, with IntervalStyle sql_standard,', at);
      return intervalParts(trimmed);
    case 'json':
      return isJson(text) ? text : undefined;
    case 'jsonb':
      return isJson(text) ? binaryJson(text, decimalText) : undefined;
    default:
      return undefined;
  }
}

/** A point may stand without digits on one side of it, and commas say nothing. */
function intervalParts(written: string): IntervalParts | undefined {
  const text = written
    .replaceAll(/(^|\s)\.(?=\d)/g, '$10.')
    .replaceAll(/(\d)\.(?=\s|$)/g, '$1')
    .replaceAll(',', ' ');
  return parseInterval(text) ?? parseInterval(verboseInterval(text) ?? '');
}

/** A minus that would be that of all fields (DecodeInterval in src/backend/utils/adt/datetime.c). */
const isNegativeList = (text: string): boolean =>
  text.startsWith('-') && (text.split(/\s+/).length > 2 || /[a-z]\d/i.test(text));

/** Of a text with a day, too. */
function timeOfDay(text: string, at: number | undefined): number | undefined {
  const known = readTimeOfDay(text);
  if (known === 'out of range') {
    throw sqlError('sql_out_of_range', `date/time field value out of range: ${JSON.stringify(text)}`, at);
  }
  if (known !== undefined || !/[:T ]/.test(text)) return known;
  const micros = timestampMicros(text, { name: 'timestamp' });
  return micros === undefined ? undefined : ((micros % microsPerDay) + microsPerDay) % microsPerDay;
}

/** A time in ISO 8601 or in another of PostgreSQL's spellings. */
function writtenTimestamp(text: string): WrittenTimestamp | undefined {
  if (text.toLowerCase() === 'epoch') return { clockMicros: 0, offsetMicros: 0, hasZone: true, fraction: '' };
  return readTimestamp(text) ?? readSpelledTimestamp(text, sessionTimes().dateStyle.order);
}

/**
 * What has no time zone ignores the offset of a text; what has one takes that of the session, if the text has
 * none. Of more than six digits of a second, PostgreSQL makes
 * the nearest microsecond.
 */
function timestampMicros(text: string, type: SqlType): number | undefined {
  const written = writtenTimestamp(text);
  if (written === undefined) return undefined;
  const { clockMicros, offsetMicros, hasZone, fraction } = written;
  const clock = clockMicros + roundHalfEven(Number(`0.${fraction}`) * microsPerSecond);
  if (type.name !== 'timestamptz') return clock;
  return (
    clock -
    (hasZone ? offsetMicros : sessionZone().offsetSecondsOfClock(clockMicros / 1000) * microsPerSecond)
  );
}

/** A number of `jsonb`, which has neither an exponent nor a sign of zero. */
function decimalText(written: string): string {
  const decimal = withoutExponent(written);
  if (decimal === undefined && /e/i.test(written)) throw unsupported('jsonb of a number with a far exponent');
  return (decimal ?? written).replace(/^-(?=[0.]+$)/, '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function inStoreRange(
  value: number | undefined,
  unitsPerDay: number,
  type: SqlType,
  at: number | undefined,
): number | undefined {
  if (value === undefined || (value >= minDays * unitsPerDay && value < (maxDays + 1) * unitsPerDay))
    return value;
  throw sqlError('sql_out_of_range', `${typeLabel(type)} out of range: years 1900 to 2254 can be used`, at);
}

/** Text of a double for the printer. */
function parseFloatText(text: string, at: number | undefined): string | undefined {
  if (isNumberText(text)) return inDoubleRange(text, at);
  if (/^nan$/i.test(text)) return 'nan';
  const infinity = /^([+-]?)inf(inity)?$/i.exec(text);
  return infinity === null ? undefined : infinity[1] === '-' ? '-inf' : 'inf';
}

/** Any unambiguous beginning of the words, as PostgreSQL's boolin. */
function parseBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (word === '') return undefined;
  if (['true', 'yes'].some((name) => name.startsWith(word)) || word === 'on' || word === '1') return true;
  const no = ['false', 'no'].some((name) => name.startsWith(word));
  return no || word === 'off' || word === 'of' || word === '0' ? false : undefined;
}

/** The date literal's text for the store. */
export const dateText = (days: number): string => new Date(days * 86_400_000).toISOString().slice(0, 10);

/** Days between 1970 and the day of a moment. */
export const dayOf = (micros: number): number => Math.floor(micros / microsPerDay);

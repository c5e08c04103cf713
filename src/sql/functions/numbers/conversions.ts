import { quoteString } from '../../../lib/quote.ts';
import { letBindings } from '../../let-bindings.ts';
import { isSessionInUtc, sessionZone } from '../../session-times.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { doubleScale, numericScale, type SqlType, storeInteger } from '../../types.ts';
import { momentOfClock, offsetAtMoment, wallClock } from '../../zone-clock.ts';
import { bytesOfText, bytesText } from '../bytes/bytes-text.ts';
import { binaryText } from '../json/json-parts.ts';
import { timeOfDayOfText, timeOfDayText, withinDay } from '../time/time-of-day-text.ts';
import { floatText } from './float-text.ts';

/**
 * Conversions between types, as ClickHouse SQL. A conversion that cannot be exact raises an error in the
 * store, as it does in PostgreSQL.
 */
type Conversion = (value: string, from: SqlType, to: SqlType) => string;

/** What PostgreSQL's input functions skip around numbers, dates and booleans. */
const trimmed = (value: string): string => `trimBoth(${value}, ' \\t\\n\\r\\f\\v')`;

/**
 * Of a nullable text that is no value of the type, the engine makes NULL; of one that cannot be NULL it
 * raises an error. So NULLs are set aside first.
 */
const parsed = (value: string, parse: (text: string) => string, neutral: string): string =>
  `if(isNull(${value}), NULL, ${parse(`ifNull(${trimmed(value)}, ${quoteString(neutral)})`)})`;

const toInteger: Conversion = (value, _, to) => `accurateCast(${value}, '${storeInteger(to)}')`;

/** In two steps, so that a number that is too large is told from what is no number. */
const textToInteger: Conversion = (value, from, to) =>
  toInteger(
    parsed(value, (text) => `toInt128(${text})`, '0'),
    from,
    to,
  );

/** To even from a double, away from zero from a decimal. */
const roundToInteger: Conversion = (value, from, to) =>
  toInteger(from.name === 'float' ? `roundBankers(${value})` : `round(${value})`, from, to);

/** The engine cuts what is behind the scale; PostgreSQL rounds. One digit more decides it. */
const textToNumeric: Conversion = (value, _, to) => {
  const scale = numericScale(to);
  // The engine takes an exponent without digits in front of it for zero.
  const checked = (text: string): string => `if(match(${text}, '^[+-]?[.]?[0-9]'), ${text}, 'no number')`;
  const digits = parsed(value, (text) => `toDecimal256(${checked(text)}, ${scale + 1})`, '0');
  return `toDecimal256(round(${digits}, ${scale}), ${scale})`;
};

const numericToNumeric: Conversion = (value, from, to) => {
  const scale = numericScale(to);
  return scale < numericScale(from)
    ? `toDecimal256(round(${value}, ${scale}), ${scale})`
    : `toDecimal256(${value}, ${scale})`;
};

/** What the engine reads as an infinity or zero must have been written as one. */
const textToFloat = (text: string): string => {
  const lost = `isInfinite(x) > (lower(t) LIKE '%inf%') OR x = 0 AND match(t, '^[^eE]*[1-9]')`;
  const checked = `if(isFinite(x) AND x != 0, x, x - ${raiseIf(lost, 'outOfRange')})`;
  return letBindings(['t', 'x'], [text, `toFloat64(${text})`], checked);
};

/** PostgreSQL takes 15 significant digits of a double (float8_numeric). */
const floatToNumeric: Conversion = (value, from, to) => {
  const refuse = raiseIf(`isFinite(${value}) = 0`, 'numericInfinity');
  // Of a number with digits behind the last one of the store, they are far more than doubles are inexact by.
  const last = `${value} * 1e${doubleScale}`;
  const isLost = `abs(${value}) < 1e-11 AND abs(${last} - round(${last})) > abs(${value}) * 1e10`;
  const tooSmall = raiseIf(isLost, 'smallNumeric');
  const exact = `toDecimal256(printf('%.15g', ${value} - ${refuse} - ${tooSmall}), ${doubleScale})`;
  return numericScale(to) === doubleScale
    ? exact
    : numericToNumeric(exact, { ...from, name: 'numeric', scale: doubleScale, exact: false }, to);
};

/** ISO 8601 alone: what else the engine's parser takes, it may read differently than PostgreSQL does. */
const isoPattern =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?\\s?([Zz]|[+-]\\d{2}(:?\\d{2})?)?)?$';
/** What has no time zone ignores an offset. */
const offset = '(:\\d{2}(?:\\.\\d+)?)\\s?(?:[Zz]|[+-]\\d{2}(?::?\\d{2})?)$';
const withoutOffset = (text: string): string => `replaceRegexpOne(${text}, ${quoteString(offset)}, '\\\\1')`;
const fraction = quoteString('\\.\\d+');

/** The engine cuts what is smaller than a microsecond; PostgreSQL rounds it. */
const textToTimestamp: Conversion = (value, _, to) => {
  const moment = (text: string): string => `parseDateTime64BestEffort(${text}, 6, 'UTC')`;
  const micros = `toInt64(roundBankers(toFloat64(concat('0', extract(t, ${fraction}))) * 1000000))`;
  const rounded = `addMicroseconds(${moment(`replaceRegexpOne(t, ${fraction}, '')`)}, ${micros})`;
  const hasMore = `match(t, ${quoteString('\\.\\d{7}')})`;
  const clock = to.name === 'date' ? moment('t') : `if(${hasMore}, ${rounded}, ${moment('t')})`;
  const read =
    to.name !== 'timestamptz' || isSessionInUtc()
      ? clock
      : `if(match(t, ${quoteString(offset)}), ${clock}, ${momentOfClock(clock, sessionZone())})`;
  return parsed(
    value,
    (text) => {
      const isOther = raiseIf(`NOT match(s, ${quoteString(isoPattern)})`, 'notIso');
      const checked = `substring(s, 1 + ${isOther})`;
      const local = to.name === 'timestamptz' ? checked : withoutOffset(checked);
      return letBindings(['s'], [text], letBindings(['t'], [local], read));
    },
    '1970-01-01',
  );
};

const boolToText: Conversion = (value) => `multiIf(${value}, 'true', NOT ${value}, 'false', NULL)`;

const yes = "('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1')";
const no = "('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0')";

/**
 * The conversion of a text that is no number is what raises the error: only of such a text, also as a
 * constant.
 */
const textToBool: Conversion = (value) =>
  parsed(
    value,
    (text) => `toUInt8(multiIf(lower(${text}) IN ${yes}, '1', lower(${text}) IN ${no}, '0', 'no boolean'))`,
    'f',
  );

/** The engine takes a number beyond its own types for no JSON. */
const textToJson: Conversion = (value) => {
  const isBad = "NOT isValidJSON(ifNull(v, '0'))";
  const hasLong = "match(ifNull(v, ''), '[0-9]{16}|[0-9][eE]')";
  const isLong = raiseIf(`${isBad} AND ${hasLong}`, 'longJsonNumber');
  // The condition is within the conversion: of a constant, the engine computes both branches of an `if`.
  const place = `1 + ${isLong} + toUInt8(if(${isBad} AND NOT ${hasLong}, 'no json', '0'))`;
  return letBindings(['v'], [value], `concat(v, substring('', ${place}))`);
};

/** Of JSON, which `coerce` has read or checked. */
const jsonToBinary: Conversion = (value) =>
  letBindings(['j'], [value], `if(isNull(j), NULL, ${binaryText('assumeNotNull(j)')})`);

const textToBinary: Conversion = (value, from, to) => jsonToBinary(textToJson(value, from, to), from, to);

/** Scalars alone; PostgreSQL refuses what is of another kind. */
const jsonScalar =
  (kinds: string, neutral: string, convert: (text: string) => string): Conversion =>
  (value) => {
    const isOther = raiseIf(`JSONType(j) NOT IN (${kinds})`, 'jsonParameter');
    const known = `if(${isOther} = 0, ifNull(j, ${quoteString(neutral)}), '')`;
    return letBindings(['j'], [value], `if(isNull(j), NULL, ${convert(known)})`);
  };
const jsonNumber = (convert: Conversion) => (value: string, from: SqlType, to: SqlType) => {
  const digits = (text: string): string =>
    to.name === 'float'
      ? `toFloat64(${text})`
      : convert(`toDecimal256(${text}, ${doubleScale})`, decimalOfJson, to);
  return jsonScalar("'Int64', 'UInt64', 'Double'", '0', digits)(value, from, to);
};
const decimalOfJson: SqlType = { name: 'numeric', scale: doubleScale, exact: false };

const timestampDigits = (value: string): string =>
  `replaceRegexpOne(formatDateTime(toDateTime64(${value}, 6, 'UTC'), '%Y-%m-%d %H:%i:%S.%f'), '\\\\.?0+$', '')`;

const timestampText: Conversion = (value, from) => {
  if (from.name !== 'timestamptz') return timestampDigits(value);
  if (isSessionInUtc()) return `concat(${timestampDigits(value)}, '+00')`;
  return zonedText(value, timestampDigits, (o) => `if(${o} % 3600 = 0, '', ${minutesText(o)})`);
};

/** `"2024-03-31T02:30:00+02:00"`, as JSON has it. */
export const jsonTimestamp = (value: string, { name }: SqlType): string => {
  const digits = (moment: string): string => `replaceOne(${timestampDigits(moment)}, ' ', 'T')`;
  if (name !== 'timestamptz') return `concat('"', ${digits(value)}, '"')`;
  return isSessionInUtc()
    ? `concat('"', ${digits(value)}, '+00:00"')`
    : `concat('"', ${zonedText(value, digits, minutesText)}, '"')`;
};

const two = (number: string): string => `leftPad(toString(${number}), 2, '0')`;
/** Minutes of an offset, and seconds if it has some. */
const minutesText = (o: string): string =>
  `concat(':', ${two(`intDiv(abs(${o}) % 3600, 60)`)}, if(${o} % 60 = 0, '', concat(':', ${two(`abs(${o}) % 60`)})))`;

/** What the clocks of the session show at a moment, with their offset behind it. */
function zonedText(
  value: string,
  digits: (moment: string) => string,
  minutes: (offset: string) => string,
): string {
  const parts = [
    digits('addSeconds(m, o)'),
    "if(o < 0, '-', '+')",
    two('intDiv(abs(o), 3600)'),
    minutes('o'),
  ];
  const text = letBindings(['o'], [offsetAtMoment('m', sessionZone())], `concat(${parts.join(', ')})`);
  return letBindings(['m'], [value], text);
}

const dateToTimestamp: Conversion = (value, _, to) => {
  const clock = `toDateTime64(${value}, 6, 'UTC')`;
  return to.name === 'timestamptz' ? momentOfClock(clock, sessionZone()) : clock;
};
const timestampToDate: Conversion = (value, from) =>
  `toDate32(${from.name === 'timestamptz' ? wallClock(value, sessionZone()) : value})`;
const timestampToTimestamp: Conversion = (value, from, to) => {
  if (from.name === to.name) return value;
  return (to.name === 'timestamp' ? wallClock : momentOfClock)(value, sessionZone());
};
const toFloat: Conversion = (value) => `toFloat64(${value})`;
/** By its digits: the engine divides by a power of ten, which rounds twice. */
const numericToFloat: Conversion = (value) => `toFloat64(toString(${value}))`;
const unchanged: Conversion = (value) => value;

const integers = ['int2', 'int4', 'int8'] as const;
const timestamps = ['timestamp', 'timestamptz'] as const;

const each = (
  sources: readonly string[],
  targets: readonly string[],
  conversion: Conversion,
): readonly (readonly [string, Conversion])[] =>
  sources.flatMap((from) => targets.map((to) => [`${from} ${to}`, conversion] as const));

/** Every conversion there is, `from to`. */
const conversions: ReadonlyMap<string, Conversion> = new Map([
  ...each(integers, integers, toInteger),
  ...each(integers, ['numeric'], (value, _, to) => `toDecimal256(${value}, ${numericScale(to)})`),
  ...each(integers, ['float'], toFloat),
  ...each(['numeric'], ['float'], numericToFloat),
  ...each(['float', 'numeric'], integers, roundToInteger),
  ...each(['numeric'], ['numeric'], numericToNumeric),
  ...each(['float'], ['numeric'], floatToNumeric),
  ...each(['float'], ['text'], floatText),
  ...each(integers, ['text'], (value) => `toString(${value})`),
  ...each(['numeric'], ['text'], (value, from) => `toDecimalString(${value}, ${numericScale(from)})`),
  ...each(['bool'], ['text'], boolToText),
  ...each(['date'], ['text'], (value) => `toString(${value})`),
  ...each(timestamps, ['text'], timestampText),
  ...each(['bool'], ['int4'], (value) => `toInt32(${value})`),
  ...each(['int4'], ['bool'], (value) => `(${value} != 0)`),
  ...each(['text'], integers, textToInteger),
  ...each(['text'], ['float'], (value) => parsed(value, textToFloat, '0')),
  ...each(['text'], ['numeric'], textToNumeric),
  ...each(['text'], ['bool'], textToBool),
  ...each(['text'], timestamps, textToTimestamp),
  ...each(['text'], ['json'], textToJson),
  ...each(['text'], ['jsonb'], textToBinary),
  ...each(['json'], ['jsonb'], jsonToBinary),
  ...each(['jsonb'], ['json'], unchanged),
  ...each(['json', 'jsonb', 'record'], ['text'], unchanged),
  ...each(['jsonb'], ['float'], jsonNumber(unchanged)),
  ...each(['jsonb'], integers, jsonNumber(roundToInteger)),
  ...each(['jsonb'], ['numeric'], jsonNumber(numericToNumeric)),
  ...each(
    ['jsonb'],
    ['bool'],
    jsonScalar("'Bool'", 'false', (text) => `(${text} = 'true')`),
  ),
  ...each(['text'], ['date'], (value, from, to) => `toDate32(${textToTimestamp(value, from, to)})`),
  ...each(['date'], timestamps, dateToTimestamp),
  ...each(timestamps, ['date'], timestampToDate),
  ...each(timestamps, timestamps, timestampToTimestamp),
  ...each(timestamps, ['time'], (value, from) =>
    withinDay(
      `toUnixTimestamp64Micro(toDateTime64(${from.name === 'timestamptz' ? wallClock(value, sessionZone()) : value}, 6, 'UTC'))`,
    ),
  ),
  ...each(['interval'], ['time'], (value) => withinDay(`toInt64(${value})`)),
  ...each(['time'], ['interval'], unchanged),
  ...each(['time'], ['text'], timeOfDayText),
  ...each(['text'], ['time'], timeOfDayOfText),
  ...each(['bytea'], ['text'], bytesText),
  ...each(['text'], ['bytea'], bytesOfText),
]);

/** Undefined where there is no such conversion. */
export function conversion(from: SqlType, to: SqlType): ((value: string) => string) | undefined {
  const found = conversions.get(`${from.name} ${to.name}`);
  return found && ((value) => found(value, from, to));
}

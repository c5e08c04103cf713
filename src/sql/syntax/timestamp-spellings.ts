import { namedZone, type TimeZone } from '../../lib/time-zone.ts';
import { daysSinceEpoch, microsPerDay, microsPerSecond, type WrittenTimestamp } from '../../lib/timestamp.ts';
import type { DateOrder } from '../time-styles.ts';
import { abbreviationSeconds } from './zone-offset.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const monthNames: ReadonlyMap<string, number> = new Map([
  ...months.map((name, index) => [name, index + 1] as const),
  ...[
    'january',
    'february',
    'march',
    'april',
    'may',
    'june',
    'july',
    'august',
    'september',
    'october',
    'november',
    'december',
  ].map((name, index) => [name, index + 1] as const),
  ['sept', 9],
]);

/** They say nothing: PostgreSQL does not look whether they fit. */
const weekdays: ReadonlySet<string> = new Set([
  ...['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  ...['tues', 'wednes', 'thur', 'thurs', 'weds'],
  ...['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
]);

const otherWords: ReadonlySet<string> = new Set([
  ...['am', 'pm', 'bc', 'ad', 'allballs', 'epoch'],
  ...['now', 'today', 'tomorrow', 'yesterday'],
]);

/** The name of a month or weekday, or another word of dates and times. */
export const isDateWord = (word: string): boolean =>
  monthNames.has(word) || weekdays.has(word) || otherWords.has(word);

interface Fields {
  readonly order: DateOrder;
  date?: { readonly year: string; readonly month: number; readonly day: number };
  /** Of a date in words, until its year and day are known. */
  month?: number;
  day?: number;
  year?: string;
  clock?: { readonly seconds: number; readonly fraction: string };
  half?: 'am' | 'pm';
  zone?: number | TimeZone;
}

/** No spelling is longer. */
const maxLength = 100;

/**
 * Reads dates and times as PostgreSQL does beside ISO 8601, with its default DateStyle (ISO, MDY):
 * `20240331`, `3/31/2024`, `March 31, 2024 3:30 PM`, `31-Mar-2024`, `20240331T033000`, with a zone behind
 * them: `+02:00`, `-8`, `EST`, `Europe/Berlin` (src/backend/utils/adt/datetime.c, DecodeDateTime).
 * @returns undefined for any other text, and for dates and times that do not exist
 */
export function readSpelledTimestamp(text: string, order: DateOrder = 'MDY'): WrittenTimestamp | undefined {
  if (text.length > maxLength) return undefined;
  const fields: Fields = { order };
  const words = text.toLowerCase().split(/[\s,]+/);
  for (const word of words) if (word !== '' && !readWord(word, fields)) return undefined;
  const { clock = { seconds: 0, fraction: '' }, half, zone } = fields;
  const date = fields.date ?? dateInWords(fields);
  const seconds = clockSeconds(clock.seconds, half);
  if (date === undefined || seconds === undefined || (half !== undefined && fields.clock === undefined))
    return undefined;
  const days = daysSinceEpoch(fullYear(date.year), date.month, date.day);
  if (days === undefined) return undefined;
  const clockMicros = days * microsPerDay + seconds * microsPerSecond;
  const ahead = typeof zone === 'object' ? zone.offsetSecondsOfClock(clockMicros / 1000) : zone;
  const offsetMicros = (ahead ?? 0) * microsPerSecond;
  return { clockMicros, offsetMicros, hasZone: ahead !== undefined, fraction: clock.fraction };
}

/** Of two digits, a year from 1970 to 2069. */
const fullYear = (digits: string): number =>
  digits.length > 2 ? Number(digits) : Number(digits) + (Number(digits) < 70 ? 2000 : 1900);

function dateInWords({ month, day, year, order }: Fields): Fields['date'] {
  if (month === undefined || day === undefined || year === undefined) return undefined;
  const isYearFirst = order === 'YMD' && year.length <= 2;
  return isYearFirst ? { year: String(day), month, day: Number(year) } : { year, month, day };
}

/** With AM or PM, hours go from 1 to 12 (0 is taken for 12). */
function clockSeconds(seconds: number, half: Fields['half']): number | undefined {
  if (half === undefined) return seconds;
  const hour = Math.floor(seconds / 3600);
  if (hour > 12) return undefined;
  return seconds + (half === 'pm' ? (hour === 12 ? 0 : 12) : hour === 12 ? -12 : 0) * 3600;
}

/** Puts what a word says into the fields; false if it says nothing, or what another one has said. */
function readWord(word: string, fields: Fields): boolean {
  if (weekdays.has(word)) return true;
  if (/^[ap]m(?![a-z])/.test(word)) return readHalf(word, fields);
  if (/^\d+$/.test(word)) return readDigits(word, fields);
  if (/^\d+:/.test(word)) return readClock(word, fields);
  const [, day = '', clock = ''] = /^(\d{8}|\d{4}-\d{1,2}-\d{1,2})t(\d.*)$/.exec(word) ?? [];
  if (day !== '') {
    const time = /^(\d{2})(\d{2})(\d{2})?(\..*|[^\d:].*)?$/.exec(clock);
    const [, hour, minute, second, rest = ''] = time ?? [];
    const spelled =
      time === null ? clock : `${hour}:${minute}${second === undefined ? '' : `:${second}`}${rest}`;
    return readWord(day, fields) && readClock(spelled, fields);
  }
  const [, date = '', zone = ''] =
    /^(\d{4}-\d{1,2}-\d{1,2}(?=z$)|\w{1,9}[-/.]\w{1,9}[-/.]\d{1,4}(?=\+))(\+\d.*|z)$/.exec(word) ?? [];
  if (date !== '') return readWord(date, fields) && take(fields, 'zone', zoneOf(zone));
  const parts = /^(\w+)([-/.])(\w+)[-/.](\d+)$/.exec(word);
  if (parts !== null && word[word.length - (parts[4] ?? '').length - 1] === parts[2]) {
    return take(fields, 'date', dateOf(parts[1] ?? '', parts[3] ?? '', parts[4] ?? '', fields.order));
  }
  const month = monthNames.get(word);
  return month === undefined ? take(fields, 'zone', zoneOf(word)) : take(fields, 'month', month);
}

function take<Name extends keyof Fields>(fields: Fields, name: Name, value: Fields[Name]): boolean {
  if (value === undefined || fields[name] !== undefined) return false;
  const isDate = ['date', 'month', 'day', 'year'].includes(name);
  if (isDate && (fields.date !== undefined || (name === 'date' && fields.month !== undefined))) return false;
  fields[name] = value;
  return true;
}

/** `20240331`, `240331`; beside the name of a month its day and the year. */
function readDigits(word: string, fields: Fields): boolean {
  const compact = /^(\d{4}|\d\d)(\d\d)(\d\d)$/.exec(word);
  if (compact !== null) {
    const [, year = '', month, day] = compact;
    return take(fields, 'date', { year, month: Number(month), day: Number(day) });
  }
  if (word.length === 4) return take(fields, 'year', word);
  if (word.length > 2) return false;
  return fields.day === undefined ? take(fields, 'day', Number(word)) : take(fields, 'year', word);
}

/**
 * The year first if it has four digits, else in the order of the session; a month in words stands anywhere.
 */
function dateOf(first: string, second: string, third: string, order: DateOrder): Fields['date'] {
  const parts = [first, second, third];
  const named = parts.findIndex((part) => monthNames.has(part));
  const month = monthNames.get(parts[named] ?? '');
  const numbers = parts.filter((_, index) => index !== named);
  if (numbers.some((part) => !/^\d+$/.test(part) || part.length === 3 || part.length > 4)) return undefined;
  const hasLongYear = numbers.some((part) => part.length === 4);
  const isYearFirst = (first.length === 4 && named !== 0) || (order === 'YMD' && !hasLongYear);
  const [a = '', b = '', c = ''] = numbers;
  const [year, monthText, day] =
    month !== undefined
      ? isYearFirst
        ? [a, String(month), b]
        : [b, String(month), a]
      : isYearFirst
        ? [a, b, c]
        : order === 'DMY'
          ? [c, b, a]
          : [c, a, b];
  const isUnread = month === undefined && order === 'YMD' && !isYearFirst;
  if (isUnread || monthText.length > 2 || day.length > 2) return undefined;
  return { year, month: Number(monthText), day: Number(day) };
}

/**
 * `am` or `pm`, with a zone directly behind it. With a minus behind it, it is the name of a zone as POSIX
 * has it, whose hours count to the west.
 */
function readHalf(word: string, fields: Fields): boolean {
  const zone = word.slice(2);
  if (zone.startsWith('-')) {
    const east = zoneOf(zone);
    return typeof east === 'number' && take(fields, 'zone', -east);
  }
  if (!take(fields, 'half', word.startsWith('am') ? 'am' : 'pm')) return false;
  return zone === '' || take(fields, 'zone', zoneOf(zone));
}

/** `3:30`, `03:30:15.25`, with AM, PM or a zone directly behind it. */
function readClock(word: string, fields: Fields): boolean {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d*))?)?/.exec(word);
  if (match === null) return false;
  const [clock, hour, minute, second = '0', fraction = ''] = match;
  const rest = word.slice(clock.length);
  if (/^\d/.test(rest)) return false;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const isClock = Number(minute) < 60 && Number(second) < 60 && seconds <= 86_400;
  if (!isClock || (seconds === 86_400 && Number(fraction) > 0)) return false;
  if (!take(fields, 'clock', { seconds, fraction })) return false;
  if (rest === '') return true;
  return /^[ap]m(?![a-z])/.test(rest) ? readHalf(rest, fields) : take(fields, 'zone', zoneOf(rest));
}

/** An offset, east of UTC, an abbreviation or the name of a zone. */
function zoneOf(word: string): Fields['zone'] {
  const match = /^([+-])(\d{1,2})(?::(\d{2})(?::(\d{2}))?|(\d{2}))?$/.exec(word);
  if (match === null) return abbreviationSeconds(word) ?? namedZone(word);
  const [, sign, hour, minute = '0', second = '0', joined = '0'] = match;
  const minutes = Number(minute) + Number(joined);
  if (Number(hour) > 15 || minutes > 59 || Number(second) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hour) * 3600 + minutes * 60 + Number(second));
}

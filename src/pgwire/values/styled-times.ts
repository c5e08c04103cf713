import { offsetText, type TimeZone } from '../../lib/time-zone.ts';
import type { PostgresType } from '../../sql/postgres-types.ts';
import type { DateStyle, IntervalStyle } from '../../sql/time-styles.ts';
import type { SqlType } from '../../sql/types.ts';
import { WireError } from '../protocol/wire-error.ts';
import { intervalParts, withoutZeros } from './times.ts';

/**
 * Times as PostgreSQL writes them with a `DateStyle` other than ISO and an `IntervalStyle` other than
 * `postgres` (EncodeDateOnly, EncodeDateTime and EncodeInterval in src/backend/utils/adt/datetime.c).
 */

/** @param text `2024-03-31` */
export function styledDate(text: string, { format, order }: DateStyle): string {
  const [year = '', month = '', day = ''] = text.split('-');
  const isDayFirst = order === 'DMY';
  switch (format) {
    case 'ISO':
      return text;
    case 'German':
      return `${day}.${month}.${year}`;
    case 'SQL':
      return isDayFirst ? `${day}/${month}/${year}` : `${month}/${day}/${year}`;
    case 'Postgres':
      return isDayFirst ? `${day}-${month}-${year}` : `${month}-${day}-${year}`;
  }
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** @param text of the store: `2024-03-31 02:30:00.500000` */
export function styledTimestamp(text: string, style: DateStyle): string {
  const [date = '', clock = ''] = withoutZeros(text).split(' ');
  if (style.format !== 'Postgres') return `${styledDate(date, style)} ${clock}`;
  const [year = '', month = '', day = ''] = date.split('-');
  const name = months[Number(month) - 1];
  const weekday = days[new Date(`${date}T00:00:00Z`).getUTCDay()];
  return `${weekday} ${style.order === 'DMY' ? `${day} ${name}` : `${name} ${day}`} ${clock} ${year}`;
}

/**
 * A moment in a zone, with the abbreviation that the zone has then.
 * @param text of the store, in UTC
 */
export function styledMoment(text: string, zone: TimeZone, style: DateStyle): string {
  const abbreviation = abbreviationOf(zone);
  if (abbreviation === undefined) throw new Error(`BUG: the zone ${zone.name} has no abbreviation here`);
  const ahead = zone.fixedSeconds ?? 0;
  const utcMs = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`);
  const local = new Date(utcMs + ahead * 1000).toISOString();
  const shown = `${local.slice(0, 10)} ${local.slice(11, 19)}${text.slice(19)}`;
  return `${styledTimestamp(shown, style)} ${abbreviation}`;
}

/**
 * What cannot be shown: moments in zones whose abbreviations are not known, which are those of the IANA
 * database but UTC.
 */
export function unshownMoments(
  types: readonly PostgresType[],
  zone: TimeZone,
  style: DateStyle,
): WireError | undefined {
  const isMoment = (type: SqlType): boolean =>
    type.name === 'array' ? isMoment(type.element) : type.name === 'timestamptz';
  if (style.format === 'ISO' || !types.some(({ sql }) => isMoment(sql)) || abbreviationOf(zone) !== undefined)
    return undefined;
  return new WireError(
    '0A000',
    `timestamp with time zone in the DateStyle ${style.format} and the time zone ${zone.name} is not supported`,
    { hint: 'That style shows abbreviations of zones, which are not known here. Use the style ISO, or UTC.' },
  );
}

function abbreviationOf({ name, fixedSeconds }: TimeZone): string | undefined {
  if (fixedSeconds === undefined) return undefined;
  const [, inBrackets, letters] = /^(?:<([^>]*)>|([A-Z]+))[+-]?\d/.exec(name) ?? [];
  if (inBrackets !== undefined || letters !== undefined) return inBrackets ?? letters;
  if (fixedSeconds !== 0) return offsetText(fixedSeconds);
  return /gmt|greenwich/i.test(name) ? 'GMT' : 'UTC';
}

/** @param text in the style `postgres` */
export function styledInterval(text: string, style: IntervalStyle): string {
  if (style === 'postgres') return text;
  const { months: allMonths, days: day, micros } = intervalParts(text);
  const clock = Number(micros / 1_000_000n);
  const fields: Fields = {
    year: Math.trunc(allMonths / 12),
    month: allMonths % 12,
    day,
    hour: Math.trunc(clock / 3600),
    minute: Math.trunc(clock / 60) % 60,
    second: clock % 60,
    fraction: Number(micros % 1_000_000n),
  };
  if (style === 'sql_standard') return standardInterval(fields);
  return style === 'iso_8601' ? isoInterval(fields) : verboseInterval(fields);
}

type Fields = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction', number>>;

const abs = Math.abs;
const two = (value: number): string => String(value).padStart(2, '0');

/** Without a sign. */
function secondsText({ second, fraction }: Fields, isFilled: boolean): string {
  const whole = isFilled ? two(abs(second)) : String(abs(second));
  const digits = String(abs(fraction))
    .padStart(6, '0')
    .replace(/0{1,6}$/, '');
  return digits === '' ? whole : `${whole}.${digits}`;
}

/** `1-2`, `3 4:05:06`, `+1-2 -3 +4:05:06` */
function standardInterval(fields: Fields): string {
  const { year, month, day, hour, minute, second, fraction } = fields;
  const clock = [hour, minute, second, fraction];
  const all = [year, month, day, ...clock];
  const isNegative = (values: readonly number[]): boolean => values.some((value) => value < 0);
  const hasNegative = isNegative(all);
  const hasPositive = all.some((value) => value > 0);
  if (!hasNegative && !hasPositive) return '0';
  const hasMonths = year !== 0 || month !== 0;
  const hasRest = day !== 0 || clock.some((value) => value !== 0);
  const clockText = `${abs(hour)}:${two(abs(minute))}:${secondsText(fields, true)}`;
  if ((hasNegative && hasPositive) || (hasMonths && hasRest)) {
    const sign = (...values: readonly number[]): string => (isNegative(values) ? '-' : '+');
    const yearText = `${sign(year, month)}${abs(year)}-${abs(month)}`;
    return `${yearText} ${sign(day)}${abs(day)} ${sign(...clock)}${clockText}`;
  }
  const minus = hasNegative ? '-' : '';
  if (hasMonths) return `${minus}${abs(year)}-${abs(month)}`;
  return `${minus}${day === 0 ? '' : `${abs(day)} `}${clockText}`;
}

/** `P1Y2M3DT4H5M6.7S` */
function isoInterval(fields: Fields): string {
  const { year, month, day, hour, minute, second, fraction } = fields;
  const part = (value: number, unit: string): string => (value === 0 ? '' : `${value}${unit}`);
  const hasSeconds = second !== 0 || fraction !== 0;
  const minus = second < 0 || fraction < 0 ? '-' : '';
  const seconds = hasSeconds ? `${minus}${secondsText(fields, false)}S` : '';
  const clock = `${part(hour, 'H')}${part(minute, 'M')}${seconds}`;
  const date = `${part(year, 'Y')}${part(month, 'M')}${part(day, 'D')}`;
  if (clock === '' && date === '') return 'PT0S';
  return `P${date}${clock === '' ? '' : `T${clock}`}`;
}

/** `@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs ago`: the first part is positive. */
function verboseInterval(fields: Fields): string {
  const { year, month, day, hour, minute, second, fraction } = fields;
  let text = '@';
  let isFirst = true;
  let isBefore = false;
  const units = ['year', 'mon', 'day', 'hour', 'min'];
  for (const [index, value] of [year, month, day, hour, minute].entries()) {
    if (value === 0) continue;
    if (isFirst) isBefore = value < 0;
    const shown = isBefore ? -value : value;
    text += ` ${shown} ${units[index]}${shown === 1 ? '' : 's'}`;
    isFirst = false;
  }
  if (second !== 0 || fraction !== 0) {
    const isNegative = second < 0 || fraction < 0;
    if (isFirst) isBefore = isNegative;
    const minus = isNegative === isBefore ? '' : '-';
    text += ` ${minus}${secondsText(fields, false)} sec${abs(second) !== 1 || fraction !== 0 ? 's' : ''}`;
    isFirst = false;
  }
  return `${text}${isFirst ? ' 0' : ''}${isBefore ? ' ago' : ''}`;
}

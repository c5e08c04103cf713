import { timeZone } from '../state/settings.ts';

/** Formats of times are kept: making one takes fifty times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(zone === 'local' ? {} : { timeZone: zone }),
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(zone, format);
  return format;
}

interface TimeParts {
  readonly date: string;
  readonly clock: string;
}

function partsOf(ms: number, zone: string): TimeParts {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const get = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return {
    date: `${get('year')}-${get('month')}-${get('day')}`,
    clock: `${get('hour')}:${get('minute')}:${get('second')}`,
  };
}

/** The digits after the second, as the service wrote them: a `Date` has no more than three. */
const fractionOf = (text: string): string => /\.(\d+)/.exec(text)?.[1] ?? '';

/** `11-23 08:40:12.345`, in the chosen zone; the text itself if it is no time. */
export function shortTime(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return text;
  const { date, clock } = partsOf(ms, timeZone.value);
  return `${date.slice(5)} ${clock}.${fractionOf(text).padEnd(3, '0').slice(0, 3)}`;
}

/** With the year, all digits and the zone. */
export function fullTime(text: string, zone: string = timeZone.value): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return text;
  const { date, clock } = partsOf(ms, zone);
  let fraction = fractionOf(text);
  while (fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  return `${date} ${clock}${fraction === '' ? '' : `.${fraction}`} ${zoneName(zone, ms)}`;
}

/** A time of a range: to the second. */
export function rangeTime(ms: number): string {
  const { date, clock } = partsOf(ms, timeZone.value);
  return `${date} ${clock}`;
}

export const clockTime = (ms: number): string => partsOf(ms, timeZone.value).clock;
export const dayOf = (ms: number): string => partsOf(ms, timeZone.value).date.slice(5);

/** `UTC`, or such as `GMT+1`. */
export function zoneName(zone: string = timeZone.value, ms: number = Date.now()): string {
  if (zone === 'UTC') return 'UTC';
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...(zone === 'local' ? {} : { timeZone: zone }),
    timeZoneName: 'short',
  }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}

/** A time that was typed, read in the chosen zone unless it names one; not a number if it is none. */
export function parseTimeText(text: string): number {
  const typed = text.trim().replace(' ', 'T');
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?$/.test(typed))
    return Number.NaN;
  if (/(?:Z|[+-]\d\d:?\d\d)$/.test(typed) && typed.includes('T')) return Date.parse(typed);
  const asUtc = Date.parse(`${typed.includes('T') ? typed : `${typed}T00:00`}Z`);
  // The offset at that time; asked again, since it may differ at the time that it leads to.
  const first = asUtc - offsetMs(asUtc);
  return asUtc - offsetMs(first);
}

function offsetMs(ms: number): number {
  const { date, clock } = partsOf(ms, timeZone.value);
  return Date.parse(`${date}T${clock}Z`) - Math.floor(ms / 1000) * 1000;
}

const wholeNumbers = new Intl.NumberFormat('en');
export const countText = (count: number): string => wholeNumbers.format(count);

/** `1.2 s`, `34 ms`. */
export const elapsedText = (ms: number): string =>
  ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.max(1, Math.round(ms))} ms`;

/** `1.4 MB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

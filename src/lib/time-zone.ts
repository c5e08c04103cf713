import { LRUCache } from 'lru-cache';
import { limits } from '../limits/limits.ts';

/**
 * Time zones as PostgreSQL's setting `TimeZone` takes them (`check_timezone` in
 * src/backend/commands/variable.c, `pg_tzset` in src/timezone/pgtz.c), by the IANA database of the runtime.
 */
export class TimeZone {
  /** As PostgreSQL shows it. `timeZoneOf` reads it again. */
  readonly name: string;
  /** Seconds east of UTC; undefined where it changes with time. */
  readonly fixedSeconds: number | undefined;
  readonly #format: Intl.DateTimeFormat | undefined;
  /** By quarters of an hour since 1970; only of those in which the offset does not change. */
  readonly #offsets = new LRUCache<number, number>({ max: 1000 });
  #transitions: Transitions | undefined;

  constructor(name: string, fixedSeconds: number | undefined, format: Intl.DateTimeFormat | undefined) {
    this.name = name;
    this.fixedSeconds = fixedSeconds;
    this.#format = format;
  }

  /** @param ms since 1970 @returns seconds east of UTC */
  offsetSeconds(ms: number): number {
    if (this.fixedSeconds !== undefined) return this.fixedSeconds;
    const quarter = Math.floor(ms / quarterMs);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = this.#offsetAt(ms);
    const isConstant =
      this.#offsetAt(quarter * quarterMs) === offset &&
      this.#offsetAt((quarter + 1) * quarterMs - 1) === offset;
    if (isConstant) this.#offsets.set(quarter, offset);
    return offset;
  }

  /**
   * Seconds east of UTC when the clocks of the zone show a time. Of the offsets a day before and after it,
   * the later holds if it leads to a moment at which it holds: a time that clocks skip is read by the offset
   * before, and one that they show twice by the offset after (DetermineTimeZoneOffset in
   * src/backend/utils/adt/datetime.c).
   * @param clockMs what the clocks show, as milliseconds since 1970
   */
  offsetSecondsOfClock(clockMs: number): number {
    if (this.fixedSeconds !== undefined) return this.fixedSeconds;
    const after = this.#offsetAt(clockMs + dayMs);
    return this.#offsetAt(clockMs - after * 1000) === after ? after : this.#offsetAt(clockMs - dayMs);
  }

  /** All changes of the offset in the years of the store's times; some 10 ms of work the first time. */
  get transitions(): Transitions {
    this.#transitions ??= this.#findTransitions();
    return this.#transitions;
  }

  #offsetAt(ms: number): number {
    return readOffset(this.#format?.format(ms) ?? '');
  }

  /** Looks every few days, and between two different offsets for the second of the change. */
  #findTransitions(): Transitions {
    const at = (seconds: number): number => this.#offsetAt(seconds * 1000);
    const changes: [atSeconds: number, offsetSeconds: number][] = [];
    const first = this.fixedSeconds ?? at(firstSecond);
    if (this.fixedSeconds !== undefined) return { first, changes, goOn: false };
    let offset = first;
    for (let from = firstSecond; from < tableEndSecond; from += searchSeconds) {
      const to = Math.min(from + searchSeconds, tableEndSecond - 1);
      const last = at(to);
      if (last === offset) continue;
      changes.push([changeBetween(from, to, offset, at), last]);
      offset = last;
    }
    return { first, changes, goOn: (changes.at(-1)?.[0] ?? firstSecond) > tableEndSecond - 2 * yearSeconds };
  }
}

/** How the offset of a zone changes. Times are in seconds since 1970, offsets in seconds east of UTC. */
export interface Transitions {
  /** Before the first change, as far as the store's times go. */
  readonly first: number;
  /** From when on there is which offset, up to `tableEndSecond`. */
  readonly changes: ReadonlyArray<readonly [atSeconds: number, offsetSeconds: number]>;
  /** Whether the offset goes on to change after that. */
  readonly goOn: boolean;
}

/** The second of a change, which mostly is a whole hour. */
function changeBetween(from: number, to: number, before: number, at: (seconds: number) => number): number {
  const search = (low: number, high: number, unit: number): number => {
    let [same, other] = [Math.floor(low / unit), Math.ceil(high / unit)];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (at(middle * unit) === before) same = middle;
      else other = middle;
    }
    return other * unit;
  };
  const hour = search(from, to, 3600);
  return at(hour - 1) === before ? hour : search(hour - 3600, hour, 1);
}

const quarterMs = 900_000;
const dayMs = 86_400_000;
const yearSeconds = 366 * 86_400;
/** A day before the first of the store's times. */
const firstSecond = Date.UTC(1899, 11, 31) / 1000;
/** Up to here changes of the offset are listed. */
export const tableEndSecond = Date.UTC(2038, 0, 1) / 1000;
/** Shorter than the time for which any zone has had an offset between two equal ones. */
const searchSeconds = 8 * 86_400;

export const utc = new TimeZone('UTC', 0, undefined);

const known = new LRUCache<string, TimeZone>({ max: limits.maxKnownTimeZones });

/**
 * A zone as `SET TimeZone` takes it: a name of the IANA database in any case, hours east of UTC, or an
 * abbreviation with hours west of it, as POSIX has them (`UTC-2`, `<+02>-02`). Undefined if there is no such
 * zone, and for what cannot be computed here: rules of summer time in the text, offsets of 16 hours and more.
 */
export function timeZoneOf(text: string): TimeZone | undefined {
  if (text.length > maxNameLength) return undefined;
  const key = `setting ${text}`;
  const found = known.get(key);
  const zone = found ?? intervalZone(text) ?? hoursZone(text) ?? posixZone(text) ?? namedZone(text);
  if (found === undefined && zone !== undefined) known.set(key, zone);
  return zone;
}

/** For errors. */
export const timeZoneRule =
  'must be a name of the IANA database such as Europe/Berlin, hours east of UTC (2, -3.5), or an offset as POSIX has it (UTC-2)';
const maxNameLength = 64;
const maxFixedSeconds = 16 * 3600;

function fixedZone(name: string, seconds: number): TimeZone | undefined {
  if (Math.abs(seconds) >= maxFixedSeconds) return undefined;
  return new TimeZone(name, seconds === 0 ? 0 : seconds, undefined);
}

/** PostgreSQL shows the offset and, as POSIX has it, its opposite. */
const eastZone = (seconds: number): TimeZone | undefined =>
  fixedZone(`<${offsetText(seconds)}>${offsetText(-seconds, seconds >= 0)}`, seconds);

/** `INTERVAL '+02:30'`, as `SET TIME ZONE INTERVAL` gives it. */
function intervalZone(text: string): TimeZone | undefined {
  const match = /^interval '([+-]?)(\d{1,2}):(\d\d)(?::(\d\d))?'$/i.exec(text);
  if (match === null) return undefined;
  const [, sign, hours, minutes, seconds = '0'] = match;
  return eastZone((sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}

/** `2`, `-3.5` */
function hoursZone(text: string): TimeZone | undefined {
  if (!/^[+-]?(?:\d{1,3}(?:\.\d{0,15})?|\.\d{1,15})$/.test(text)) return undefined;
  return eastZone(Math.trunc(Number(text) * 3600));
}

/** `UTC-2`, `+05:30`, which are west of UTC where they have no minus. */
function posixZone(text: string): TimeZone | undefined {
  const match =
    /^([A-Za-z]{2,30}|<[A-Za-z0-9:+-]{0,30}>|)([+-]?)(\d{1,2})(?::([0-5]\d)(?::([0-5]\d))?)?$/.exec(text);
  if (match === null || text.length < 3) return undefined;
  const [, name = '', sign, hours, minutes = '0', seconds = '0'] = match;
  // PostgreSQL takes seconds for leap seconds; it shows them of its own numbers.
  if (seconds !== '0' && !name.startsWith('<')) return undefined;
  const west = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return fixedZone(text.toUpperCase(), (sign === '-' ? 1 : -1) * west);
}

/** Names of the IANA database without a slash. Other words may be abbreviations, which PostgreSQL refuses. */
const plainNames: ReadonlySet<string> = new Set(
  (
    'cet cst6cdt cuba eet est est5edt egypt eire gb gb-eire gmt gmt+0 gmt-0 gmt0 greenwich hst hongkong iceland ' +
    'iran israel jamaica japan kwajalein libya met mst mst7mdt nz nz-chat navajo prc pst8pdt poland portugal roc ' +
    'rok singapore turkey uct utc universal w-su wet zulu'
  ).split(' '),
);

/** By its name in the IANA database, in any case. */
export function namedZone(text: string): TimeZone | undefined {
  const key = `name ${text.toLowerCase()}`;
  const found = known.get(key);
  const zone = found ?? newNamedZone(text);
  if (found === undefined && zone !== undefined) known.set(key, zone);
  return zone;
}

function newNamedZone(text: string): TimeZone | undefined {
  const isName =
    text.length <= maxNameLength &&
    (/^[A-Za-z][A-Za-z_]*(?:\/[A-Za-z0-9_+-]+)+$/.test(text) || plainNames.has(text.toLowerCase()));
  const format = isName ? formatOf(text) : undefined;
  if (format === undefined) return undefined;
  const canonical = format.resolvedOptions().timeZone;
  const isSame = canonical.toLowerCase() === text.toLowerCase();
  const isUtc =
    canonical === 'UTC' || /^etc\/(?:utc|uct|gmt|zulu|universal|greenwich|gmt[+-]?0)$/i.test(text);
  return new TimeZone(isSame ? canonical : capitalized(text), isUtc ? 0 : undefined, format);
}

/** In the letters of most names. */
const capitalized = (name: string): string =>
  name.includes('/')
    ? name
        .toLowerCase()
        .replace(/(^|[/_-])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
    : plainName(name);
const plainName = (name: string): string =>
  /^(?:greenwich|iceland|universal|zulu|cuba|egypt|eire|hongkong|iran|israel|jamaica|japan|kwajalein|libya|navajo|poland|portugal|singapore|turkey)$/i.test(
    name,
  )
    ? `${name.slice(0, 1).toUpperCase()}${name.slice(1).toLowerCase()}`
    : name.toUpperCase();

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset', year: 'numeric' });
  } catch (error) {
    if (error instanceof RangeError) return undefined; // there is no such zone
    throw error;
  }
}

/** `2024, GMT+05:30` → seconds. */
function readOffset(text: string): number {
  const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (match === null) return 0;
  const [, sign, hours, minutes, seconds = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** As PostgreSQL ends a `timestamptz`: `+00`, `+05:30`, `-00:25:21`. */
export function offsetText(seconds: number, isNegative = seconds < 0): string {
  const rest = Math.abs(seconds);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const minutes = rest % 3600 === 0 ? '' : `:${two((rest % 3600) / 60)}`;
  return `${isNegative ? '-' : '+'}${two(rest / 3600)}${minutes}${rest % 60 === 0 ? '' : `:${two(rest % 60)}`}`;
}

import { LRUCache } from 'lru-cache';

/** The offset of a time zone from UTC at any time, as the output of `timestamptz` needs it. */
export class TimeZone {
  /** As PostgreSQL shows it. */
  readonly name: string;
  /** Seconds east of UTC; undefined where it changes with time. */
  readonly #fixed: number | undefined;
  readonly #format: Intl.DateTimeFormat | undefined;
  /** Of hours since 1970. Offsets change at whole quarters of an hour at the earliest. */
  readonly #offsets = new LRUCache<number, number>({ max: 1000 });

  constructor(name: string, fixed: number | undefined, format: Intl.DateTimeFormat | undefined) {
    this.name = name;
    this.#fixed = fixed;
    this.#format = format;
  }

  /** @param ms since 1970 @returns seconds east of UTC */
  offsetSeconds(ms: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const quarter = Math.floor(ms / quarterMs);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const text = this.#format?.formatToParts(quarter * quarterMs).find(({ type }) => type === 'timeZoneName');
    const offset = readOffset(text?.value ?? 'GMT');
    this.#offsets.set(quarter, offset);
    return offset;
  }
}

const quarterMs = 900_000;

export const utc = new TimeZone('UTC', 0, undefined);

/**
 * A zone as `SET TimeZone` takes it: an IANA name in any case, or hours east of UTC. Undefined if
 * there is no such zone.
 */
export function timeZoneOf(text: string): TimeZone | undefined {
  const name = text.trim();
  if (/^(utc|gmt|zulu|etc\/utc|z|local|default)$/i.test(name)) return utc;
  // An interval of hours: PostgreSQL shows it as POSIX has it, with the sign turned.
  const hours = /^([+-]?\d{1,2})(?::?(\d\d))?$/.exec(name);
  if (hours !== null) {
    const sign = name.startsWith('-') ? -1 : 1;
    const seconds = sign * (Math.abs(Number(hours[1])) * 3600 + Number(hours[2] ?? 0) * 60);
    if (Math.abs(seconds) > 15 * 3600) return undefined;
    const shown = offsetText(seconds);
    return new TimeZone(`<${shown}>${offsetText(-seconds)}`, seconds, undefined);
  }
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    return new TimeZone(format.resolvedOptions().timeZone, undefined, format);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // there is no such zone
    throw error;
  }
}

/** `GMT+05:30` → seconds. */
function readOffset(text: string): number {
  const match = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (match === null) return 0;
  const [, sign, hours, minutes, seconds = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** As PostgreSQL ends a `timestamptz`: `+00`, `+05:30`, `-00:25:21`. */
export function offsetText(seconds: number): string {
  const rest = Math.abs(seconds);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const minutes = rest % 3600 === 0 ? '' : `:${two((rest % 3600) / 60)}`;
  return `${seconds < 0 ? '-' : '+'}${two(rest / 3600)}${minutes}${rest % 60 === 0 ? '' : `:${two(rest % 60)}`}`;
}

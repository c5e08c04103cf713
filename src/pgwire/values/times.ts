import { offsetText, type TimeZone } from '../../lib/time-zone.ts';

/** Times between the store's text, PostgreSQL's text, and the counts of its binary form. */

/** PostgreSQL counts from 2000-01-01: in ms since 1970. */
export const timestampEpochMs = 946_684_800_000;
const dayMs = 86_400_000;

/** `2024-03-01 10:00:00.500000` in microseconds since 2000. */
export function timestampMicros(text: string): bigint {
  const ms = Date.UTC(
    Number(text.slice(0, 4)),
    Number(text.slice(5, 7)) - 1,
    Number(text.slice(8, 10)),
    Number(text.slice(11, 13)),
    Number(text.slice(14, 16)),
    Number(text.slice(17, 19)),
  );
  const micros = Number(text.slice(20, 26).padEnd(6, '0'));
  return BigInt(ms - timestampEpochMs) * 1000n + BigInt(micros);
}

/** `2024-03-01` in days since 2000. */
export const dateDays = (text: string): number =>
  (Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, Number(text.slice(8, 10))) -
    timestampEpochMs) /
  dayMs;

/** The text of microseconds since 2000, in UTC, without zeros at the end. */
export function timestampText(micros: bigint): string {
  const all = micros + BigInt(timestampEpochMs) * 1000n;
  let ms = all / 1000n;
  let rest = all % 1000n;
  if (rest < 0n) {
    rest += 1000n;
    ms -= 1n;
  }
  const iso = new Date(Number(ms)).toISOString();
  const micro = rest.toString().padStart(3, '0');
  return withoutZeros(`${iso.slice(0, -1).replace('T', ' ')}${micro}`);
}

/** `10:20:30.5`, a time of day, in microseconds. */
export const timeMicros = (text: string): bigint => {
  const [hours = '', minutes = '', seconds = ''] = text.split(':');
  const [whole = '', fraction = ''] = seconds.split('.');
  const minute = BigInt(hours) * 60n + BigInt(minutes);
  return (minute * 60n + BigInt(whole)) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
};

/** The text of microseconds since midnight. */
export const timeOfDayText = (micros: bigint): string => {
  const two = (number: bigint): string => String(number).padStart(2, '0');
  const seconds = micros / 1_000_000n;
  const fraction = String(micros % 1_000_000n).padStart(6, '0');
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}.${fraction}`;
};

export const dateText = (days: number): string =>
  new Date(days * dayMs + timestampEpochMs).toISOString().slice(0, 10);

/** As PostgreSQL writes fractions of seconds: no zeros at the end, and no point without digits. */
export const withoutZeros = (text: string): string =>
  text.length > 19 ? text.replace(/0{1,6}$/, '').replace(/\.$/, '') : text;

/** The store's UTC time in a zone, with the offset behind it. */
export function zonedText(text: string, zone: TimeZone): string {
  const ms = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`);
  const offset = zone.offsetSeconds(ms);
  if (offset === 0) return `${withoutZeros(text)}+00`;
  const local = new Date(ms + offset * 1000).toISOString();
  const shown = `${local.slice(0, 10)} ${local.slice(11, 19)}${text.slice(19)}`;
  return `${withoutZeros(shown)}${offsetText(offset)}`;
}

/**
 * The three parts of PostgreSQL's text of an interval, style `postgres`: `1 year 2 mons -3 days 04:05:06.7`.
 */
export function intervalParts(text: string): {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
} {
  let months = 0;
  let days = 0;
  let micros = 0n;
  const words = text.split(' ');
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word.includes(':')) {
      micros = clockMicros(word);
      continue;
    }
    const unit = words[at + 1] ?? '';
    if (unit.startsWith('year')) months += 12 * Number(word);
    else if (unit.startsWith('mon')) months += Number(word);
    else days += Number(word);
    at += 1;
  }
  return { months, days, micros };
}

/** `-04:05:06.789`. */
function clockMicros(text: string): bigint {
  const isNegative = text.startsWith('-');
  const [hours = '0', minutes = '0', seconds = '0'] = text.replace(/^[+-]/, '').split(':');
  const [whole = '0', fraction = ''] = seconds.split('.');
  const total =
    (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(whole)) * 1_000_000n +
    BigInt(fraction.padEnd(6, '0').slice(0, 6));
  return isNegative ? -total : total;
}

/** PostgreSQL's text of an interval. */
export function intervalText(months: number, days: number, micros: bigint): string {
  const absolute = micros < 0n ? -micros : micros;
  const two = (value: bigint) => value.toString().padStart(2, '0');
  const seconds = absolute / 1_000_000n;
  const fraction = absolute % 1_000_000n;
  const clock = `${micros < 0n ? '-' : ''}${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  const shown = fraction === 0n ? clock : `${clock}.${fraction.toString().padStart(6, '0')}`;
  return `${months} mons ${days} days ${shown}`;
}

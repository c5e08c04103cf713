import { roundHalfEven } from '../../lib/round-half-even.ts';
import { microsPerDay, microsPerSecond } from '../../lib/timestamp.ts';

const clock = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d*)?)?$/;
const digits = /^(\d{2})(\d{2})(?:(\d{2})(\.\d*)?)?$/;
const zone = /^[+-]\d{1,2}(?::?\d{2})?$/;

/** Without a `T` in front and an offset behind, which says nothing here. */
function withoutZone(text: string): string {
  const word = text.startsWith('t') ? text.slice(1).trim() : text;
  if (word.endsWith('z')) return word.slice(0, -1).trim();
  const at = Math.max(word.lastIndexOf('+'), word.lastIndexOf('-'));
  return at > 0 && zone.test(word.slice(at)) ? word.slice(0, at).trim() : word;
}

/**
 * A time of day in microseconds, from 0 to 24 hours. What has no time zone ignores an offset.
 * @returns undefined for what is none, `out of range` for an hour, minute or second that there is not
 */
export function readTimeOfDay(text: string): number | 'out of range' | undefined {
  const written = text.trim().toLowerCase();
  if (written === 'allballs') return 0;
  // With a minus behind it, it is the name of a time zone.
  const word = withoutZone(written.replace(/[ap]m-[\d:]{1,8}$/, '').trim());
  const half = word.endsWith('am') ? 'am' : word.endsWith('pm') ? 'pm' : undefined;
  const plain = half === undefined ? word : withoutZone(word.slice(0, -2).trim());
  const [whole, hourText = '', minuteText = '', secondText = '0', fraction = ''] =
    clock.exec(plain) ?? digits.exec(plain) ?? [];
  if (whole === undefined) return undefined;
  const [hours, minutes, seconds] = [hourText, minuteText, secondText].map(Number);
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined;
  if (half !== undefined && (hours < 1 || hours > 12)) return 'out of range';
  const hour = half === undefined ? hours : (hours % 12) + (half === 'pm' ? 12 : 0);
  const rest = roundHalfEven(Number(`0${fraction === '.' ? '' : fraction}`) * microsPerSecond);
  const micros = ((hour * 60 + minutes) * 60 + seconds) * microsPerSecond + rest;
  return hour > 24 || minutes > 59 || seconds > 60 || micros > microsPerDay ? 'out of range' : micros;
}

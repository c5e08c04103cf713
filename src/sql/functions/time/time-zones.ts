import { namedZone, TimeZone, utc } from '../../../lib/time-zone.ts';
import { microsPerSecond } from '../../../lib/timestamp.ts';
import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { isSessionInUtc } from '../../session-times.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { abbreviationSeconds } from '../../syntax/zone-offset.ts';
import { timestamp, timestamptz, typeLabel } from '../../types.ts';
import { momentOfClock, wallClock } from '../../zone-clock.ts';
import { argument, type CallSite, checkCount, constantText, type SpecialForm } from '../definition.ts';
import { literalParts } from './interval-parts.ts';

const fixedZone = (aheadSeconds: number): TimeZone =>
  aheadSeconds === 0 ? utc : new TimeZone(`${aheadSeconds} seconds`, aheadSeconds, undefined);

/**
 * A zone by an abbreviation, by its name in the IANA database or by hours. These are west of UTC, as in
 * POSIX: `+02` and `UTC+2` are two hours behind it. An interval is east of it.
 */
export function zoneOf(expr: Expr | undefined, site: CallSite): TimeZone {
  if (expr?.type.name === 'interval') return zoneOfInterval(expr, site);
  const written = constantText(expr, 'the time zone', site, { sample: 'UTC' });
  const known = abbreviationSeconds(written) ?? posixSeconds(written);
  if (known !== undefined) return fixedZone(known);
  const named = namedZone(written);
  if (named !== undefined) return named;
  if (/^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$/.test(written))
    throw sqlError('sql_out_of_range', `time zone ${JSON.stringify(written)} not recognized`, site.at);
  const what = 'other than by area and city, a known abbreviation or hours,';
  throw unsupported(`The time zone ${JSON.stringify(written)}, ${what}`, site.at);
}

/** Undefined for what has no hours. */
function posixSeconds(written: string): number | undefined {
  const match = /^(?:utc|gmt)?([+-])(\d{1,2})(?::(\d{2}))?$/i.exec(written);
  if (match === null) return undefined;
  const [, sign, hours, minutes = '0'] = match;
  if (Number(hours) > 15 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? 1 : -1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function zoneOfInterval(expr: Expr, site: CallSite): TimeZone {
  const parts = literalParts(expr);
  if (parts === undefined) throw unsupported('AT TIME ZONE with an interval that is no literal', site.at);
  if (parts.months !== 0 || parts.days !== 0)
    throw sqlError('sql_out_of_range', 'interval time zone must not include months or days', site.at);
  return fixedZone(Math.trunc(parts.micros / microsPerSecond));
}

/** `t AT TIME ZONE zone`, which PostgreSQL's grammar makes a call of `timezone (zone, t)`. */
export function atTimeZone(value: Expr, zone: TimeZone, site: CallSite): Expr {
  const known =
    value.type.name === 'unknown' || value.type.name === 'date' ? coerce(value, timestamptz, site.at) : value;
  if (known.type.name !== 'timestamp' && known.type.name !== 'timestamptz') {
    throw sqlError(
      'sql_unknown_function',
      `function timezone(unknown, ${typeLabel(value.type)}) does not exist`,
      site.at,
    );
  }
  const [type, render] =
    known.type.name === 'timestamptz'
      ? ([timestamp, wallClock] as const)
      : ([timestamptz, momentOfClock] as const);
  if (zone.fixedSeconds === 0) {
    // In another session zone, a conversion would change the value.
    return isSessionInUtc()
      ? convert(known, type, site.at)
      : apply(`in UTC ${type.name}`, type, (a) => a, known);
  }
  return apply(`at time zone ${zone.name} ${type.name}`, type, (a) => render(a, zone), known);
}

export const timeZone: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  return atTimeZone(argument(args, 1), zoneOf(args[0], site), site);
};

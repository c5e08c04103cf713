import { quoteString } from '../../../lib/quote.ts';
import { microsPerSecond } from '../../../lib/timestamp.ts';
import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { abbreviationSeconds, isZoneName, secondsAhead, zoneFormat } from '../../syntax/zone-offset.ts';
import { timestamp, timestamptz, typeLabel } from '../../types.ts';
import { argument, type CallSite, checkCount, constantText, type SpecialForm } from '../definition.ts';
import { literalParts } from './interval-parts.ts';

export interface Zone {
  readonly name: string;
  /** Seconds that its clocks are ahead of UTC at `referenceMs`. */
  readonly aheadSeconds: number;
  /** True if they always are. */
  readonly isFixed?: true;
}

export const utc: Zone = { name: 'UTC', aheadSeconds: 0 };

const halfDaySeconds = 43_200;

/**
 * The store's own offsets are a whole day wrong in many zones before 1970, and in some beyond 12 hours today.
 * They are brought next to the offset of this moment, which is right in all zones that have stayed on their
 * side of the date line.
 */
const referenceMs = Date.UTC(2024, 0, 1);

const fixedZone = (aheadSeconds: number): Zone =>
  aheadSeconds === 0 ? utc : { name: `${aheadSeconds} seconds`, aheadSeconds, isFixed: true };

/**
 * A zone by an abbreviation, by its name in the IANA database or by hours. These are west of UTC, as in
 * POSIX: `+02` and `UTC+2` are two hours behind it. An interval is east of it.
 */
export function zoneOf(expr: Expr | undefined, site: CallSite): Zone {
  if (expr?.type.name === 'interval') return zoneOfInterval(expr, site);
  const written = constantText(expr, 'the time zone', site, { sample: 'UTC' });
  const known = abbreviationSeconds(written) ?? posixSeconds(written);
  if (known !== undefined) return fixedZone(known);
  if (!isZoneName(written)) {
    const what = 'other than by area and city, a known abbreviation or hours,';
    throw unsupported(`The time zone ${JSON.stringify(written)}, ${what}`, site.at);
  }
  const format = zoneFormat(written);
  if (format === undefined)
    throw sqlError('sql_out_of_range', `time zone ${JSON.stringify(written)} not recognized`, site.at);
  const aheadSeconds = secondsAhead(format, referenceMs);
  if (Math.abs(aheadSeconds - secondsAhead(format, 0)) > halfDaySeconds) {
    throw unsupported(`The time zone ${written}, which has changed its side of the date line,`, site.at);
  }
  const capital = (_: string, before: string, letter: string): string => before + letter.toUpperCase();
  const name = written.includes('/') ? written.replace(/(^|[/_-])([a-z])/g, capital) : written.toUpperCase();
  return { name, aheadSeconds };
}

/** Undefined for what has no hours. */
function posixSeconds(written: string): number | undefined {
  const match = /^(?:utc|gmt)?([+-])(\d{1,2})(?::(\d{2}))?$/i.exec(written);
  if (match === null) return undefined;
  const [, sign, hours, minutes = '0'] = match;
  if (Number(hours) > 15 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? 1 : -1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function zoneOfInterval(expr: Expr, site: CallSite): Zone {
  const parts = literalParts(expr);
  if (parts === undefined) throw unsupported('AT TIME ZONE with an interval that is no literal', site.at);
  if (parts.months !== 0 || parts.days !== 0)
    throw sqlError('sql_out_of_range', 'interval time zone must not include months or days', site.at);
  return fixedZone(Math.trunc(parts.micros / microsPerSecond));
}

/** Seconds that the clocks of a zone are ahead of UTC at a moment. */
function offsetAt(moment: string, { name, aheadSeconds, isFixed }: Zone): string {
  if (isFixed === true) return `(${aheadSeconds})`;
  const shift = halfDaySeconds - aheadSeconds;
  const offset = `timeZoneOffset(toTimeZone(${moment}, ${quoteString(name)}))`;
  return `(positiveModulo(toInt64(${offset}) + ${shift}, 86400) - ${shift})`;
}

/** What the clocks of the zone show, as a timestamp without time zone. */
const wallClock = (moment: string, zone: Zone): string =>
  bindOnce([moment], (t) => `addSeconds(${t}, ${offsetAt(t, zone)})`);

/**
 * The moment at which the clocks of the zone show a time. Of the two offsets a day before and after it, the
 * later holds if it leads to a moment at which it holds; so a time that clocks skip is read by the offset
 * before, and one that they show twice by the offset after (DetermineTimeZoneOffset in
 * src/backend/utils/adt/datetime.c).
 */
const momentOf = (clock: string, zone: Zone): string =>
  bindOnce([clock], (t) => {
    const before = offsetAt(`subtractDays(${t}, 1)`, zone);
    const after = offsetAt(`addDays(${t}, 1)`, zone);
    const holds = `${offsetAt(`subtractSeconds(${t}, ${after})`, zone)} = ${after}`;
    return `subtractSeconds(${t}, if(${holds}, ${after}, ${before}))`;
  });

/** `t AT TIME ZONE zone`, which PostgreSQL's grammar makes a call of `timezone (zone, t)`. */
export function atTimeZone(value: Expr, zone: Zone, site: CallSite): Expr {
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
      : ([timestamptz, momentOf] as const);
  if (zone.name === 'UTC') return convert(known, type, site.at);
  return apply(`at time zone ${zone.name} ${type.name}`, type, (a) => render(a, zone), known);
}

export const timeZone: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  return atTimeZone(argument(args, 1), zoneOf(args[0], site), site);
};

import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { timestamp, timestamptz, typeLabel } from '../../types.ts';
import { argument, type CallSite, checkCount, constantText, type SpecialForm } from '../definition.ts';

export interface Zone {
  readonly name: string;
  /** Seconds that its clocks are ahead of UTC at `referenceMs`. */
  readonly aheadSeconds: number;
}

export const utc: Zone = { name: 'UTC', aheadSeconds: 0 };

const halfDaySeconds = 43_200;

/**
 * The store's own offsets are a whole day wrong in many zones before 1970, and in some beyond 12 hours today.
 * They are brought next to the offset of this moment, which is right in all zones that have stayed on their
 * side of the date line.
 */
const referenceMs = Date.UTC(2024, 0, 1);

/**
 * A zone by its name in the IANA database, or UTC. Abbreviations mean different things in different places.
 */
export function zoneOf(expr: Expr | undefined, site: CallSite): Zone {
  const written = constantText(expr, 'the time zone', site, { sample: 'UTC' });
  if (/^(utc|z|gmt)$/i.test(written)) return utc;
  if (!/^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$/.test(written)) {
    throw unsupported(`The time zone ${JSON.stringify(written)}, other than by area and city,`, site.at);
  }
  const format = formatIn(written, site);
  const aheadSeconds = secondsAhead(format, referenceMs);
  if (Math.abs(aheadSeconds - secondsAhead(format, 0)) > halfDaySeconds) {
    throw unsupported(`The time zone ${written}, which has changed its side of the date line,`, site.at);
  }
  const capital = (_: string, before: string, letter: string): string => before + letter.toUpperCase();
  return { name: written.replace(/(^|[/_-])([a-z])/g, capital), aheadSeconds };
}

function formatIn(timeZone: string, site: CallSite): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    throw sqlError('sql_out_of_range', `time zone ${JSON.stringify(timeZone)} not recognized`, site.at);
  }
}

/** Seconds that the clocks of a zone are ahead of UTC, from a text like `GMT-03:30`. */
function secondsAhead(format: Intl.DateTimeFormat, atMs: number): number {
  const name = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? [];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -size : size;
}

/** Seconds that the clocks of a zone are ahead of UTC at a moment. */
function offsetAt(moment: string, { name, aheadSeconds }: Zone): string {
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

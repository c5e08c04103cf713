import { quoteString } from '../../lib/quote.ts';
import { apply } from '../build.ts';
import { coerce, convert } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Expr } from '../ir.ts';
import { timestamp, timestamptz, typeLabel } from '../types.ts';
import { argument, type CallSite, checkCount, constantText, type SpecialForm } from './definition.ts';

/** A zone by its name in the IANA database, or UTC. Abbreviations mean different things in different places. */
export function zoneName(expr: Expr | undefined, site: CallSite): string {
  const written = constantText(expr, 'the time zone', site);
  if (/^(utc|z|gmt)$/i.test(written)) return 'UTC';
  if (!/^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$/.test(written)) {
    throw unsupported(`The time zone ${JSON.stringify(written)}, other than by area and city,`, site.at);
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: written });
  } catch {
    throw sqlError('sql_out_of_range', `time zone ${JSON.stringify(written)} not recognized`, site.at);
  }
  return written.replace(
    /(^|[/_-])([a-z])/g,
    (_, before: string, letter: string) => before + letter.toUpperCase(),
  );
}

/** Seconds that the clocks of a zone are ahead of UTC at a moment. */
const offsetAt = (moment: string, zone: string): string =>
  `toInt64(timeZoneOffset(toTimeZone(${moment}, ${quoteString(zone)})))`;

/** What the clocks of the zone show, as a timestamp without time zone. */
const wallClock = (moment: string, zone: string): string =>
  `addSeconds(${moment}, ${offsetAt(moment, zone)})`;

/**
 * The moment at which the clocks of the zone show a time. Of the two offsets a day before and after it, the later
 * holds if it leads to a moment at which it holds; so a time that clocks skip is read by the offset before, and one
 * that they show twice by the offset after (DetermineTimeZoneOffset in src/backend/utils/adt/datetime.c).
 */
function momentOf(clock: string, zone: string): string {
  const before = offsetAt(`subtractDays(${clock}, 1)`, zone);
  const after = offsetAt(`addDays(${clock}, 1)`, zone);
  const holds = `${offsetAt(`subtractSeconds(${clock}, ${after})`, zone)} = ${after}`;
  return `subtractSeconds(${clock}, if(${holds}, ${after}, ${before}))`;
}

/** `t AT TIME ZONE zone`, which PostgreSQL's grammar makes a call of `timezone (zone, t)`. */
export function atTimeZone(value: Expr, zone: string, site: CallSite): Expr {
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
  if (zone === 'UTC') return convert(known, type, site.at);
  return apply(`at time zone ${zone} ${type.name}`, type, (a) => render(a, zone), known);
}

export const timeZone: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  return atTimeZone(argument(args, 1), zoneName(args[0], site), site);
};

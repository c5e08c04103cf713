import { quoteString } from '../lib/quote.ts';
import { type TimeZone, tableEndSecond } from '../lib/time-zone.ts';
import { microsPerSecond } from '../lib/timestamp.ts';
import { bindOnce } from './let-bindings.ts';

/**
 * What the clocks of a time zone show, in the store's SQL. The changes of the offset are part of the
 * statement, since the store's own functions are wrong around changes that are not at a quarter of an hour,
 * before 1970, and in zones that have changed their side of the date line.
 *
 * A change and the offset from then on are one number, so that one binary search (`roundDown`) finds the
 * offset.
 */
const offsetBits = 2 ** 18;
const offsetBias = offsetBits / 2;
/** Added to all times, so that division rounds down. */
const shiftSeconds = 2 ** 33;

const packed = (seconds: number, offset: number): string =>
  String(BigInt(seconds + shiftSeconds) * BigInt(offsetBits) + BigInt(offset + offsetBias));
/** Before all times; with its sign, the store takes the list for one of Int64. */
const beginning = (offset: number): string => String(-(2n ** 58n) + BigInt(offset + offsetBias));

/** The last of these offsets that has begun, in seconds. */
function lookup(micros: string, changes: ReadonlyArray<readonly [number, number]>, first: number): string {
  const list = [beginning(first), ...changes.map(([seconds, offset]) => packed(seconds, offset))];
  const second = `intDiv(${micros} + ${shiftSeconds * microsPerSecond}, ${microsPerSecond})`;
  return `(bitAnd(roundDown(${second} * ${offsetBits} + ${offsetBits - 1}, [${list.join()}]), ${offsetBits - 1}) - ${offsetBias})`;
}

const microsOf = (moment: string): string => `toUnixTimestamp64Micro(${moment})`;
const tableEndMicros = tableEndSecond * microsPerSecond;

/** Seconds that the clocks of a zone are ahead of UTC at a moment. */
export function offsetAtMoment(moment: string, zone: TimeZone): string {
  if (zone.fixedSeconds !== undefined) return `(${zone.fixedSeconds})`;
  const { first, changes, goOn } = zone.transitions;
  if (changes.length === 0) return `(${first})`;
  const listed = lookup(microsOf(moment), changes, first);
  return goOn
    ? `if(${microsOf(moment)} < ${tableEndMicros}, ${listed}, ${laterOffset(moment, zone)})`
    : listed;
}

/**
 * By the store's knowledge of the zone: it may be a day wrong, and what changes then is less than half a day.
 */
function laterOffset(moment: string, { name, transitions }: TimeZone): string {
  const shift = halfDaySeconds - (transitions.changes.at(-1)?.[1] ?? 0);
  const offset = `timeZoneOffset(toTimeZone(${moment}, ${quoteString(name)}))`;
  return `(positiveModulo(toInt64(${offset}) + ${shift}, 86400) - ${shift})`;
}
const halfDaySeconds = 43_200;

/**
 * Seconds that the clocks of a zone are ahead of UTC when they show a time. The offset from a change on holds
 * from what the clocks show then: times that they skip have the offset before it, and times that they show
 * twice the one behind it (DetermineTimeZoneOffset in src/backend/utils/adt/datetime.c).
 */
function offsetOfClock(clock: string, zone: TimeZone): string {
  if (zone.fixedSeconds !== undefined) return `(${zone.fixedSeconds})`;
  const { first, changes, goOn } = zone.transitions;
  if (changes.length === 0) return `(${first})`;
  const shown = changes.map(([seconds, offset]) => [seconds + offset, offset] as const);
  const listed = lookup(microsOf(clock), shown, first);
  if (!goOn) return listed;
  const before = laterOffset(`subtractDays(${clock}, 1)`, zone);
  const after = laterOffset(`addDays(${clock}, 1)`, zone);
  const holds = `${laterOffset(`subtractSeconds(${clock}, ${after})`, zone)} = ${after}`;
  return `if(${microsOf(clock)} < ${tableEndMicros}, ${listed}, if(${holds}, ${after}, ${before}))`;
}

/** What the clocks of the zone show at a moment, as a timestamp without time zone. */
export const wallClock = (moment: string, zone: TimeZone): string =>
  zone.fixedSeconds === 0
    ? moment
    : bindOnce([moment], (t) => `addSeconds(${t}, ${offsetAtMoment(t, zone)})`);

/** The moment at which the clocks of the zone show a time. */
export const momentOfClock = (clock: string, zone: TimeZone): string =>
  zone.fixedSeconds === 0
    ? clock
    : bindOnce([clock], (t) => `subtractSeconds(${t}, ${offsetOfClock(t, zone)})`);

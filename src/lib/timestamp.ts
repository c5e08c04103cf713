export const microsPerSecond = 1_000_000;
export const microsPerDay = 86_400 * microsPerSecond;

const timestampPattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** A timestamp as it is written, in microseconds: what clocks show, and how far they are ahead of UTC. */
export interface WrittenTimestamp {
  readonly clockMicros: number;
  readonly offsetMicros: number;
  /** Whether the text says that; else it is 0. */
  readonly hasZone: boolean;
  /** The digits behind the point of the seconds. */
  readonly fraction: string;
}

/**
 * Parses an ISO 8601 or PostgreSQL timestamp to microseconds since 1970; UTC unless it has an offset.
 * Fractional digits beyond the sixth are cut.
 * @returns undefined for any other text, and for dates that do not exist
 */
export function parseTimestamp(text: string): number | undefined {
  const written = readTimestamp(text);
  if (written === undefined) return undefined;
  const { clockMicros, offsetMicros, fraction } = written;
  return clockMicros - offsetMicros + Number(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * The parts of what `parseTimestamp` reads, whole seconds apart from their fraction.
 * @returns undefined for any other text, and for dates that do not exist
 */
export function readTimestamp(text: string): WrittenTimestamp | undefined {
  const match = timestampPattern.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = ''] = match;
  const days = daysSinceEpoch(Number(year), Number(month), Number(day));
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const offset = zone === '' ? 0 : parseOffset(zone);
  const inRange = Number(hour) <= 24 && Number(minute) < 60 && Number(second) < 60 && seconds <= 86_400;
  if (days === undefined || offset === undefined || !inRange) return undefined;
  return {
    clockMicros: days * microsPerDay + seconds * microsPerSecond,
    offsetMicros: offset * microsPerSecond,
    hasZone: zone !== '',
    fraction,
  };
}

/** The days since 1970 of a Gregorian date; undefined if the date does not exist. */
export function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / 86_400_000 : undefined;
}

/** Seconds east of UTC. */
function parseOffset(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  if (hours > 15 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** The days since 1970 of `YYYY-MM-DD`; undefined for any other text. */
export function parseDay(text: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return daysSinceEpoch(Number(year), Number(month), Number(day));
}

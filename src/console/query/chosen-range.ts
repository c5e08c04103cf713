/**
 * A range of time as it was chosen: `1h` back from now, or between two times. The address keeps it so; only a
 * run of a query makes times of it.
 */
export interface TimeRange {
  /** A duration back from now, such as `15m`, or a time in RFC 3339. */
  readonly from: string;
  /** `now`, or a time in RFC 3339. */
  readonly to: string;
}

/** Milliseconds since 1970; `toMs` is outside of the range. */
export interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const duration = /^(\d{1,6})\s*([smhdw])$/;

export const presets: ReadonlyArray<readonly [from: string, label: string]> = [
  ['5m', 'Last 5 minutes'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['3h', 'Last 3 hours'],
  ['6h', 'Last 6 hours'],
  ['12h', 'Last 12 hours'],
  ['24h', 'Last 24 hours'],
  ['2d', 'Last 2 days'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
];

export const defaultRange: TimeRange = { from: '1h', to: 'now' };

/** The milliseconds of a duration such as `15m`; undefined if it is none. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = duration.exec(text.trim().toLowerCase()) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}

/** @returns undefined if it is no range, or an empty one */
export function boundsOf({ from, to }: TimeRange, nowMs: number): Bounds | undefined {
  const toMs = to === 'now' ? nowMs : Date.parse(to);
  const back = durationMs(from);
  const fromMs = back === undefined ? Date.parse(from) : toMs - back;
  return fromMs < toMs ? { fromMs, toMs } : undefined;
}

/** What somebody typed: `2h`, `2h ago`, or two times with `to` between them. Undefined if it is neither. */
export function parseRange(text: string, parseTime: (text: string) => number): TimeRange | undefined {
  const typed = text
    .trim()
    .replace(/^last /i, '')
    .replace(/ ago$/i, '');
  if (durationMs(typed) !== undefined) return { from: typed.toLowerCase().replaceAll(' ', ''), to: 'now' };
  const [first = '', second = '', ...others] = typed.split(/ to /i);
  if (others.length > 0 || second === '') return undefined;
  const fromMs = parseTime(first.trim());
  const toMs = second.trim().toLowerCase() === 'now' ? undefined : parseTime(second.trim());
  if (Number.isNaN(fromMs) || (toMs !== undefined && !(fromMs < toMs))) return undefined;
  return {
    from: new Date(fromMs).toISOString(),
    to: toMs === undefined ? 'now' : new Date(toMs).toISOString(),
  };
}

export const isRelative = ({ from, to }: TimeRange): boolean =>
  to === 'now' && durationMs(from) !== undefined;

/** Widths of bars, divisors of the day or whole days, so that bars begin at times that people expect. */
const widthsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000,
  172_800_000, 604_800_000, 2_592_000_000,
];

export const maxBars = 120;

/** The width of bars with which a range has at most `maxBars` of them. */
export function barWidthMs({ fromMs, toMs }: Bounds): number {
  const least = (toMs - fromMs) / (maxBars - 1);
  return widthsMs.find((width) => width >= least) ?? Math.ceil(least / 2_592_000_000) * 2_592_000_000;
}

/** `30000` as `30 s`. */
export function durationText(ms: number): string {
  const units: ReadonlyArray<readonly [number, string]> = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  const [size, unit] = units.find(([each]) => ms >= each) ?? [1, 'ms'];
  return `${Number((ms / size).toFixed(1))} ${unit}`;
}

/**
 * Intervals in other forms than PostgreSQL's verbose one, written in that one
 * (src/backend/utils/adt/datetime.c, DecodeInterval and DecodeISO8601Interval): `PT5M`, `P1Y2M`,
 * `1 month - 1 day`, `1-2` for years and months, `3 4:05:06` for days and a clock, `1.5 years`, `90` for
 * seconds.
 * @returns undefined for any other text
 */
export function verboseInterval(written: string): string | undefined {
  if (written.length > maxLength) return undefined;
  const text = written
    .trim()
    .toLowerCase()
    .replace(/^@\s*/, '')
    .replace(/([+-]) +(?=\d)/g, '$1');
  if (text.startsWith('p')) return isoInterval(text);
  const words = text.split(/\s+/);
  const result: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const next = words[index + 1];
    const months = yearsAndMonths(word) ?? monthsIn(word, next);
    if (months !== undefined && /\d$/.test(word) && !word.includes('-', 1)) index += 1;
    result.push(months ?? `${word}${unitOfNumber(word, next)}`);
  }
  return result.join(' ');
}

/** `1-2` */
function yearsAndMonths(word: string): string | undefined {
  const [, minus = '', years, months] = /^([+-]?)(\d{1,9})-(0?\d|1[01])$/.exec(word) ?? [];
  return years === undefined ? undefined : `${minus}${years} years ${minus}${months} months`;
}

/** A number of months, years or longer: with its unit, or before it. */
function monthsIn(word: string, next: string | undefined): string | undefined {
  const [, sign = '', whole = '', fraction = '', attached = ''] =
    /^([+-]?)(\d+)(?:\.(\d+))?([a-z]*)$/.exec(word) ?? [];
  const unit = whole === '' ? undefined : monthsOf.get(attached === '' ? (next ?? '') : attached);
  return unit === undefined ? undefined : inMonths(sign, whole, fraction, unit);
}

/** A number without a unit is one of days before a clock, and one of seconds at the end. */
function unitOfNumber(word: string, next: string | undefined): string {
  if (next === undefined && /^[+-]?\d+(?:\.\d+)?$/.test(word)) return ' seconds';
  return /^\d+$/.test(word) && isClock.test(next ?? '') ? ' days' : '';
}

/** No spelling is longer. */
const maxLength = 200;
const isClock = /^[+-]?\d+:\d/;

const years = (count: number, names: string): ReadonlyArray<readonly [string, number]> =>
  names.split(' ').map((name) => [name, 12 * count]);
const monthsOf: ReadonlyMap<string, number> = new Map([
  ['mon', 1],
  ['mons', 1],
  ['month', 1],
  ['months', 1],
  ...years(1, 'y yr yrs year years'),
  ...years(10, 'dec decs decade decades'),
  ...years(100, 'c cent century centuries'),
  ...years(1000, 'mil mils millennia millennium'),
]);

/** The name of a unit of months or years. */
export const isMonthsUnit = (name: string): boolean => monthsOf.has(name);

/** Of years, a fraction is rounded to months; of a month, it is days of 24 hours, 30 of them. */
function inMonths(sign: string, whole: string, fraction: string, unit: number): string {
  const part = Number(`0.${fraction === '' ? '0' : fraction}`);
  if (unit > 1) {
    const rest = part * unit;
    const rounded = Math.abs(rest % 1) === 0.5 ? 2 * Math.round(rest / 2) : Math.round(rest);
    return `${sign}${Number(whole) * unit + rounded} months`;
  }
  return part === 0 ? `${sign}${whole} months` : `${sign}${whole} months ${sign}${part * 30} days`;
}

const isoUnits: readonly (readonly [string, string])[] = [
  ['y', 'years'],
  ['m', 'months'],
  ['w', 'weeks'],
  ['d', 'days'],
];
const isoClockUnits: readonly (readonly [string, string])[] = [
  ['h', 'hours'],
  ['m', 'minutes'],
  ['s', 'seconds'],
];

/** `P1Y2M3DT4H5M6.7S`, in which each number may have a sign and a fraction. */
function isoInterval(text: string): string | undefined {
  const [date = '', clock, more] = text.slice(1).split('t');
  if (more !== undefined || (date === '' && clock === undefined)) return undefined;
  const parts = [...isoParts(date, isoUnits), ...isoParts(clock ?? '', isoClockUnits)];
  if (parts.includes(undefined)) return undefined;
  if (parts.length === 0) return '0 seconds';
  const spelled = parts.join(' ');
  return /\.\d+ (?:years|months)/.test(spelled) ? verboseInterval(spelled) : spelled;
}

function isoParts(
  text: string,
  units: readonly (readonly [string, string])[],
): readonly (string | undefined)[] {
  const found: (string | undefined)[] = [];
  let rest = text;
  let place = 0;
  while (rest !== '') {
    const [all = '', number, letter] = /^([+-]?\d+(?:\.\d+)?)([a-z])/.exec(rest) ?? [];
    const index = units.findIndex(([each]) => each === letter);
    if (all === '' || index < place) return [undefined];
    found.push(`${number} ${units[index]?.[1]}`);
    place = index + 1;
    rest = rest.slice(all.length);
  }
  return found;
}

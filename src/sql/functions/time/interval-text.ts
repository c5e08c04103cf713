import type { IntervalParts } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import type { IntervalForm } from '../../types.ts';

/**
 * A part with its unit. Behind a negative part PostgreSQL says that one is positive
 * (EncodeInterval in datetime.c).
 */
const partText = (amount: number, unit: string, plus: boolean): string =>
  `${plus && amount > 0 ? '+' : ''}${amount} ${unit}${amount === 1 ? '' : 's'}`;

/** An interval as PostgreSQL prints it: `1 year 2 mons -3 days +04:05:06.7`. */
export function intervalPartsText({ months, days, micros }: IntervalParts): string {
  const years = Math.trunc(months / 12);
  const words: string[] = [];
  let negative = false;
  for (const [amount, unit] of [
    [years, 'year'],
    [months - years * 12, 'mon'],
    [days, 'day'],
  ] as const) {
    if (amount === 0) continue;
    words.push(partText(amount, unit, negative));
    negative = amount < 0;
  }
  if (micros === 0 && words.length > 0) return words.join(' ');
  const sign = micros < 0 ? '-' : negative ? '+' : '';
  return [...words, sign + clockText(Math.abs(micros))].join(' ');
}

function clockText(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const two = (number: number): string => String(number).padStart(2, '0');
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  const fraction = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,6}$/, '');
  return fraction === '' ? clock : `${clock}.${fraction}`;
}

// In 64 bits with a sign: a large constant would be taken for one without.
const whole = (unit: string, seconds: number): string => `intDiv(${unit}, toInt64(${seconds * 1_000_000}))`;
const two = (number: string): string => `leftPad(toString(${number}), 2, '0')`;

/** In the store's SQL, of `c` microseconds without their sign. The smallest number has none in 64 bits. */
function storeClock(): string {
  const size = 'abs(toInt128(c))';
  const hours = whole(size, 3600);
  const hoursText = `if(${hours} < 100, ${two(hours)}, toString(${hours}))`;
  const minutes = `modulo(${whole(size, 60)}, 60)`;
  const seconds = `modulo(intDiv(${size}, 1000000), 60)`;
  const fraction = `replaceRegexpOne(concat('.', leftPad(toString(${size} % 1000000), 6, '0')), '\\\\.?0+$', '')`;
  return `${hoursText}, ':', ${two(minutes)}, ':', ${two(seconds)}, ${fraction}`;
}

/** The text of a length in microseconds whose days and hours are known by its form. */
export function intervalText(value: string, form: Extract<IntervalForm, 'clock' | 'days'>): string {
  // x is the length; c what of it is shown as a clock.
  const clock = `concat(if(c < 0, '-', ''), ${storeClock()})`;
  if (form === 'clock') return `arrayMap(c -> ${clock}, [${value}])[1]`;
  const days = whole('x', 86_400);
  const dayText = `concat(toString(${days}), if(${days} = 1, ' day', ' days'))`;
  const parts = `multiIf(${days} = 0, ${clock}, c = 0, ${dayText}, concat(${dayText}, ' ', ${clock}))`;
  return `arrayMap(x -> arrayMap(c -> ${parts}, [x - ${days} * toInt64(86400000000)])[1], [${value}])[1]`;
}

/** The text of an interval of these parts, in the store's SQL. */
export function partsText(months: string, days: string, micros: string): string {
  const part = (amount: string, unit: string, plus: string): string =>
    `if(${amount} = 0, '', concat(${plus}, toString(${amount}), if(${amount} = 1, ' ${unit}', ' ${unit}s')))`;
  const words = [
    part('intDiv(m, 12)', 'year', "''"),
    part('(m % 12)', 'mon', "''"),
    part('d', 'day', "if(m < 0 AND d > 0, '+', '')"),
    `if(c = 0 AND (m != 0 OR d != 0), '', concat(multiIf(c < 0, '-', if(d != 0, d, m) < 0, '+', ''), ${storeClock()}))`,
  ];
  const text = `arrayStringConcat(arrayFilter(w -> w != '', [${words.join(', ')}]), ' ')`;
  return letBindings(['m', 'd', 'c'], [months, days, micros], text);
}

import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Renderer } from '../../ir.ts';
import { bindOnce, letBindings } from '../../let-bindings.ts';
import { sessionZone } from '../../session-times.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { date, type SqlType, text, timestamptz } from '../../types.ts';
import { momentOfClock } from '../../zone-clock.ts';
import {
  argument,
  type CallSite,
  callOverload,
  checkCount,
  constantFormat,
  fn,
  type SpecialForm,
} from '../definition.ts';
import { dayOf } from './make-times.ts';
import { checkSeconds } from './store-years.ts';
import { monthNames } from './to-char.ts';

type Field = 'year' | 'month' | 'day' | 'hour' | 'half' | 'noon' | 'minute' | 'second' | 'micros';

/** A pattern of a format. */
interface Pattern {
  readonly field: Field;
  /** How many digits it has at most; 0 for words. */
  readonly digits: number;
  readonly words: string;
  /** Its value, in the store's SQL of what stands in the text. */
  readonly value: (found: string) => string;
  /** What might stand there. */
  readonly sample: string;
}

const number = (field: Field, digits: number, value = (found: string) => found): Pattern => ({
  field,
  digits,
  words: '',
  value: (found) => value(`toInt64(${found})`),
  sample: '2000'.slice(0, digits).padEnd(digits, '0').replace(/^20$/, '01'),
});
const name = (field: Field, list: readonly string[], first: number): Pattern => ({
  field,
  digits: 0,
  words: list.join('|'),
  value: (found) =>
    `toInt64(indexOf([${list.map((each) => quoteString(each.toLowerCase())).join(', ')}], lower(${found})) + ${first - 1})`,
  sample: list[0] ?? '',
});
/** Digits behind a point. */
const fraction = (digits: number): Pattern => ({
  ...number('micros', digits),
  value: (found) => `toInt64(rightPad(${found}, 6, '0'))`,
});
const century = (year: string): string => `(${year} + if(${year} < 70, 2000, 1900))`;
const shortMonths = monthNames.map((month) => month.slice(0, 3));

/** Longer patterns before those that they begin with. */
const patterns: ReadonlyArray<readonly [string, Pattern]> = [
  ['YYYY', number('year', 4)],
  ['YY', number('year', 2, century)],
  ['HH24', number('hour', 2)],
  ['HH12', number('half', 2)],
  ['HH', number('half', 2)],
  ['MONTH', name('month', monthNames, 1)],
  ['MON', name('month', shortMonths, 1)],
  ['MI', number('minute', 2)],
  ['MM', number('month', 2)],
  ['MS', fraction(3)],
  ['SS', number('second', 2)],
  ['US', fraction(6)],
  ['DD', number('day', 2)],
  ['AM', name('noon', ['am', 'pm'], 0)],
  ['PM', name('noon', ['am', 'pm'], 0)],
];

/** Patterns in the order of the format; texts between them. */
type Piece = Pattern | string;

function piecesOf(format: string, refuse: (what: string) => Error): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = format;
  while (rest !== '') {
    const [found, pattern] =
      patterns.find(([word]) => rest.slice(0, word.length).toUpperCase() === word) ?? [];
    const [quoted, text] = /^"([^"\\]*)"/.exec(rest) ?? /^([ -/:-@[\]^_`{-~])/.exec(rest) ?? [];
    if (pattern !== undefined && found !== undefined) {
      pieces.push(pattern);
      rest = rest.slice(found.length);
      if (/^th/i.test(rest)) throw refuse('TH');
    } else if (quoted !== undefined && text !== undefined && text !== '"') {
      pieces.push(text);
      rest = rest.slice(quoted.length);
    } else {
      throw refuse(rest.slice(0, 4));
    }
  }
  return pieces;
}

const isDigits = (piece: Piece | undefined): boolean => typeof piece === 'object' && piece.digits > 0;

/**
 * The texts that are read for sure as PostgreSQL reads them, which takes many more: as many digits as a
 * pattern has, or fewer where none can follow; between them what the format has there. What stands behind all
 * of it does not count.
 */
function regexOf(pieces: readonly Piece[]): string {
  const parts = pieces.map((piece, index) => {
    if (typeof piece === 'string') return piece.replace(/[^A-Za-z0-9 ]/g, '\\$&');
    if (piece.digits === 0) return `(?i:(${piece.words}))`;
    return isDigits(pieces[index + 1]) ? `(\\d{${piece.digits}})` : `(\\d{1,${piece.digits}})`;
  });
  return `^${parts.join('')}${isDigits(pieces.at(-1)) ? '(?:\\D|$)' : ''}`;
}

/** A format, and the fields that it reads, in the store's SQL of the groups `g`. */
function reader(format: string, site: CallSite) {
  const refuse = (what: string): Error => unsupported(`${site.name} with ${JSON.stringify(what)}`, site.at);
  const pieces = piecesOf(format, refuse);
  const found = pieces.filter((piece) => typeof piece === 'object');
  const fields = new Map(found.map(({ field, value }, index) => [field, value(`g[${index + 1}]`)] as const));
  const isTwice =
    fields.size < found.length || (fields.has('hour') && (fields.has('half') || fields.has('noon')));
  if (isTwice) throw unsupported(`${site.name} with a field that the format has twice`, site.at);
  if (!fields.has('year')) throw unsupported(`${site.name} without a year in the format`, site.at);
  const sample = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.sample)).join('');
  return {
    regex: regexOf(pieces),
    sample,
    fields,
  };
}

const read =
  (type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 2, 2, site);
    const format = constantFormat(args[1], site);
    const { regex, sample, fields } = reader(format, site);
    const field = (name: Field, otherwise = '0'): string => fields.get(name) ?? otherwise;
    const day = dayOf(field('year'), field('month', '1'), field('day', '1'));
    const half = fields.get('half');
    const hour = half === undefined ? field('hour') : hour12(half, field('noon'));
    const clock = [hour, field('minute'), field('second')];
    const result =
      type.name === 'date' ? day : momentOfClock(addClock(day, clock, field('micros')), sessionZone());
    const render: Renderer = (a) => {
      const isOther = raiseIf(`isNotNull(${a}) AND NOT match(${a}, ${quoteString(regex)})`, 'unlikeFormat');
      const groups = `extractGroups(concat(ifNull(${a}, ${quoteString(sample)}), if(${isOther}, '', '')), ${quoteString(regex)})`;
      return `if(isNull(${a}), NULL, ${letBindings(['g'], [groups], result)})`;
    };
    return apply(`${site.name} ${format}`, type, render, coerce(argument(args, 0), text, site.at));
  };

/** Twelve is the first hour of both halves. */
const hour12 = (hour: string, isAfternoon: string): string =>
  `(${hour} % 12 + 12 * ${isAfternoon} + ${raiseIf(`${hour} < 1 OR ${hour} > 12`, 'outOfRange')})`;

function addClock(
  day: string,
  [hour = '0', minute = '0', second = '0']: readonly string[],
  micros: string,
): string {
  const isNone = raiseIf('h > 23 OR i > 59 OR s > 59', 'outOfRange');
  const length = `((h * 60 + i) * 60 + s + ${isNone}) * 1000000 + ${micros}`;
  return `addMicroseconds(toDateTime64(${day}, 6, 'UTC'), ${letBindings(['h', 'i', 's'], [hour, minute, second], length)})`;
}

const ofSeconds = fn(['float'], timestamptz, (a) =>
  bindOnce(
    [a],
    (x) =>
      `fromUnixTimestamp64Micro(accurateCast(roundBankers(${x} * 1000000) + ${checkSeconds(x)}, 'Int64'), 'UTC')`,
  ),
);
const ofText = read(timestamptz);

/** `to_timestamp (seconds)`, `to_timestamp (text, format)` */
export const toTimestamp: SpecialForm = (args, site) =>
  args.length === 2 ? ofText(args, site) : callOverload([ofSeconds], args, site);

/** `to_date (text, format)` */
export const toDate: SpecialForm = read(date);

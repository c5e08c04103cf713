import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { convert } from '../../coerce.ts';
import { bindLong } from '../../let-bindings.ts';
import { isSessionInUtc } from '../../session-times.ts';
import { unsupported } from '../../sql-error.ts';
import { isNumber, isTimestamp, text, timestamp, timestamptz } from '../../types.ts';
import { argument, checkCount, constantFormat, type SpecialForm } from '../definition.ts';
import { numberToChar } from '../numbers/number-to-char.ts';
import { localTime } from './local-time.ts';

/** A pattern of `to_char`: the ClickHouse SQL of its text, padded and, behind `FM`, not. */
interface Pattern {
  readonly padded: (moment: string) => string;
  readonly plain: (moment: string) => string;
}

const number = (render: (moment: string) => string, digits: number): Pattern => ({
  padded: (a) => `leftPad(toString(${render(a)}), ${digits}, '0')`,
  plain: (a) => `toString(${render(a)})`,
});
const fixed = (render: (moment: string) => string): Pattern => ({ padded: render, plain: render });

const micros = (a: string): string => `positiveModulo(toUnixTimestamp64Micro(${a}), 1000000)`;
const hour12 = (a: string): string => `if(toHour(${a}) % 12 = 0, 12, toHour(${a}) % 12)`;
const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** The name of a day or month: full names are padded to the longest, of nine letters. */
function name(
  names: readonly string[],
  index: (a: string) => string,
  change: (word: string) => string,
): Pattern {
  const list = `[${names.map((word) => `'${change(word)}'`).join(', ')}]`;
  const plain = (a: string): string => `${list}[${index(a)}]`;
  return { plain, padded: (a) => `rightPad(${plain(a)}, 9, ' ')` };
}

const asWritten = (word: string): string => word;
const upper = (word: string): string => word.toUpperCase();
const lower = (word: string): string => word.toLowerCase();
const shortened = (change: (word: string) => string) => (word: string) => change(word.slice(0, 3));
const withoutPadding = ({ plain }: Pattern): Pattern => fixed(plain);
const dayIndex = (a: string): string => `toDayOfWeek(${a})`;
const monthIndex = (a: string): string => `toMonth(${a})`;
const halfDay = (am: string, pm: string): Pattern => fixed((a) => `if(toHour(${a}) < 12, '${am}', '${pm}')`);

/** Longer patterns before those that they begin with, as PostgreSQL looks for them. */
const patterns: ReadonlyArray<readonly [string, Pattern]> = [
  ['HH24', number((a) => `toHour(${a})`, 2)],
  ['HH12', number(hour12, 2)],
  ['HH', number(hour12, 2)],
  ['MI', number((a) => `toMinute(${a})`, 2)],
  ['SSSS', fixed((a) => `toString(toHour(${a}) * 3600 + toMinute(${a}) * 60 + toSecond(${a}))`)],
  ['SS', number((a) => `toSecond(${a})`, 2)],
  ['MS', fixed((a) => `leftPad(toString(intDiv(${micros(a)}, 1000)), 3, '0')`)],
  ['US', fixed((a) => `leftPad(toString(${micros(a)}), 6, '0')`)],
  ['YYYY', number((a) => `toYear(${a})`, 4)],
  ['YYY', number((a) => `toYear(${a}) % 1000`, 3)],
  ['YY', number((a) => `toYear(${a}) % 100`, 2)],
  ['IYYY', number((a) => `toISOYear(${a})`, 4)],
  ['IW', number((a) => `toISOWeek(${a})`, 2)],
  ['IDDD', number((a) => `(toISOWeek(${a}) - 1) * 7 + toDayOfWeek(${a})`, 3)],
  ['ID', number(dayIndex, 1)],
  ['MONTH', name(monthNames, monthIndex, upper)],
  ['Month', name(monthNames, monthIndex, asWritten)],
  ['month', name(monthNames, monthIndex, lower)],
  ['MON', withoutPadding(name(monthNames, monthIndex, shortened(upper)))],
  ['Mon', withoutPadding(name(monthNames, monthIndex, shortened(asWritten)))],
  ['mon', withoutPadding(name(monthNames, monthIndex, shortened(lower)))],
  ['MM', number(monthIndex, 2)],
  ['DAY', name(days, dayIndex, upper)],
  ['Day', name(days, dayIndex, asWritten)],
  ['day', name(days, dayIndex, lower)],
  ['DY', withoutPadding(name(days, dayIndex, shortened(upper)))],
  ['Dy', withoutPadding(name(days, dayIndex, shortened(asWritten)))],
  ['dy', withoutPadding(name(days, dayIndex, shortened(lower)))],
  ['DDD', number((a) => `toDayOfYear(${a})`, 3)],
  ['DD', number((a) => `toDayOfMonth(${a})`, 2)],
  ['D', number((a) => `toDayOfWeek(${a}) % 7 + 1`, 1)],
  ['WW', number((a) => `intDiv(toDayOfYear(${a}) - 1, 7) + 1`, 2)],
  ['W', number((a) => `intDiv(toDayOfMonth(${a}) - 1, 7) + 1`, 1)],
  ['Q', number((a) => `toQuarter(${a})`, 1)],
  ['AM', halfDay('AM', 'PM')],
  ['PM', halfDay('AM', 'PM')],
  ['am', halfDay('am', 'pm')],
  ['pm', halfDay('am', 'pm')],
];

/** Numbers are written the same in any case; names and halves of the day show theirs. */
const caseless = new Set([
  'HH24',
  'HH12',
  'HH',
  'MI',
  'SSSS',
  'SS',
  'MS',
  'US',
  'YYYY',
  'YYY',
  'YY',
  'IYYY',
  'IW',
  'IDDD',
  'ID',
  'MM',
  'DDD',
  'DD',
  'D',
  'WW',
  'W',
  'Q',
]);

interface Piece {
  readonly literal: string | undefined;
  readonly pattern: Pattern | undefined;
  readonly plain: boolean;
}

/** The format in pieces: patterns, what stands in double quotes, and everything else as it is. */
function piecesOf(formatText: string, refuse: (what: string) => Error): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = formatText;
  while (rest !== '') {
    const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(rest);
    const plain = /^fm/i.test(rest);
    const after = plain ? rest.slice(2) : rest;
    const found = patterns.find(([written]) =>
      caseless.has(written)
        ? after.slice(0, written.length).toUpperCase() === written
        : after.startsWith(written),
    );
    if (quoted !== null) {
      pieces.push({ literal: quoted[1]?.replace(/\\(.)/gs, '$1') ?? '', pattern: undefined, plain: false });
      rest = rest.slice(quoted[0].length);
    } else if (found !== undefined) {
      pieces.push({ literal: undefined, pattern: found[1], plain });
      rest = after.slice(found[0].length);
      if (/^th/i.test(rest)) throw refuse('TH');
    } else {
      // Any other letter may be a pattern that PostgreSQL knows.
      if (plain || /^[A-Za-z\\"]/.test(rest)) throw refuse(rest.slice(0, 4));
      pieces.push({ literal: rest.slice(0, 1), pattern: undefined, plain: false });
      rest = rest.slice(1);
    }
  }
  return pieces;
}

/** `to_char (timestamp, 'YYYY-MM-DD HH24:MI:SS')`, `to_char (number, 'FM9,990.00')`. */
export const toChar: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const value = argument(args, 0);
  if (isNumber(value.type)) return numberToChar(value, constantFormat(args[1], site, '9'), site);
  if (!isTimestamp(value.type) && value.type.name !== 'date') {
    throw unsupported(`to_char of something other than a number, a timestamp or a date`, site.at);
  }
  // As PostgreSQL, which takes a day for the moment at which it begins.
  const began = isTimestamp(value.type)
    ? value
    : convert(value, isSessionInUtc() ? timestamp : timestamptz, site.at);
  const moment = localTime(began, site.at);
  const formatText = constantFormat(args[1], site);
  const pieces = piecesOf(formatText, (what) => unsupported(`to_char with ${JSON.stringify(what)}`, site.at));
  return apply(
    `to_char ${formatText}`,
    text,
    (moment) => {
      const written = (a: string): string => {
        const parts = pieces.map(({ literal, pattern, plain }) =>
          pattern === undefined ? quoteString(literal ?? '') : plain ? pattern.plain(a) : pattern.padded(a),
        );
        return `if(isNull(${a}), NULL, concat(${["''", ...parts].join(', ')}))`;
      };
      return bindLong([moment], written);
    },
    moment,
  );
};

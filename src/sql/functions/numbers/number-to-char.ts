import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { float, isInteger, numeric, text } from '../../types.ts';
import type { CallSite } from '../definition.ts';

/**
 * `to_char (number, 'FM9,990.00S')`, as NUM_processor of PostgreSQL's src/backend/utils/adt/formatting.c does
 * it, for the patterns 9 0 . , D G S MI and FM, with other characters before and behind the number.
 */
interface NumberPattern {
  readonly isFilled: boolean;
  readonly sign: 'plain' | 'leading' | 'trailing' | 'minus';
  /** Digits before and behind the point. */
  readonly before: number;
  readonly behind: number;
  /**
   * Digits that are written also where they are zeros: before the point from the right, behind it from the
   * left.
   */
  readonly zerosBefore: number;
  readonly zerosBehind: number;
  /** How many digits stand before each comma, in order. */
  readonly commas: readonly number[];
  readonly prefix: string;
  readonly suffix: string;
}

/** More would not fit the store's decimals with their fraction. */
const maxDigits = 38;
const shape = /^([^0-9A-Za-z.,"\\]*)(S?)([09][09,G]*)(?:([.D])([09]+))?(S|MI)?([^0-9A-Za-z.,"\\]*)$/i;

function readPattern(format: string, refuse: (what: string) => Error): NumberPattern {
  const isFilled = !/^fm/i.test(format);
  const found = shape.exec(isFilled ? format : format.slice(2));
  if (found === null) throw refuse(format);
  const [, prefix = '', leading = '', whole = '', , fraction = '', trailing = '', suffix = ''] = found;
  if (leading !== '' && trailing !== '') throw refuse(format);
  const digits = whole.replace(/[,G]/gi, '');
  const firstZero = digits.indexOf('0');
  if (digits.length > maxDigits || fraction.length > maxDigits) throw refuse(format);
  return {
    isFilled,
    sign:
      leading !== '' ? 'leading' : /^s$/i.test(trailing) ? 'trailing' : trailing !== '' ? 'minus' : 'plain',
    before: digits.length,
    behind: fraction.length,
    zerosBefore: firstZero < 0 ? 0 : digits.length - firstZero,
    zerosBehind: fraction.lastIndexOf('0') + 1,
    commas: [...whole.matchAll(/[,G]/gi)].map(
      ({ index }) => whole.slice(0, index).replace(/[,G]/gi, '').length,
    ),
    prefix,
    suffix,
  };
}

/** The digits before the point, without blanks: `p` are those of the number. */
function wholePart({ isFilled, before, behind, zerosBefore, commas }: NumberPattern): string {
  const filled = zerosBefore === 0 ? 'p' : `leftPad(p, greatest(length(p), ${zerosBefore}), '0')`;
  // A zero before a point is written where the pattern asks for it, and where nothing else is left.
  const alone = isFilled ? "''" : "if(f = '', '0', '')";
  const digits = zerosBefore === 0 && behind > 0 ? `if(p = '0', ${alone}, ${filled})` : filled;
  if (commas.length === 0) return digits;
  const ends = [...commas, before];
  const parts = ends.map((end, index) => {
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
    const part = `trimLeft(substring(w, ${start + 1}, ${end - start}))`;
    return index === 0 ? part : `if(substring(w, ${start}, 1) = ' ', '', ','), ${part}`;
  });
  return `arrayMap(w -> concat('', ${parts.join(', ')}), [leftPad(${digits}, ${before}, ' ')])[1]`;
}

/**
 * `n` is true for a negative number, `p` and `f` are its digits before and behind the point, as
 * far as they are shown.
 */
function layOut(pattern: NumberPattern): string {
  const { isFilled, sign, before, behind, commas, prefix, suffix } = pattern;
  const point = behind > 0 ? ", '.', f" : '';
  const number = `${wholePart(pattern)}${point}`;
  const plus = sign === 'leading' || sign === 'trailing' ? "'+'" : isFilled ? "' '" : "''";
  const signText = `if(n, '-', ${plus})`;
  const signed =
    sign === 'plain' || sign === 'leading' ? `concat(${signText}, ${number})` : `concat('', ${number})`;
  const width =
    before + commas.length + (behind > 0 ? behind + 1 : 0) + (signed.startsWith('concat(if') ? 1 : 0);
  const placed = isFilled ? `leftPad(${signed}, ${width}, ' ')` : signed;
  const behindIt = sign === 'trailing' || sign === 'minus' ? `, ${signText}` : '';
  return `concat(${quoteString(prefix)}, ${placed}${behindIt}, ${quoteString(suffix)})`;
}

/** The number with as many digits behind the point as are shown, and `-` where it is negative. */
function digitsOf(value: Expr, digits: number, at: number | undefined): Expr {
  if (isInteger(value.type)) return convert(value, text, at);
  if (value.type.name === 'numeric') {
    const rounded = convert(value, numeric(digits, true), at);
    return apply(`digits ${digits}`, text, (a) => `toDecimalString(${a}, ${digits})`, rounded);
  }
  // PostgreSQL shows 15 digits of a double and makes blanks of the others.
  const tooLong = (a: string): string => raiseIf(`NOT (abs(${a}) < 1e${15 - digits})`, 'longToChar');
  const render = (a: string): string =>
    `if(isNull(${a}), NULL, if(${tooLong(a)}, '', printf('%.${digits}f', ifNull(${a}, 0))))`;
  return apply(`digits ${digits}`, text, render, coerce(value, float, at));
}

export function numberToChar(value: Expr, format: string, site: CallSite): Expr {
  const pattern = readPattern(format, (what) =>
    unsupported(`to_char of a number with ${JSON.stringify(what)}`, site.at),
  );
  const { before, behind, isFilled, zerosBehind } = pattern;
  if (behind > 14 && !isInteger(value.type) && value.type.name !== 'numeric') {
    throw unsupported('to_char of a double with more than 14 digits behind the point', site.at);
  }
  const fraction = `rightPad(splitByChar('.', d)[2], ${behind}, '0')`;
  const shown = isFilled
    ? 'g'
    : `concat(substring(g, 1, ${zerosBehind}), trimRight(substring(g, ${zerosBehind + 1}), '0'))`;
  const whole = "splitByChar('.', d)[1]";
  const fits = `length(${whole}) <= ${before}`;
  const parts = [
    `[if(${fits}, ${whole}, repeat('#', ${before}))]`,
    `[if(${fits}, arrayMap(g -> ${shown}, [${fraction}])[1], repeat('#', ${behind}))]`,
  ];
  const render = (s: string): string => {
    const laidOut = `arrayMap((p, f) -> ${layOut(pattern)}, ${parts.join(', ')})[1]`;
    const split = `arrayMap((n, d) -> ${laidOut}, [startsWith(v, '-')], [trimLeft(v, '-')])[1]`;
    return `arrayMap(v -> if(isNull(v), NULL, arrayMap(v -> ${split}, [ifNull(v, '')])[1]), [${s}])[1]`;
  };
  return apply(`to_char ${format}`, text, render, digitsOf(value, behind, site.at));
}

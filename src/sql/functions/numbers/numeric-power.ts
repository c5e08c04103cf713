import { sqlError } from '../../sql-error.ts';
import { maxNumericDigits, maxNumericScale } from '../../types.ts';
import type { CallSite } from '../definition.ts';

/** Digits behind the point of all that is computed on the way. */
const workScale = 120;
const one = 10n ** BigInt(workScale);
/** PostgreSQL's NUMERIC_MIN_SIG_DIGITS (src/include/utils/numeric.h). */
const minDigits = 16;
/** Beyond it, no result but that of 1 fits into a decimal, and computing it would take long. */
const maxLogarithm = 200;

const multiply = (a: bigint, b: bigint): bigint => (a * b) / one;
const divide = (a: bigint, b: bigint): bigint => (a * one) / b;

function scaled(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(workScale, '0').slice(0, workScale)}`);
}

/** By the series of 2 artanh ((x - 1) / (x + 1)), of x brought near to 1 by square roots. */
function logarithm(value: bigint): bigint {
  let x = value;
  let factor = 2n;
  while (x > (one * 11n) / 10n || x < (one * 10n) / 11n) {
    x = squareRoot(x * one);
    factor *= 2n;
  }
  const share = divide(x - one, x + one);
  const square = multiply(share, share);
  let [sum, term] = [0n, share];
  for (let odd = 1n; term !== 0n; odd += 2n) {
    sum += term / odd;
    term = multiply(term, square);
  }
  return sum * factor;
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** By its series, of x halved until it is small. */
function exponential(value: bigint): bigint {
  let [x, halvings] = [value, 0];
  while (x > one / 8n || x < -one / 8n) {
    x /= 2n;
    halvings += 1;
  }
  let [sum, term] = [0n, one];
  for (let n = 1n; term !== 0n; n += 1n) {
    sum += term;
    term = multiply(term, x) / n;
  }
  for (; halvings > 0; halvings -= 1) sum = multiply(sum, sum);
  return sum;
}

/**
 * `base ^ exponent` of decimals, with at least 16 significant digits, and as many behind the point as either
 * has.
 * @returns undefined where a decimal of the store cannot hold it
 * @throws AppError `sql_bad_power` for a root of a negative number, and a negative power of zero
 */
export function numericPower(base: string, exponent: string, site: CallSite): string | undefined {
  const [x, y] = [Number(base), Number(exponent)];
  const isWhole = /^-?\d+(?:\.0*)?$/.test(exponent);
  if ((x === 0 && y < 0) || (x < 0 && !isWhole)) {
    throw sqlError('sql_bad_power', 'no power or root that is a real number', site.at);
  }
  const size = scaled(base.replace('-', ''));
  const digits = size === 0n ? 0 : Math.log10(Math.abs(x)) * y;
  if (Math.abs(digits) > maxLogarithm) return undefined;
  const isOdd = isWhole && BigInt(exponent.split('.')[0] ?? '0') % 2n !== 0n;
  const result = powerOf(size, exponent);
  const behind = Math.max(minDigits - Math.floor(digits), ...[base, exponent].map(digitsBehind));
  return written(x < 0 && isOdd ? -result : result, behind);
}

const digitsBehind = (text: string): number => text.split('.')[1]?.length ?? 0;

function powerOf(size: bigint, exponent: string): bigint {
  const isZero = /^-?[0.]*$/.test(exponent);
  if (isZero) return one;
  return size === 0n ? 0n : exponential(multiply(logarithm(size), scaled(exponent)));
}

/** With so many digits behind the point, rounded. */
function written(value: bigint, behind: number): string | undefined {
  if (behind > maxNumericScale) return undefined;
  const unit = 10n ** BigInt(workScale - behind);
  const half = value < 0n ? -unit / 2n : unit / 2n;
  const rounded = (value + half) / unit;
  const digits = String(rounded < 0n ? -rounded : rounded).padStart(behind + 1, '0');
  if (digits.length > maxNumericDigits) return undefined;
  const text = behind === 0 ? digits : `${digits.slice(0, -behind)}.${digits.slice(-behind)}`;
  return rounded < 0n ? `-${text}` : text;
}

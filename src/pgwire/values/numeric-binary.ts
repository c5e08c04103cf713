import type { MessageWriter } from '../protocol/message-writer.ts';

/**
 * The binary form of `numeric` (PostgreSQL's src/backend/utils/adt/numeric.c, `numeric_send`): digits to
 * the base 10,000, of which `weight + 1` stand before the point, a sign, and how many decimal digits are
 * shown behind the point.
 */
const sign = { positive: 0x0000, negative: 0x4000, nan: 0xc000, infinity: 0xd000, negativeInfinity: 0xf000 };

/** Writes the value without its length. */
export function writeNumeric(to: MessageWriter, text: string): void {
  const special = { NaN: sign.nan, Infinity: sign.infinity, '-Infinity': sign.negativeInfinity }[text];
  if (special !== undefined) {
    to.int16(0).int16(0).uint16(special).int16(0);
    return;
  }
  const isNegative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.');
  const digits = [
    ...groups(whole.padStart(Math.ceil(whole.length / 4) * 4, '0')),
    ...groups(fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')),
  ];
  let weight = Math.ceil(whole.length / 4) - 1;
  let first = 0;
  while (first < digits.length && digits[first] === 0) {
    first += 1;
    weight -= 1;
  }
  let last = digits.length;
  while (last > first && digits[last - 1] === 0) last -= 1;
  const shown = digits.slice(first, last);
  to.int16(shown.length).int16(shown.length === 0 ? 0 : weight);
  to.uint16(isNegative && shown.length > 0 ? sign.negative : sign.positive).int16(fraction.length);
  for (const digit of shown) to.int16(digit);
}

const groups = (digits: string): number[] =>
  Array.from({ length: digits.length / 4 }, (_, index) => Number(digits.slice(4 * index, 4 * index + 4)));

/** The text of a binary value; undefined if it is not valid. */
export function readNumeric(bytes: Buffer): string | undefined {
  if (bytes.length < 8) return undefined;
  const count = bytes.readUInt16BE(0);
  const weight = bytes.readInt16BE(2);
  const kind = bytes.readUInt16BE(4);
  const scale = bytes.readUInt16BE(6) & 0x3fff;
  if (bytes.length !== 8 + 2 * count || Math.abs(weight) > maxGroups || scale > maxScale) return undefined;
  if (kind === sign.nan) return 'NaN';
  if (kind === sign.infinity) return 'Infinity';
  if (kind === sign.negativeInfinity) return '-Infinity';
  if (kind !== sign.positive && kind !== sign.negative) return undefined;
  const digit = (index: number): string => {
    const value = index >= 0 && index < count ? bytes.readUInt16BE(8 + 2 * index) : 0;
    return String(value).padStart(4, '0');
  };
  let whole = '';
  for (let index = 0; index <= weight; index++) whole += digit(index);
  let fraction = '';
  for (let index = weight + 1; fraction.length < scale; index++) fraction += digit(index);
  const shown = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${kind === sign.negative ? '-' : ''}${shown}${scale === 0 ? '' : `.${fraction.slice(0, scale)}`}`;
}

/** More than any value that can be used here has: its digits before the point, in groups, and behind it. */
const maxGroups = 100;
const maxScale = 400;

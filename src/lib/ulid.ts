import { randomBytes } from 'node:crypto';

/** Crockford's base 32: no I, L, O, U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * A ULID (github.com/ulid/spec): 48 bits of time in milliseconds and 80 random bits, as 26
 * characters that sort by time.
 */
export function ulid(nowMs: number): string {
  let bits = (BigInt(nowMs) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let text = '';
  for (let index = 0; index < 26; index += 1) {
    text = `${alphabet[Number(bits & 31n)]}${text}`;
    bits >>= 5n;
  }
  return text;
}

const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** Whether a text is a ULID, in any case of its letters. */
export const isUlid = (text: string): boolean => ulidPattern.test(text);

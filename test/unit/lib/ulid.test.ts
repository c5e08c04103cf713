import { describe, expect, it } from 'vitest';
import { ulid } from '../../../src/lib/ulid.ts';

describe('a ULID', () => {
  it('begins with its time, as the specification has it', () => {
    expect(ulid(1_469_918_176_385).slice(0, 10)).toBe('01ARYZ6S41');
    expect(ulid(2 ** 48 - 1).slice(0, 10)).toBe('7ZZZZZZZZZ');
    expect(ulid(0).slice(0, 10)).toBe('0000000000');
  });

  it('has 26 characters that people do not confuse, and is another one each time', () => {
    const many = new Set(Array.from({ length: 1000 }, () => ulid(1)));
    expect(many.size).toBe(1000);
    for (const one of many) expect(one).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });
});

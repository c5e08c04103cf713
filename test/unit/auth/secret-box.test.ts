import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SecretBox } from '../../../src/auth/secret-box.ts';

const box = new SecretBox('a secret of thirty-two characters');
const other = new SecretBox('another one of 32 characters or so');
const changed = expect.objectContaining({ code: 'secret_changed' });

describe('a secret box', () => {
  it('opens what it sealed, in the same context only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (text, context, elsewhere) => {
        const sealed = box.seal(text, context);
        expect(box.open(sealed, context)).toBe(Buffer.from(text).toString());
        if (elsewhere !== context) expect(() => box.open(sealed, elsewhere)).toThrow(changed);
        expect(() => other.open(sealed, context)).toThrow(changed);
      }),
    );
  });

  it('notices every changed bit', () => {
    const sealed = Buffer.from(box.seal('0d8a3b5e', 'x'), 'base64');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => box.open(altered.toString('base64'), 'x')).toThrow(changed);
    }
  });

  it.each(['', 'AAAA', '=', 'no base64'])('refuses what it cannot have made: %j', (sealed) => {
    expect(() => box.open(sealed, 'x')).toThrow(changed);
  });

  it('never seals the same text alike, and always finds it by the same digest', () => {
    expect(box.seal('text', 'x')).not.toBe(box.seal('text', 'x'));
    expect(box.digest('text')).toBe(new SecretBox('a secret of thirty-two characters').digest('text'));
    expect(box.digest('text')).not.toBe(box.digest('Text'));
    expect(box.digest('text')).not.toBe(other.digest('text'));
  });
});

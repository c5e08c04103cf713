import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutLineFeeds } from '../../../src/query/compact-json.ts';

const lineFeed = 0x0a;

it('leaves the line feeds out, wherever they are, and all else as it is', () => {
  const byte = fc.oneof({ weight: 3, arbitrary: fc.nat(255) }, fc.constant(lineFeed));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), (bytes) => {
      const expected = bytes.filter((each) => each !== lineFeed);
      expect([...withoutLineFeeds(Uint8Array.from(bytes))]).toEqual(expected);
    }),
  );
});

it('writes nothing beyond the piece that it is given', () => {
  const memory = Buffer.from('ab\ncd\nef');
  withoutLineFeeds(memory.subarray(2, 6));
  expect(memory.toString()).toMatch(/^ab.{4}ef$/s);
});

it('gives the compact form of rows', () => {
  const rows = Buffer.from('[\n{"text":"a\\nb"},\n{"text":"c"}\n]\n');
  expect(Buffer.from(withoutLineFeeds(rows)).toString()).toBe('[{"text":"a\\nb"},{"text":"c"}]');
});

import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { compress } from '@foxglove/wasm-zstd';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import type { BodyEncoding } from '../../../../src/decode/task.ts';
import { decodeBody } from '../../../../src/decode/wire/decompression.ts';
import { readZstdFrame } from '../../../../src/decode/wire/zstd.ts';
import { caughtCode, caughtError } from '../../../support/lib/caught.ts';
import { seededRandom } from '../../../support/lib/random.ts';

const text = Buffer.from('{"level":"info","message":"a line of a log"}\n'.repeat(50));
const encoded: Partial<Record<BodyEncoding, Buffer>> = {
  identity: text,
  gzip: gzipSync(text),
  deflate: deflateSync(text),
  snappy: compressSync(text),
  zstd: compress(text),
};
const encodings = Object.entries(encoded) as [BodyEncoding, Buffer][];

describe('every encoding', () => {
  test.each(encodings)('%s gives the body back', (encoding, body) => {
    expect(decodeBody(body, encoding, text.length)).toEqual(text);
  });

  test.each(encodings)('%s is refused one byte above the bound', (encoding, body) => {
    expect(caughtCode(() => decodeBody(body, encoding, text.length - 1))).toBe('body_too_large');
  });

  test.each(encodings.filter(([encoding]) => encoding !== 'identity'))(
    '%s that is cut off, empty, garbage or followed by more is refused',
    (encoding, good) => {
      const broken = {
        'cut off': good.subarray(0, good.length - 3),
        empty: Buffer.alloc(0),
        garbage: Buffer.from('this is not compressed at all'),
        'followed by text': Buffer.concat([good, Buffer.from('more')]),
        'followed by zeros': Buffer.concat([good, Buffer.alloc(20)]),
      };
      for (const [what, body] of Object.entries(broken)) {
        expect(
          caughtCode(() => decodeBody(body, encoding, 1 << 20)),
          what,
        ).toBe('bad_encoding');
      }
    },
  );
});

test('a gzip body of several members is one body', () => {
  const members = Buffer.concat([gzipSync('{"a":1}\n'), gzipSync('{"a":2}\n')]);
  expect(decodeBody(members, 'gzip', 100).toString()).toBe('{"a":1}\n{"a":2}\n');
});

test('deflate is the zlib format, as RFC 9110 says', () => {
  expect(caughtCode(() => decodeBody(deflateRawSync(text), 'deflate', 1 << 20))).toBe('bad_encoding');
});

describe('the end of a zstd frame', () => {
  /** Of unknown size: a run of eight times `a`, and `z` as it is. */
  const frame = Buffer.from('28b52ffd0058420000610900007a', 'hex');

  test('is found by the lengths of its blocks', () => {
    const checksum = Buffer.alloc(4);
    const whole = Buffer.concat([Buffer.from('28b52ffd2402110000', 'hex'), Buffer.from('hi'), checksum]);
    expect(readZstdFrame(whole)?.end).toBe(whole.length);
    expect(readZstdFrame(Buffer.concat([whole, whole]))?.end).toBe(whole.length);
    expect(readZstdFrame(frame)?.end).toBe(frame.length);
  });

  test('is not there when a byte is missing', () => {
    for (let length = 0; length < frame.length; length++) {
      expect(readZstdFrame(frame.subarray(0, length))).toBeUndefined();
    }
    expect(readZstdFrame(Buffer.from('this is not compressed at all'))).toBeUndefined();
  });
});

describe('a zstd body', () => {
  const frameOf = (...blocks: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), ...blocks]);
  /** A block of a run of one byte. */
  const run = (bytes: number, isLast: boolean): Buffer => {
    const header = (bytes << 3) | 2 | (isLast ? 1 : 0);
    return Buffer.from([header & 0xff, (header >> 8) & 0xff, header >> 16, 0x61]);
  };

  test('of unknown size is what its blocks make', () => {
    expect(decodeBody(frameOf(run(100_000, false), run(5, true)), 'zstd', 100_005)).toEqual(
      Buffer.alloc(100_005, 'a'),
    );
    expect(decodeBody(frameOf(run(0, true)), 'zstd', 1 << 20)).toEqual(Buffer.alloc(0));
  });

  test('of many sizes comes back, at each level', () => {
    const random = seededRandom(7);
    for (const size of [0, 1, 255, 256, 65_791, 65_792, 131_072, 131_073, 1_000_000]) {
      const content = Buffer.from(Array.from({ length: size }, () => random.integer(97, 101)));
      for (const level of [1, 3, 19]) {
        const body = compress(content, level);
        expect(decodeBody(body, 'zstd', size).equals(content)).toBe(true);
        if (size > 0) expect(caughtCode(() => decodeBody(body, 'zstd', size - 1))).toBe('body_too_large');
      }
    }
  });

  test('whose runs expand beyond the bound is refused before memory is taken', () => {
    const runs = Array.from({ length: 8192 }, (_, index) => run(128 * 1024, index === 8191));
    const bomb = frameOf(...runs);
    const before = process.memoryUsage.rss();
    for (let round = 0; round < 16; round++) {
      expect(caughtCode(() => decodeBody(bomb, 'zstd', 64 << 20))).toBe('body_too_large');
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
  });

  test('that declares more than its blocks can hold is refused', () => {
    // A frame header with a content size of eight bytes.
    const declaring = (size: number) => {
      const header = Buffer.from('28b52ffde00000000000000000', 'hex');
      header.writeUIntLE(size, 5, 6);
      return Buffer.concat([header, run(100, true)]);
    };
    expect(decodeBody(declaring(100), 'zstd', 100)).toEqual(Buffer.alloc(100, 'a'));
    const lying = caughtError(() => decodeBody(declaring(101), 'zstd', 1 << 20));
    expect(lying).toMatchObject({
      code: 'bad_encoding',
      message: expect.stringContaining('declares 101 bytes, and its blocks hold 100'),
    });
    expect(caughtCode(() => decodeBody(declaring(2 ** 40), 'zstd', 1 << 20))).toBe('body_too_large');
  });

  test('with a bit turned anywhere is refused, or some other body within the bound', () => {
    const content = Buffer.concat([text, Buffer.from('another end')]);
    const good = compress(content, 3);
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] as number) ^ (1 << (at % 8));
      try {
        expect(decodeBody(bad, 'zstd', 1 << 20).length).toBeLessThanOrEqual(1 << 20);
      } catch (error) {
        expect(['bad_encoding', 'body_too_large']).toContain((error as { code?: unknown }).code);
      }
    }
  });
});

test("snappy's framing format is refused, saying which one is meant, whatever its length", () => {
  const start = Buffer.from([0xff, 0x06, 0x00, 0x00, ...Buffer.from('sNaPpY')]);
  const uncompressedChunk = (data: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0x01, data.length + 4, 0, 0, 1, 2, 3, 4]), data]);
  for (const framed of [start, Buffer.concat([start, uncompressedChunk(text.subarray(0, 200))])]) {
    expect(caughtError(() => decodeBody(framed, 'snappy', 1 << 20))).toMatchObject({
      code: 'bad_encoding',
      message: expect.stringContaining('block format'),
    });
  }
});

describe('a snappy block that declares more than it holds', () => {
  /** The length as a varint, then six bytes. */
  const declaring = (length: number): Buffer => {
    const varint: number[] = [];
    let rest = length;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) varint.push((rest % 0x80) + 0x80);
    return Buffer.from([...varint, rest, 0, 97, 0, 97, 0, 97]);
  };

  test('is refused by the bound, before memory is taken', () => {
    const before = process.memoryUsage.rss();
    for (let round = 0; round < 16; round++) {
      expect(caughtCode(() => decodeBody(declaring(2 ** 32 - 1), 'snappy', 64 << 20))).toBe('body_too_large');
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
  });

  test('is refused within the bound if its bytes cannot expand to that', () => {
    const error = caughtError(() => decodeBody(declaring(60 << 20), 'snappy', 64 << 20));
    expect(error.code).toBe('bad_encoding');
    expect(error.message).toContain('cannot hold');
  });

  test('is refused if the length has more than 32 bits', () => {
    expect(caughtCode(() => decodeBody(declaring(2 ** 34), 'snappy', 64 << 20))).toBe('bad_encoding');
  });

  test('the densest block there is passes', () => {
    const zeros = Buffer.alloc(1 << 20);
    expect(decodeBody(compressSync(zeros), 'snappy', zeros.length).equals(zeros)).toBe(true);
  });
});

import fc from 'fast-check';
import { compressSync, uncompressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import { declaredSnappyLength } from '../../../../src/decode/wire/decompression.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { sampleRows } from '../../../support/clickhouse/sample-rows.ts';
import { mutated, mutation } from '../../../support/decode/mutations.ts';
import { varint, varintField } from '../../../support/decode/wire.ts';
import { compareMutations, compareTails } from '../../../support/remote-write/damaged-messages.ts';
import {
  bitsField,
  compiled,
  dayMs,
  kernel,
  label,
  noonMs,
  one,
  Pair,
  pointField,
  runs,
  sample,
  series,
  seriesRows,
  staleMarker,
  up,
} from '../../../support/remote-write/kernel-pair.ts';
import {
  buildWriteRequest,
  encodeWriteRequest,
} from '../../../support/remote-write/remote-write-requests.ts';

// Messages --------------------------------------------------------------------------------------------------

const bits = fc.oneof(
  fc.constantFrom(0n, one, staleMarker, 0x7ff8000000000001n, 0xfff0000000000000n, 1n << 63n),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);
const timestamp = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: noonMs, max: noonMs + 1000 }) },
  fc.integer({ min: noonMs - 2 * dayMs, max: noonMs + 2 * dayMs }),
  fc.constantFrom(0, 1, limits.maxSampleTimestampMs, limits.maxSampleTimestampMs + 1, -1, 2 ** 60),
);
/** As senders write them, which is without a value of zero, and in all other ways. */
const sampleField = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(bits, timestamp)
      .map(([value, ms]) =>
        pointField(2, value === 0n ? Buffer.alloc(0) : bitsField(1, value), varintField(2, ms)),
      ),
  },
  fc.tuple(bits, timestamp).map(([value, ms]) => pointField(2, varintField(2, ms), bitsField(1, value))),
  bits.map((value) => pointField(2, bitsField(1, value))),
  timestamp.map((ms) => pointField(2, varintField(2, ms), varintField(2, ms))),
  timestamp.map((ms) => pointField(2, varintField(3, 7), varintField(2, ms))),
  fc.constant(pointField(2)),
);
const labelField = fc
  .tuple(
    fc.constantFrom('a', 'b', 'job', '__name__', 'größe', ''),
    fc.constantFrom('', 'x', 'y', 'ö', 'v'.repeat(130)),
  )
  .map(([name, value]) => label(name, value));
const otherField = fc.oneof(
  fc.constant(pointField(3, bitsField(2, one))),
  fc.constant(pointField(4, varintField(1, 5))),
  fc.constant(varintField(9, 300)),
  fc.constant(Buffer.from([0x7b, 0x08, 0x01, 0x7c])),
);
const labelRun = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(up, [...up, label('z', '1')], [label('__name__', 'down')]) },
  fc.array(labelField, { maxLength: 4 }).map((fields) => [label('__name__', 'up'), ...fields]),
  fc.array(labelField, { maxLength: 4 }),
);
const seriesField = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(labelRun, fc.array(sampleField, { maxLength: 3 }))
      .map(([labels, samples]) => series(...labels, ...samples)),
  },
  // Any order, and anything between.
  fc
    .tuple(labelRun, fc.array(fc.oneof(sampleField, otherField), { maxLength: 4 }))
    .chain(([labels, fields]) =>
      fc
        .shuffledSubarray([...labels, ...fields], { minLength: labels.length + fields.length })
        .map((shuffled) => series(...shuffled)),
    ),
);
const message = fc
  .array(fc.oneof({ weight: 6, arbitrary: seriesField }, otherField), { maxLength: 8 })
  .map((fields) => Buffer.concat(fields));

const known = Buffer.concat([
  series(...up, sample(one, noonMs)),
  series(...up, label('z', '1'), sample(one, noonMs)),
  series(label('__name__', 'down'), sample(one, noonMs), sample(staleMarker, noonMs + 1)),
]);

// Tests -----------------------------------------------------------------------------------------------------

describe('the decoder with the kernel says what the one without says', () => {
  test('of any messages, one after another, whether their records became durable or not', () => {
    const step = fc.record({ message, commits: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const pair = new Pair();
        for (const { message, commits } of steps) {
          const result = pair.decode(message);
          if (commits && result.ok) pair.commit();
        }
      }),
      runs(1500),
    );
  });

  test('of messages cut, overwritten and lengthened anywhere', () => {
    const pair = new Pair();
    pair.learn(known);
    compareMutations(pair, known, 6000);
  });

  test('of any bytes behind a message, and of one cut off at each of its bytes', () => {
    const pair = new Pair();
    pair.learn(known);
    compareTails(pair, known, 3000);
  });

  test('of labels and series so long that their lengths take one, two, three and four bytes', () => {
    const pair = new Pair();
    const sizes = [1, 100, 127, 128, 129, 300, 16_370, 16_383, 16_384, 17_000, 65_536];
    const messages = [
      ...sizes.map((size) => series(...up, label('v', 'v'.repeat(size)), sample(one, noonMs))),
      series(
        ...up,
        ...Array.from({ length: 40 }, (_, n) => label(`l${n}`, 'v'.repeat(60_000))),
        sample(one, noonMs),
      ),
    ];
    for (const one of messages) pair.learn(one);
    pair.decode(Buffer.concat(messages));
  });

  test('of a request with more samples than the kernel has room for', () => {
    const pair = new Pair();
    pair.learn(known);
    const samples = Array.from({ length: 50_000 }, (_, index) => sample(BigInt(index), noonMs + index));
    const message = Buffer.concat(Array.from({ length: 6 }, () => series(...up, Buffer.concat(samples))));
    expect(pair.decode(message)).toMatchObject({ counts: { samples: 300_000 } });
    expect(kernel.samples).toBe(250_000);
  });

  test('of a message too large for the kernel', () => {
    const pair = new Pair();
    const filler = label('v', 'v'.repeat(60_000));
    const large = Buffer.concat(
      Array.from({ length: 150 }, () => series(...up, filler, sample(one, noonMs))),
    );
    expect(large.length).toBeGreaterThan(8 * 1024 * 1024);
    expect(pair.decode(large)).toMatchObject({ counts: { samples: 150 } });
  });
});

describe('the kernel takes', () => {
  test('samples of known series, with every bit of their values', () => {
    const pair = new Pair();
    pair.learn(known);
    const values = [one, staleMarker, 0x7ff8000000000001n, 1n << 63n, (1n << 64n) - 1n];
    const message = series(...up, ...values.map((value, index) => sample(value, noonMs + index)));
    expect(pair.taken(message)).toBe(values.length);
    const result = pair.decode(message);
    expect(sampleRows(result).map((row) => BigInt(row.split(' ').at(-1) ?? ''))).toEqual(
      expect.arrayContaining(values),
    );
  });

  test('a value of zero, which senders leave out', () => {
    const pair = new Pair();
    pair.learn(known);
    expect(pair.taken(series(...up, pointField(2, varintField(2, noonMs))))).toBe(1);
  });

  test('samples of a series that it has met only once its row is known to be durable', () => {
    const pair = new Pair();
    expect(pair.taken(known)).toBe(4);
    expect(pair.taken(known)).toBe(0);
    pair.commit();
    expect(pair.taken(known)).toBe(4);
    expect(seriesRows(pair.decode(known))).toEqual([]);
  });

  test('samples of another day than that of the row with a row for that day', () => {
    const dayStart = noonMs - (noonMs % dayMs);
    const at = (timestampMs: number): readonly [taken: number, rows: number] => {
      const pair = new Pair();
      pair.learn(known);
      const result = pair.decode(series(...up, sample(one, timestampMs)));
      return [kernel.samples, seriesRows(result).length];
    };
    const times = [dayStart - 1, dayStart, dayStart + dayMs - 1, dayStart + dayMs];
    expect(times.map(at)).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [1, 1],
    ]);
  });

  test('nothing of another day if the labels are odd, or if there are two of them', () => {
    const pair = new Pair();
    const odd = [label('__name__', 'up'), label('ä', 'x')];
    pair.learn(Buffer.concat([known, series(...odd, sample(one, noonMs))]));
    expect(pair.taken(series(...odd, sample(one, noonMs + dayMs)))).toBe(0);
    expect(pair.taken(series(...up, sample(one, noonMs), sample(one, noonMs + dayMs)))).toBe(0);
  });

  test('does not take the row of another day for stored before its request is', () => {
    const pair = new Pair();
    pair.learn(known);
    const next = series(...up, sample(one, noonMs + dayMs));
    expect(seriesRows(pair.decode(next))).toHaveLength(1);
    expect(seriesRows(pair.decode(next))).toHaveLength(1);
    pair.commit();
    expect(seriesRows(pair.decode(next))).toHaveLength(0);
    expect(kernel.samples).toBe(1);
  });

  test('nothing behind the last timestamp allowed, though its day is known', () => {
    const pair = new Pair();
    pair.learn(series(...up, sample(one, limits.maxSampleTimestampMs)));
    const at = (timestampMs: number): number => pair.taken(series(...up, sample(one, timestampMs)));
    expect(at(limits.maxSampleTimestampMs)).toBe(1);
    expect(at(limits.maxSampleTimestampMs + 1)).toBe(0);
  });

  test('known series that follow and precede others', () => {
    const pair = new Pair();
    pair.learn(known);
    const point = pointField(3, bitsField(2, one), varintField(3, noonMs));
    const exemplar = series(...up, sample(one, noonMs), point);
    const mixed = Buffer.concat([known, varintField(9, 1), known, exemplar, known]);
    expect(pair.decode(mixed)).toMatchObject({ counts: { samples: 13 } });
    expect(kernel.samples).toBe(12);
  });

  test('the series of one dataset and not the same series of another', () => {
    const pair = new Pair();
    pair.learn(known);
    expect(seriesRows(pair.decode(known))).toHaveLength(0);
    expect(seriesRows(new Pair().decode(known))).toHaveLength(3);
  });

  test('series that were met before the table grew', () => {
    const pair = new Pair();
    const many = encodeWriteRequest(
      Array.from({ length: 5000 }, (_, index) => ({
        labels: { __name__: 'many', index: String(index) },
        samples: [{ value: index, timestampMs: noonMs }],
      })),
    );
    pair.learn(many);
    expect(pair.taken(many)).toBe(5000);
  });
});

describe('snappy in the kernel', () => {
  interface Unsnappy {
    readonly memory: { readonly buffer: ArrayBuffer };
    readonly bodyAddress: { readonly value: number };
    readonly messageAddress: { readonly value: number };
    unsnappy(bodyLength: number, declaredLength: number): number;
  }
  const { memory, bodyAddress, messageAddress, unsnappy } = new WebAssembly.Instance(compiled)
    .exports as Unsnappy;
  const bytes = Buffer.from(memory.buffer);

  const inKernel = (body: Buffer): Buffer => {
    const declared = declaredSnappyLength(body, 100_000);
    bytes.set(body, bodyAddress.value);
    // What is left of an earlier body must not matter.
    bytes.fill(0xa5, bodyAddress.value + body.length, bodyAddress.value + body.length + 64);
    if (unsnappy(body.length, declared) !== 1) throw new Error('refused');
    return bytes.subarray(messageAddress.value, messageAddress.value + declared);
  };
  const inLibrary = (body: Buffer): Buffer => {
    declaredSnappyLength(body, 100_000);
    return uncompressSync(body, { asBuffer: true }) as Buffer;
  };
  /** What both make of a body; undefined when they refuse it. */
  const both = (body: Buffer): (Buffer | undefined)[] =>
    [inKernel, inLibrary].map((decompress) => {
      try {
        return Buffer.from(decompress(body));
      } catch {
        return undefined;
      }
    });

  /** Repetitions from near and far, which a compressor turns into copies of all kinds. */
  const text = fc
    .array(
      fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 80 }),
        fc
          .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat({ max: 300 }))
          .map(([part, times]) => Buffer.concat(Array.from({ length: times }, () => part))),
      ),
      { maxLength: 12 },
    )
    .map((parts) => Buffer.concat(parts));

  test('reads what the library compresses', () => {
    fc.assert(
      fc.property(text, (original) => {
        const [actual, expected] = both(compressSync(original));
        expect(expected).toEqual(original);
        expect(actual).toEqual(original);
      }),
      runs(400),
    );
  });

  test('accepts and refuses the blocks that the library accepts and refuses', () => {
    let tried = 0;
    let accepted = 0;
    fc.assert(
      fc.property(text, fc.array(mutation, { minLength: 1, maxLength: 3 }), (original, mutations) => {
        tried++;
        const body = mutated(compressSync(original), mutations);
        const [actual, expected] = both(body);
        expect(actual).toEqual(expected);
        if (expected !== undefined) accepted++;
      }),
      // All of them, however slow the machine is: of few, it is chance how many are accepted.
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(tried / 150);
  });

  test('reads literals with lengths of one to four bytes, and copies with offsets of one, two and four', () => {
    const literal = (lengthBytes: number, content: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(content.length - 1);
      return Buffer.concat([
        Buffer.from([(59 + lengthBytes) << 2]),
        length.subarray(0, lengthBytes),
        content,
      ]);
    };
    const content = Buffer.from('0123456789abcdefghijklmnopqrstuv');
    const copies = Buffer.from([0x01 | (3 << 2), 9, 0x02 | (40 << 2), 20, 0, 0x03 | (63 << 2), 1, 0, 0, 0]);
    for (const lengthBytes of [1, 2, 3, 4]) {
      const elements = Buffer.concat([literal(lengthBytes, content), copies]);
      const [actual, expected] = both(Buffer.concat([varint(32 + 7 + 41 + 64), elements]));
      expect(expected).toBeDefined();
      expect(actual).toEqual(expected);
    }
  });
});

test('a body that is not snappy is refused with the reason', () => {
  const body = buildWriteRequest([
    { labels: { __name__: 'up' }, samples: [{ value: 1, timestampMs: noonMs }] },
  ]);
  const result = new Pair().decodeBody(body.subarray(0, body.length - 1));
  expect(result).toMatchObject({ ok: false, code: 'bad_encoding' });
});

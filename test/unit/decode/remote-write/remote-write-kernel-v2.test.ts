import fc from 'fast-check';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import { Decoder } from '../../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../../src/decode/outcomes.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { sampleRows } from '../../../support/clickhouse/sample-rows.ts';
import { bytesField, packed, varint, varintField } from '../../../support/decode/wire.ts';
import { compareMutations, compareTails } from '../../../support/remote-write/damaged-messages.ts';
import {
  bitsField,
  dayMs,
  hashes,
  kernel,
  label,
  newDataset,
  noonMs,
  one,
  Pair,
  pointField,
  runs,
  sample,
  seriesRows,
  series as seriesV1,
  tableRows,
  taskOf,
} from '../../../support/remote-write/kernel-pair.ts';

// Messages --------------------------------------------------------------------------------------------------

const words = ['', '__name__', 'up', 'job', 'x', 'down', 'z', 'help', 'seconds', 'ä', 'v'.repeat(130)];
const symbol = (text: string): Buffer => bytesField(4, Buffer.from(text));
const symbols = (list: readonly string[] = words): Buffer => Buffer.concat(list.map(symbol));
const refs = (...texts: readonly string[]): number[] => texts.map((text) => words.indexOf(text));
const labels = (...numbers: readonly number[]): Buffer => packed(1, numbers.map(varint));
const series = (...fields: readonly Buffer[]): Buffer => bytesField(5, Buffer.concat(fields));
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat([symbols(), ...fields]);
const metadata = (type: number, help: string, unit = ''): Buffer =>
  pointField(
    5,
    ...(type === 0 ? [] : [varintField(1, type)]),
    ...(help === '' ? [] : [varintField(3, words.indexOf(help))]),
    ...(unit === '' ? [] : [varintField(4, words.indexOf(unit))]),
  );

const up = labels(...refs('__name__', 'up', 'job', 'x'));
const down = labels(...refs('__name__', 'down'));
const point = sample(one, noonMs);
const known = message(
  series(up, point, metadata(1, 'help', 'seconds')),
  series(labels(...refs('__name__', 'up', 'z', 'x')), sample(one, noonMs), pointField(5)),
  series(down, point, sample(0n, noonMs + 1)),
);

/** As senders write them, and in all other ways. */
const refField = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(up, down, labels(...refs('__name__', 'up', 'z', 'x'))) },
  fc
    .array(fc.nat({ max: words.length }), { maxLength: 6 })
    .map((list) => labels(...refs('__name__', 'up'), ...list)),
  fc.array(fc.nat({ max: 200 }), { maxLength: 5 }).map((list) => labels(...list)),
  fc.constant(Buffer.concat(refs('__name__', 'up').map((ref) => varintField(1, ref)))),
  // The same numbers in more bytes.
  fc.constant(bytesField(1, Buffer.from([0x81, 0, 0x82, 0x80, 0, 3, 4]))),
);
const timestamp = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: noonMs, max: noonMs + 1000 }) },
  fc.integer({ min: noonMs - 2 * dayMs, max: noonMs + 2 * dayMs }),
  fc.constantFrom(0, limits.maxSampleTimestampMs + 1, -1),
);
const metadataField = fc
  .tuple(
    fc.constantFrom(0, 1, 2, 9, 200),
    fc.constantFrom('', 'help', 'x', 'ä'),
    fc.constantFrom('', 'seconds', 'none'),
  )
  .map(([type, help, unit]) => metadata(type, help, unit));
const otherField = fc.oneof(
  metadataField,
  fc.constantFrom(pointField(5, varintField(3, 300)), pointField(5, varintField(4, 1), varintField(1, 1))),
  fc.constant(varintField(6, noonMs)),
  timestamp.map((ms) => pointField(2, varintField(2, noonMs), varintField(3, ms))),
  fc.constant(pointField(4, packed(1, [1, 2].map(varint)), bitsField(2, one), varintField(3, noonMs))),
  fc.constant(pointField(3, varintField(1, 0), varintField(15, noonMs))),
);
const seriesField = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(refField, fc.array(timestamp, { maxLength: 3 }), fc.option(metadataField))
      .map(([labels, times, meta]) =>
        series(labels, ...times.map((ms) => sample(one, ms)), ...(meta === null ? [] : [meta])),
      ),
  },
  fc
    .tuple(
      refField,
      refField,
      fc.array(
        fc.oneof(
          timestamp.map((ms) => sample(one, ms)),
          otherField,
        ),
        { maxLength: 4 },
      ),
    )
    .chain(([first, second, fields]) =>
      fc.shuffledSubarray([first, second, ...fields], { minLength: 1 }).map((some) => series(...some)),
    ),
);
const anyMessage = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(symbols()) },
      fc.constantFrom(Buffer.alloc(0), symbols(words.slice(1)), symbols(words.slice(0, 4))),
    ),
    fc.array(
      fc.oneof(
        { weight: 8, arbitrary: seriesField },
        fc.constantFrom(symbol('late'), symbol('x'), varintField(9, 300)),
      ),
      { maxLength: 8 },
    ),
  )
  .map(([first, fields]) => Buffer.concat([first, ...fields]));

// Tests -----------------------------------------------------------------------------------------------------

describe('of version 2.0, the decoder with the kernel says what the one without says', () => {
  test('of any messages, one after another, whether their records became durable or not', () => {
    const step = fc.record({ message: anyMessage, commits: fc.boolean(), days: fc.nat({ max: 1 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const pair = new Pair(2);
        for (const { message, commits, days } of steps) {
          pair.receivedMicros += days * dayMs * 1000;
          const result = pair.decode(message);
          if (commits && result.ok) pair.commit();
        }
      }),
      runs(600),
    );
  });

  test('of messages cut, overwritten and lengthened anywhere', () => {
    const pair = new Pair(2);
    pair.learn(known);
    compareMutations(pair, known, 4000);
  });

  test('of any bytes behind a message, and of one cut off at each of its bytes', () => {
    const pair = new Pair(2);
    pair.learn(known);
    compareTails(pair, known, 500);
  });

  test('of symbols so long that their lengths take one, two, three and four bytes', () => {
    const pair = new Pair(2);
    const sizes = [1, 127, 128, 129, 16_383, 16_384, 65_536, 65_537, 2_097_151, 2_097_152];
    for (const size of sizes) {
      const long = Buffer.concat([
        symbols(['', '__name__', 'up', 'v', 'v'.repeat(size)]),
        series(labels(1, 2, 3, 4), point),
        series(labels(1, 2, 4, 3), point),
      ]);
      pair.decode(long);
      pair.commit();
      pair.decode(long);
    }
  });

  test('of more labels, and of references with more bytes, than the kernel has room for', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `l${String(index).padStart(5, '0')}`);
    const table = symbols(['', '__name__', 'up', ...names]);
    const wide = (count: number): Buffer =>
      series(labels(1, 2, ...Array.from({ length: count }, (_, index) => [19_000 + index, 2]).flat()), point);
    const pair = new Pair(2);
    for (const count of [0, 64, 65, 255, 256, 300]) {
      pair.decode(Buffer.concat([table, wide(count)]));
      pair.commit();
      pair.decode(Buffer.concat([table, wide(count)]));
    }
  });

  test('of more symbols than the kernel has room for', () => {
    const pair = new Pair(2);
    const table = symbols(['', '__name__', ...Array.from({ length: 131_071 }, (_, index) => `m${index}`)]);
    const last = Buffer.concat([table, series(labels(1, 131_072), point)]);
    expect(pair.decode(last)).toMatchObject({ ok: true, counts: { samples: 1 } });
  });
});

describe('of version 2.0, the kernel takes', () => {
  test('samples of known series, whatever the numbers of their symbols are', () => {
    const pair = new Pair(2);
    pair.learn(known);
    expect(pair.taken(known)).toBe(4);
    const other = Buffer.concat([
      symbols(['', 'job', 'seconds', 'x', 'up', 'help', '__name__']),
      series(
        labels(6, 4, 1, 3),
        point,
        pointField(5, varintField(1, 1), varintField(3, 5), varintField(4, 2)),
      ),
    ]);
    expect(pair.taken(other)).toBe(1);
    expect(seriesRows(pair.decode(other))).toEqual([]);
  });

  test('new series, with the ids that their labels have in version 1.0', () => {
    const pair = new Pair(2);
    const message2 = message(series(up, point), series(down, point));
    expect(pair.taken(message2)).toBe(2);
    const message1 = Buffer.concat([
      seriesV1(label('__name__', 'up'), label('job', 'x'), point),
      seriesV1(label('__name__', 'down'), point),
    ]);
    const [first, second] = [new Pair(1).decode(message1), new Pair(2).decode(message2)];
    expect(sampleRows(second)).toEqual(sampleRows(first));
    expect(seriesRows(second)).toEqual(seriesRows(first));
  });

  test('metadata once its row is in the request, or known to be durable', () => {
    const described = metadata(1, 'help', 'seconds');
    const other = labels(...refs('__name__', 'up', 'z', 'x'));
    const request = message(series(up, point, described), series(other, point, described));
    const pair = new Pair(2);
    // The first is for the decoder, which writes the row.
    expect(pair.taken(request)).toBe(1);
    expect(pair.decode(request)).toMatchObject({ counts: { samples: 2, metadata: 2 } });
    pair.commit();
    expect(pair.taken(request)).toBe(2);
    const result = pair.decode(request);
    expect(result).toMatchObject({ counts: { samples: 2, metadata: 2 } });
    expect(tableRows(result, 'metadata')).toEqual([]);
    // On the next day it gets another row.
    pair.receivedMicros += dayMs * 1000;
    expect(pair.taken(request)).toBe(1);
    expect(tableRows(pair.decode(request), 'metadata')).toHaveLength(1);
  });

  test.each([
    ['an empty one', pointField(5)],
    ['one that says nothing', pointField(5, varintField(1, 0), varintField(3, 0), varintField(4, 0))],
    ['none', Buffer.alloc(0)],
  ])('metadata that is no description: %s', (_, field) => {
    const pair = new Pair(2);
    expect(pair.taken(message(series(up, point, field)))).toBe(1);
    expect(pair.decode(known)).toMatchObject({ counts: { metadata: 1 } });
  });

  const described = metadata(1, 'help');
  test.each([
    ['a start timestamp', [up, pointField(2, varintField(2, noonMs), varintField(3, 5))]],
    ['an exemplar', [up, point, pointField(4, bitsField(2, one), varintField(3, noonMs))]],
    ['another type', [up, point, metadata(2, 'help')]],
    ['another help', [up, point, metadata(1, 'x')]],
    ['another unit', [up, point, metadata(1, 'help', 'seconds')]],
    ['the description of another metric', [down, point, described]],
    ['a description twice', [up, point, described, described]],
    [
      'a help beyond the symbols',
      [up, point, pointField(5, varintField(1, 1), varintField(3, words.length))],
    ],
    [
      'a unit beyond the symbols',
      [up, point, pointField(5, varintField(1, 1), varintField(4, words.length))],
    ],
    ['a description in another order', [up, point, pointField(5, varintField(3, 7), varintField(1, 1))]],
    ['a description before the samples', [up, described, point]],
    ['no sample', [up, described]],
    ['a field behind the description', [up, point, described, varintField(6, noonMs)]],
    [
      'references one by one',
      [Buffer.concat(refs('__name__', 'up').map((ref) => varintField(1, ref))), point],
    ],
    ['references in two parts', [labels(1, 2), labels(3, 4), point]],
    ['a reference without another', [labels(1, 2, 3), point]],
    ['a reference beyond the symbols', [labels(1, 2, 3, words.length), point]],
    ['no labels', [labels(), point]],
    ['labels that do not ascend', [labels(...refs('job', 'x', '__name__', 'up')), point]],
    ['a label twice', [labels(...refs('__name__', 'up', 'job', 'x', 'job', 'x')), point]],
    ['an empty name', [labels(...refs('__name__', 'up'), 0, 4), point]],
    ['an empty value', [labels(...refs('__name__', 'up'), 3, 0), point]],
    ['no metric name', [labels(...refs('job', 'x')), point]],
    ['a value beyond ASCII', [labels(...refs('__name__', 'up', 'job', 'ä')), point]],
    ['a metric name that is too long', [labels(1, 10), point]],
  ])('nothing with %s', (_, fields) => {
    const pair = new Pair(2);
    pair.learn(message(series(up, point, described)));
    expect(pair.taken(message(series(...fields)))).toBe(0);
  });

  test('nothing that names symbols which only the request before had', () => {
    const pair = new Pair(2);
    const [whole, help] = [metadata(1, 'help', 'seconds'), metadata(1, 'help')];
    pair.learn(message(series(up, point, whole), series(up, point, help)));
    expect(pair.taken(message(series(up, point, whole), series(up, point, help)))).toBe(2);
    // What is behind these is still in the kernel's memory.
    for (const [last, taken] of [
      ['help', 1],
      ['z', 1],
      ['job', 0],
    ] as const) {
      const table = symbols(words.slice(0, words.indexOf(last) + 1));
      expect(pair.taken(Buffer.concat([table, series(up, point, whole)])), last).toBe(0);
      expect(pair.taken(Buffer.concat([table, series(up, point, help)])), last).toBe(last === 'help' ? 1 : 0);
      expect(pair.taken(Buffer.concat([table, series(up, point)])), last).toBe(taken);
    }
  });

  test.each([
    ['references', [bytesField(1, Buffer.from([1, 2, 3, 0x84])), Buffer.from([0]), point]],
    ['a description', [up, point, bytesField(5, Buffer.from([8, 1, 0x18, 7, 0xff]))]],
    ['a help', [up, point, bytesField(5, Buffer.from([8, 1, 0x18, 0x87]))]],
  ])('nothing with %s that are cut off', (_, fields) => {
    const pair = new Pair(2);
    pair.learn(message(series(up, point, metadata(1, 'help'))));
    const cut = message(series(...fields));
    expect(pair.decode(cut)).toMatchObject({ ok: false, code: 'bad_protobuf' });
    expect(kernel.samples).toBe(0);
  });

  test('no new series of symbols whose lengths have more bytes than they need', () => {
    const padded = (text: string): Buffer =>
      Buffer.concat([Buffer.from([0x22, 0x80 | text.length, 0]), Buffer.from(text)]);
    const first = symbols(['', '__name__', 'up']);
    for (const [name, value] of [
      [padded('job'), symbol('x')],
      [symbol('job'), padded('x')],
    ] as const) {
      const odd = Buffer.concat([first, name, value, series(labels(1, 2, 3, 4), point)]);
      expect(new Pair(2).taken(odd)).toBe(0);
    }
  });

  test('nothing if the first symbol is not empty', () => {
    const pair = new Pair(2);
    pair.learn(known);
    const odd = Buffer.concat([symbols(['x', '__name__', 'up']), series(labels(1, 2), point)]);
    expect(pair.decode(odd)).toMatchObject({ ok: false, code: 'bad_protobuf' });
    expect(kernel.samples).toBe(0);
  });

  test('series with symbols that stand in the wrong place, once the decoder has found them', () => {
    const pair = new Pair(2);
    pair.learn(known);
    const two = series(up, point);
    expect(pair.taken(Buffer.concat([two, symbols()]))).toBe(1);
    expect(pair.taken(Buffer.concat([varintField(9, 1), symbols(), two]))).toBe(1);
    const late = series(labels(...refs('__name__', 'up', 'job'), words.length), point);
    expect(pair.taken(message(two, late, late, symbol('late')))).toBe(1);
  });

  test('series around those that it leaves, and counts what is refused', () => {
    const pair = new Pair(2);
    pair.learn(known);
    const bad = series(labels(1, 2, 3), point, point);
    const result = pair.decode(
      message(series(up, point), bad, series(down, point), symbol('late'), series(down, point)),
    );
    expect(kernel.samples).toBe(3);
    expect(result).toMatchObject({
      ok: true,
      counts: { samples: 3 },
      refused: { counts: { samples: 2, problems: 1 } },
    });
  });

  test('labels of rows up to a bound, though one symbol is named again and again', () => {
    const text = 'v'.repeat(16_000);
    const names = Array.from({ length: 600 }, (_, n) => `n${n}`);
    const table = symbols(['', '__name__', 'up', 'a', text, 'b', ...names]);
    const many = names.map((_, n) => series(labels(1, 2, 3, 4, 5, 6 + n), point));
    const message = Buffer.concat([table, ...many]);
    const decoder = new Decoder(new DecodeOutcomes(), hashes, kernel);
    const result = decoder.decode(taskOf(newDataset(), 1, compressSync(message), 2));
    expect(result).toMatchObject({ ok: true, counts: { samples: 600 } });
    expect(kernel.samples).toBe(Math.floor(8_388_608 / (16_000 + 2 + 4)));
    const small = new Pair(2);
    small.maxInflatedBytes = 100_000;
    expect(small.decode(message)).toMatchObject({ ok: false, code: 'body_too_large' });
    expect(kernel.samples).toBe(6);
  });
});

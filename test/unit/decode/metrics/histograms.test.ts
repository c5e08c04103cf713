import { describe, expect, test } from 'vitest';
import { MemoryBudget } from '../../../../src/decode/memory-budget.ts';
import { HistogramColumns } from '../../../../src/decode/metrics/histogram-columns.ts';
import { HistogramMessage } from '../../../../src/decode/metrics/histogram-message.ts';
import { ProtobufReader } from '../../../../src/decode/wire/protobuf-reader.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { decoded, refusal, rowsOf } from '../../../support/decode/decoded.ts';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import type { TestHistogram } from '../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const decode = (histogram: TestHistogram) =>
  new RemoteWriteDecoding().series(1, [
    { labels: { __name__: 'latency' }, histograms: [{ timestamp: noonMs, ...histogram }] },
  ]);
const stored = (histogram: TestHistogram) => rowsOf(decode(histogram), 'histograms')[0];
const span = (offset: number, length: number) => ({ offset, length });

describe('a native histogram is stored as sent:', () => {
  test('with counts that are fractions', () => {
    const row = stored({
      countFloat: 10.5,
      sum: -3,
      schema: 8,
      zeroThreshold: 0.5,
      zeroCountFloat: 0.25,
      negativeSpans: [span(-7, 1)],
      negativeCounts: [1.5],
      positiveSpans: [span(3, 2)],
      positiveCounts: [4, 4.75],
    });
    expect(row).toMatchObject({
      is_float: 1,
      count_int: '0',
      count_float: '10.5',
      zero_count_int: '0',
      zero_count_float: '0.25',
      negative_offsets: [-7],
      negative_counts: ['1.5'],
      positive_deltas: [],
      positive_counts: ['4', '4.75'],
    });
  });

  test('with custom buckets', () => {
    const row = stored({
      countInt: 6,
      schema: -53,
      positiveSpans: [span(0, 2), span(1, 1)],
      positiveDeltas: [1, 1, 1],
      customValues: [0.1, 0.5, 2.5],
    });
    expect(row).toMatchObject({
      schema: -53,
      positive_offsets: [0, 1],
      custom_values: ['0.1', '0.5', '2.5'],
    });
  });

  test('with counts beyond 2^53, exactly', () => {
    const count = '18446744073709551615';
    const row = stored({
      countInt: count,
      sum: Number.NaN,
      positiveSpans: [span(0, 1)],
      positiveDeltas: ['9007199254740993'],
    });
    expect(row).toMatchObject({ count_int: count, positive_deltas: ['9007199254740993'] });
  });

  test('without any observation', () => {
    expect(stored({})).toMatchObject({ is_float: 0, count_int: '0', schema: 0, positive_offsets: [] });
  });

  test('of all schemas', () => {
    for (let schema = -4; schema <= 8; schema++) expect(stored({ schema })).toMatchObject({ schema });
  });

  test('several of one series, each with its own buckets', () => {
    const result = new RemoteWriteDecoding().series(1, [
      {
        labels: { __name__: 'latency' },
        histograms: [1, 2, 3].map((buckets) => ({
          timestamp: noonMs + buckets,
          countInt: buckets,
          positiveSpans: [span(0, buckets)],
          positiveDeltas: [1, ...Array(buckets - 1).fill(0)],
        })),
      },
    ]);
    const lengths = rowsOf(result, 'histograms').map((row) => (row['positive_deltas'] as unknown[]).length);
    expect(lengths).toEqual([1, 2, 3]);
  });

  test('its start timestamp in version 2.0, and only there', () => {
    const histograms = [{ timestamp: noonMs, startTimestamp: noonMs - 5 }];
    const series = [{ labels: { __name__: 'latency' }, histograms }];
    const row = (version: 1 | 2) =>
      rowsOf(new RemoteWriteDecoding().series(version, series), 'histograms')[0];
    expect(row(2)).toMatchObject({ start_timestamp: String(noonMs - 5) });
    expect(row(1)).not.toHaveProperty('start_timestamp');
  });
});

describe('a histogram is refused', () => {
  const bucket = { positiveSpans: [span(0, 1)], positiveDeltas: [5] };
  const custom = { ...bucket, countInt: 5, schema: -53, customValues: [1, 2] };
  const many = limits.maxHistogramBuckets + 1;

  test.each<[string, TestHistogram, string]>([
    ['of an unknown schema', { schema: 9 }, 'its schema is 9'],
    ['of an unknown schema below', { schema: -5 }, 'its schema is -5'],
    ['with an unknown reset hint', { resetHint: 4 }, 'its reset hint is 4'],
    ['with fewer observations than in its buckets', { ...bucket, countInt: 4 }, 'less than the 5'],
    [
      'with fewer than in its buckets and around zero',
      { ...bucket, countInt: 6, zeroCountInt: 2 },
      'than the 7',
    ],
    [
      'with more observations than in its buckets',
      { ...bucket, countInt: 6, sum: 9 },
      'and its buckets hold 5',
    ],
    [
      'with more spans than buckets',
      { ...bucket, countInt: 9, positiveSpans: [span(0, 2)] },
      'cover 2 buckets',
    ],
    ['with more buckets than spans', { ...bucket, countInt: 9, positiveDeltas: [1, 1] }, 'and it has 2'],
    [
      'whose spans overlap',
      { countInt: 9, negativeSpans: [span(0, 1), span(-1, 1)], negativeDeltas: [1, 1] },
      'negative spans overlap',
    ],
    ['with a bucket below zero', { ...bucket, positiveDeltas: [-1] }, 'count below zero'],
    [
      'of floats with a bucket below zero',
      { countFloat: 9, positiveSpans: [span(0, 1)], positiveCounts: [-0.5] },
      'count below zero',
    ],
    ['with a float count below zero', { countFloat: -1 }, 'count below zero'],
    [
      'of floats with integer buckets',
      { ...bucket, countFloat: 9 },
      'a float count and integer positive buckets',
    ],
    [
      'of integers with float buckets',
      { countInt: 9, negativeSpans: [span(0, 1)], negativeCounts: [1] },
      'an integer count and float negative buckets',
    ],
    [
      'of integers with a float zero count',
      { countInt: 9, zeroCountFloat: 1 },
      'one is an integer and one a float',
    ],
    [
      'with a bucket index beyond 31 bits',
      { ...bucket, positiveSpans: [span(2 ** 31 - 1, 1)] },
      'beyond bucket',
    ],
    ['with custom bounds and an exponential schema', { customValues: [1] }, 'exponential schema 0'],
    ['with custom bounds that descend', { ...custom, customValues: [2, 1] }, 'ascending order'],
    ['with a custom bound twice', { ...custom, customValues: [1, 1] }, 'ascending order'],
    ['with an infinite custom bound', { ...custom, customValues: [1, Infinity] }, 'ascending order'],
    ['with a custom bound that is no number', { ...custom, customValues: [Number.NaN] }, 'ascending order'],
    [
      'with a bucket beyond the custom bounds',
      { ...custom, positiveSpans: [span(3, 1)] },
      '2 custom bounds make 3',
    ],
    ['with a bucket before the custom bounds', { ...custom, positiveSpans: [span(-1, 1)] }, 'from bucket -1'],
    [
      'with custom bounds and negative buckets',
      { ...custom, negativeSpans: [span(0, 0)] },
      'negative buckets',
    ],
    ['with custom bounds and a zero bucket', { ...custom, countInt: 9, zeroCountInt: 1 }, 'a zero bucket'],
    ['with custom bounds and a zero threshold', { ...custom, zeroThreshold: 1 }, 'a zero bucket'],
    [
      'with too many buckets',
      { countInt: many, positiveSpans: [span(0, many)], positiveDeltas: [1, ...Array(many - 1).fill(0)] },
      `at most ${limits.maxHistogramBuckets} are allowed`,
    ],
    [
      'with too many custom bounds',
      { schema: -53, customValues: Array.from({ length: many }, (_, index) => index) },
      `at most ${limits.maxHistogramBuckets} are allowed`,
    ],
  ])('%s', (_, histogram, message) => {
    const error = refusal(decode(histogram));
    expect(error).toMatchObject({ code: 'bad_series', message: expect.stringContaining(message) });
    expect(error.message).toContain('A histogram of the series {__name__="latency"} is refused: ');
  });

  test('but not for the rounding errors of floats', () => {
    const sum = 0.1 + 0.2;
    expect(sum).toBeGreaterThan(0.3);
    const floats = { countFloat: 0.3, positiveSpans: [span(0, 2)], positiveCounts: [0.1, 0.2] };
    expect(decoded(decode(floats)).counts.histograms).toBe(1);
  });

  test('with so many buckets that its rows would take more memory than they may', () => {
    const columns = new HistogramColumns(new MemoryBudget(1000));
    const { elements } = columns.arrays.positive.deltas;
    const empty = new HistogramMessage(new ProtobufReader(Buffer.alloc(0)), columns.arrays, false);
    for (let bucket = 0; bucket < 50; bucket++) elements.append(1, 0);
    columns.append(empty);
    for (let bucket = 0; bucket < 50; bucket++) elements.append(1, 0);
    expect(() => columns.append(empty)).toThrow('it ended at its histograms');
  });
});

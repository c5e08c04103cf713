/**
 * What Prometheus takes as a native histogram, and what it refuses: its rules (`Histogram.Validate` and
 * `FloatHistogram.Validate` in model/histogram of prometheus/prometheus), case by case, in either version.
 */
import { describe, expect, test } from 'vitest';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import type { TestHistogram } from '../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const samples = [{ value: 1, timestampMs: noonMs }];
const span = (offset: number, length: number) => ({ offset, length });
const twoByTwo = [span(0, 2), span(1, 2)];
/** Buckets with 1, 2, 1 and 1 observations. */
const fiveObservations = { positiveSpans: twoByTwo, positiveDeltas: [1, 1, -1, 0] };
const fiveFloats = { positiveSpans: twoByTwo, positiveCounts: [1, 2, 1, 1] };
const custom = { ...fiveObservations, countInt: 5, sum: 19.4, schema: -53 };
const customFloats = { ...fiveFloats, countFloat: 5, sum: 19.4, schema: -53 };
const emptyCustom = { schema: -53 };

/** [what, integer form, whether it is taken] */
const integers: readonly (readonly [string, TestHistogram, boolean])[] = [
  [
    'buckets on both sides and around zero',
    {
      ...fiveObservations,
      negativeSpans: twoByTwo,
      negativeDeltas: [1, 1, -1, 0],
      countInt: 12,
      zeroCountInt: 2,
      zeroThreshold: 0.001,
      sum: 19.4,
      schema: 1,
    },
    true,
  ],
  ['nothing at all', {}, true],
  [
    'more observations than in its buckets, and a sum that is no number',
    { zeroCountInt: 2, countInt: 4, sum: Number.NaN, positiveSpans: [span(0, 1)], positiveDeltas: [1] },
    true,
  ],
  [
    'more observations than in its buckets',
    { zeroCountInt: 2, countInt: 4, sum: 333, positiveSpans: [span(0, 1)], positiveDeltas: [1] },
    false,
  ],
  [
    'fewer observations than in its buckets, and a sum that is no number',
    { zeroCountInt: 2, countInt: 2, sum: Number.NaN, positiveSpans: [span(0, 1)], positiveDeltas: [1] },
    false,
  ],
  ['observations and no buckets', { countInt: 1, sum: 2 }, false],
  ['observations, no buckets, and a sum that is no number', { countInt: 1, sum: Number.NaN }, true],
  ['an infinite sum, and more observations than in its buckets', { countInt: 1, sum: Infinity }, false],
  ['too few negative buckets', { negativeSpans: [span(0, 1)] }, false],
  ['too few positive buckets', { positiveSpans: [span(0, 1)] }, false],
  ['too many negative buckets', { negativeSpans: [span(0, 1)], negativeDeltas: [1, 2], countInt: 4 }, false],
  ['too many positive buckets', { positiveSpans: [span(0, 1)], positiveDeltas: [1, 2], countInt: 4 }, false],
  ['buckets without spans', { positiveDeltas: [1], countInt: 1 }, false],
  [
    'a first span with a negative offset',
    { positiveSpans: [span(-3, 1)], positiveDeltas: [1], countInt: 1 },
    true,
  ],
  [
    'a second negative span with a negative offset',
    { negativeSpans: [span(-1, 1), span(-1, 1)], negativeDeltas: [1, 2], countInt: 4 },
    false,
  ],
  [
    'a second positive span with a negative offset',
    { positiveSpans: [span(-1, 1), span(-1, 1)], positiveDeltas: [1, 2], countInt: 4 },
    false,
  ],
  [
    'a negative bucket below zero',
    { negativeSpans: [span(-1, 2)], negativeDeltas: [-1, 2], countInt: 0 },
    false,
  ],
  [
    'a positive bucket below zero',
    { positiveSpans: [span(-1, 2)], positiveDeltas: [-1, 2], countInt: 0 },
    false,
  ],
  ['a zero bucket that its count leaves out', { ...fiveObservations, countInt: 5, zeroCountInt: 1 }, false],
  ['spans of no length', { positiveSpans: [span(0, 0), span(7, 0)] }, true],
  [
    'counts beyond 2^53 that add up',
    {
      positiveSpans: [span(0, 2)],
      positiveDeltas: ['9007199254740993', '0'],
      countInt: '18014398509481986',
    },
    true,
  ],
  [
    'counts beyond 2^53 that miss the total by one',
    {
      positiveSpans: [span(0, 2)],
      positiveDeltas: ['9007199254740993', '0'],
      countInt: '18014398509481985',
    },
    false,
  ],
  [
    'a bucket with more than 2^63 observations',
    {
      positiveSpans: [span(0, 2)],
      positiveDeltas: ['9223372036854775807', '1'],
      countInt: '18446744073709551615',
    },
    false,
  ],
  [
    'the most that can be counted',
    {
      positiveSpans: [span(0, 2)],
      positiveDeltas: ['9223372036854775807', '0'],
      zeroCountInt: 1,
      countInt: '18446744073709551615',
    },
    true,
  ],
  ['custom bounds and an exponential schema', { ...custom, schema: 0, customValues: [1, 2, 3, 4] }, false],
  ['the custom schema without bounds', custom, false],
  ['a custom bound for each bucket but the last', { ...custom, customValues: [1, 2, 3, 4] }, true],
  ['custom bounds to spare', { ...custom, customValues: [1, 2, 3, 4, 5, 6, 7, 8] }, true],
  ['too few custom bounds', { ...custom, customValues: [1, 2, 3] }, false],
  [
    'custom bounds and a zero bucket',
    { ...custom, countInt: 7, zeroCountInt: 2, customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and a zero threshold',
    { ...custom, zeroThreshold: 0.001, customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and a span before the first bucket',
    { ...custom, positiveSpans: [span(-1, 2), span(1, 2)], customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and spans that overlap',
    { ...custom, positiveSpans: [span(0, 2), span(-1, 2)], customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and a bucket less than the spans cover',
    { ...custom, positiveDeltas: [1, 1, -1], countInt: 4, customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and negative buckets',
    { ...custom, negativeSpans: [span(0, 1)], negativeDeltas: [1], countInt: 6, customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds, and more observations than in its buckets',
    { ...custom, countInt: 6, customValues: [1, 2, 3, 4] },
    false,
  ],
  ['the same custom bound twice', { ...emptyCustom, customValues: [0, 0] }, false],
  ['a custom bound of infinity', { ...emptyCustom, customValues: [1, Infinity] }, false],
  ['a first custom bound of minus infinity', { ...emptyCustom, customValues: [-Infinity, 1] }, true],
  [
    'a second custom bound of minus infinity',
    { ...emptyCustom, customValues: [-Infinity, -Infinity] },
    false,
  ],
  ['a custom bound that is no number', { ...emptyCustom, customValues: [1, Number.NaN, 3] }, false],
  ['a first custom bound that is no number', { ...emptyCustom, customValues: [Number.NaN] }, false],
  ['a schema that is too high', { schema: 9 }, false],
  ['a schema that is too low', { schema: -5 }, false],
  ['a schema between the exponential and the custom one', { schema: -52 }, false],
];

const floats: readonly (readonly [string, TestHistogram, boolean])[] = [
  ['counts that are fractions', { countFloat: 5.5, ...fiveFloats, zeroCountFloat: 0.5 }, true],
  // Sums of floats differ by the order in which they are added: there is no rule for them.
  ['more observations than in its buckets', { countFloat: 9, sum: 1, ...fiveFloats }, true],
  ['fewer observations than in its buckets', { countFloat: 1, sum: 1, ...fiveFloats }, true],
  [
    'counts that are no numbers',
    { countFloat: Number.NaN, positiveSpans: [span(0, 1)], positiveCounts: [Number.NaN] },
    true,
  ],
  ['a count below zero', { countFloat: -1 }, false],
  ['a zero count below zero', { countFloat: 1, zeroCountFloat: -0.5 }, false],
  ['a bucket below zero', { countFloat: 1, positiveSpans: [span(0, 1)], positiveCounts: [-0.5] }, false],
  [
    'a negative bucket below zero',
    { countFloat: 1, negativeSpans: [span(0, 1)], negativeCounts: [-0.5] },
    false,
  ],
  ['too few buckets', { countFloat: 1, positiveSpans: [span(0, 1)] }, false],
  ['too many buckets', { countFloat: 1, positiveSpans: [span(0, 1)], positiveCounts: [1, 2] }, false],
  [
    'a second span with a negative offset',
    { countFloat: 2, positiveSpans: [span(0, 1), span(-1, 1)], positiveCounts: [1, 1] },
    false,
  ],
  ['custom bounds', { ...customFloats, customValues: [1, 2, 3, 4] }, true],
  ['too few custom bounds', { ...customFloats, customValues: [1, 2, 3] }, false],
  [
    'custom bounds and a zero count',
    { ...customFloats, zeroCountFloat: 0.5, customValues: [1, 2, 3, 4] },
    false,
  ],
  [
    'custom bounds and an exponential schema',
    { ...customFloats, schema: 3, customValues: [1, 2, 3, 4] },
    false,
  ],
  ['a schema that is too high', { countFloat: 0, schema: 10 }, false],
];

const seriesOf = (histogram: TestHistogram) => [
  { labels: { __name__: 'up' }, samples },
  { labels: { __name__: 'latency' }, histograms: [{ timestamp: noonMs, ...histogram }] },
];

describe.each([
  ['an integer histogram', integers],
  ['a float histogram', floats],
] as const)('%s with', (_, cases) => {
  test.each(cases)('%s', (_, histogram, isTaken) => {
    const first = new RemoteWriteDecoding().series(1, seriesOf(histogram));
    expect(first.ok ? 'taken' : first.code).toBe(isTaken ? 'taken' : 'bad_series');
    const second = new RemoteWriteDecoding().series(2, seriesOf(histogram));
    // Version 2.0 stores the rest, and counts what it does not.
    expect(second).toMatchObject({ ok: true, counts: { samples: 1, histograms: isTaken ? 1 : 0 } });
    expect(second.ok && second.refused?.counts.histograms).toBe(isTaken ? undefined : 1);
  });
});

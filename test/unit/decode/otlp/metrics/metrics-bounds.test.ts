import { expect, it, test } from 'vitest';
import { limits } from '../../../../../src/limits/limits.ts';
import { decoded, rowsOf } from '../../../../support/decode/decoded.ts';
import {
  type Fields,
  MetricsDecoding,
  oneScope,
  textAttributes,
} from '../../../../support/otlp/otlp-metrics.ts';

/**
 * What a small request may become: points beyond the bounds are refused and counted, and the rest is stored.
 */

const { maxHistogramBuckets, maxNewSeriesPerRequest, maxNewSeriesLabelsPerRequest } = limits;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const histogram = (index: number, bounds: number, more: Fields = {}): Fields => ({
  attributes: textAttributes({ index: String(index) }),
  timeUnixNano: 1_763_640_000_000_000_000n,
  bucketCounts: numbers(bounds + 1).map(() => 1n),
  explicitBounds: numbers(bounds),
  ...more,
});
const histograms = (points: readonly Fields[], resource?: Fields): Fields =>
  oneScope([{ name: 'h', histogram: { dataPoints: points } }], resource);

it('refuses points with too many buckets, and stores the others', () => {
  const points = [
    histogram(1, maxHistogramBuckets),
    histogram(2, maxHistogramBuckets - 1),
    histogram(3, 60_001),
  ];
  const { counts, refused } = decoded(new MetricsDecoding().protobuf(histograms(points)));
  // A sample for each bucket, and the count.
  expect([counts.points, counts.samples]).toEqual([1, maxHistogramBuckets + 1]);
  expect(refused?.counts.points).toBe(2);
  expect(refused?.problems[1]).toMatch(/index="3".* is refused: it has more than 16384 buckets/);
});

it('refuses points that would make too many new series, as a whole, and stores those before and those that are known', () => {
  const perPoint = 10_001;
  const fitting = Math.floor(maxNewSeriesPerRequest / perPoint);
  const decoding = new MetricsDecoding();
  const points = numbers(fitting + 3).map((index) => histogram(index, perPoint - 2));
  const first = decoded(decoding.protobuf(histograms(points)));
  expect([first.counts.points, first.counts.samples]).toEqual([fitting, fitting * perPoint]);
  expect(first.refused?.counts.points).toBe(3);
  expect(first.refused?.problems[0]).toContain(
    `the request has more than ${maxNewSeriesPerRequest} new series`,
  );
  decoding.commit();
  // Series that are known cost little: those that were left out before are the new ones now.
  const second = decoded(decoding.protobuf(histograms(points)));
  expect([second.counts.points, second.refused]).toEqual([fitting + 3, undefined]);
}, 60_000);

it('refuses points whose series would have too many labels in all', () => {
  const labels = 250;
  const resource = {
    attributes: textAttributes(Object.fromEntries(numbers(labels).map((at) => [`l${at}`, 'v']))),
  };
  const points = numbers(20).map((index) => histogram(index, 1000));
  const { counts, refused } = decoded(new MetricsDecoding().protobuf(histograms(points, resource)));
  expect(counts.samples * labels).toBeLessThanOrEqual(maxNewSeriesLabelsPerRequest);
  expect(counts.samples * labels).toBeGreaterThan(maxNewSeriesLabelsPerRequest * 0.85);
  expect(counts.points + (refused?.counts.points ?? 0)).toBe(20);
  expect(refused?.problems[0]).toContain(`more than ${maxNewSeriesLabelsPerRequest} labels`);
});

it('reads the attributes of a resource that cannot be stored a bounded number of times', () => {
  const resource = {
    attributes: textAttributes(Object.fromEntries(numbers(20_000).map((at) => [`l${at}`, 'v']))),
  };
  const dataPoints = numbers(1000).map((index) => ({
    attributes: textAttributes({ i: String(index) }),
    asInt: 1n,
  }));
  const { counts, refused } = decoded(
    new MetricsDecoding().protobuf(oneScope([{ name: 'g', gauge: { dataPoints } }], resource)),
  );
  expect([counts.points, refused?.counts.points]).toEqual([0, 1000]);
  expect(refused?.problems[0]).toContain('it has 20002 labels, at most 256 are allowed');
});

test.each([
  [-1, '0'],
  [0, '0'],
  [0.5, '1'],
  [3, '3'],
  [3.5, '+Inf'],
  [Number.NaN, '+Inf'],
])('an exemplar of %d is of the bucket up to %s', (asDouble, le) => {
  const decoding = new MetricsDecoding();
  const result = decoding.protobuf(histograms([histogram(1, 4, { exemplars: [{ asDouble }] })]));
  const pair = JSON.stringify(['le', le]);
  const ids = rowsOf(result, 'series').filter(({ labels }) => JSON.stringify(labels).includes(pair));
  expect(ids).toHaveLength(1);
  expect(rowsOf(result, 'exemplars').map((row) => row['series_id'])).toEqual(
    ids.map((row) => row['series_id']),
  );
});

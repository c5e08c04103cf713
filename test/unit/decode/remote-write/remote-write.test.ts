/** What both versions of Remote Write have in common. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/limits/limits.ts';
import { noCounts } from '../../../../src/model/counts.ts';
import { decoded, refusal, rowsOf } from '../../../support/decode/decoded.ts';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import {
  encodeRequestV2,
  encodeWriteRequest,
  type TestHistogram,
  type TestLabels,
  type TestSeries,
} from '../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const dayMs = 86_400_000;
const labels = { __name__: 'up', job: 'x' };
const exemplar = { labels: { trace_id: 'abc' }, value: 0.25, timestampMs: noonMs };
const histogram: TestHistogram = {
  countInt: 21,
  sum: 18.4,
  schema: 1,
  zeroThreshold: 1e-128,
  zeroCountInt: 2,
  positiveSpans: [
    { offset: -2, length: 2 },
    { offset: 1, length: 2 },
  ],
  positiveDeltas: [1, 1, -1, 0],
  negativeSpans: [{ offset: 0, length: 1 }],
  negativeDeltas: [14],
  resetHint: 2,
  timestamp: noonMs,
};

const encodeOf = (version: 1 | 2) => (version === 1 ? encodeWriteRequest : encodeRequestV2);

describe.each([1, 2] as const)('version %d', (version) => {
  const decode = (series: readonly TestSeries[]) => new RemoteWriteDecoding().series(version, series);
  /** What is wrong with a series of one point, whether that refuses all or a part. */
  function problemOf(series: TestSeries): string {
    const result = decode([series]);
    if (!result.ok) return refusal(result).message;
    expect(result.blocks).toEqual([]);
    return result.refused?.problems.join() ?? 'nothing';
  }

  test('samples, histograms and exemplars of a series become rows with the same ids, and one row of the series', () => {
    const samples = [{ value: 1, timestampMs: noonMs }];
    const result = decode([{ labels, samples, exemplars: [exemplar], histograms: [histogram] }]);
    expect(decoded(result).counts).toEqual({ ...noCounts, samples: 1, histograms: 1, exemplars: 1 });
    expect(decoded(result).refused).toBeUndefined();
    const ids = { metric_id: 759_082_068, series_id: rowsOf(result, 'series')[0]?.['series_id'] };
    expect(rowsOf(result, 'series')).toHaveLength(1);
    expect(rowsOf(result, 'samples')).toEqual([{ ...ids, timestamp: String(noonMs), value: '1' }]);
    expect(rowsOf(result, 'exemplars')).toEqual([
      { ...ids, timestamp: String(noonMs), value: '0.25', labels: [['trace_id', 'abc']] },
    ]);
    expect(rowsOf(result, 'histograms')).toEqual([
      {
        ...ids,
        timestamp: String(noonMs),
        is_float: 0,
        count_int: '21',
        count_float: '0',
        sum: '18.4',
        schema: 1,
        zero_threshold: '1e-128',
        zero_count_int: '2',
        zero_count_float: '0',
        reset_hint: 2,
        negative_offsets: [0],
        negative_lengths: [1],
        negative_deltas: ['14'],
        negative_counts: [],
        positive_offsets: [-2, 1],
        positive_lengths: [2, 2],
        positive_deltas: ['1', '1', '-1', '0'],
        positive_counts: [],
        custom_values: [],
      },
    ]);
  });

  test('the series has the same identity as in the other version', () => {
    const series = [{ labels, samples: [{ value: 1, timestampMs: noonMs }] }];
    const other = new RemoteWriteDecoding().series(version === 1 ? 2 : 1, series);
    expect(rowsOf(decode(series), 'series')).toEqual(rowsOf(other, 'series'));
  });

  test('a series of exemplars alone is stored, as Prometheus sends them', () => {
    const result = decode([{ labels, exemplars: [exemplar] }]);
    expect(decoded(result).counts).toEqual({ ...noCounts, exemplars: 1 });
    expect(rowsOf(result, 'series')).toHaveLength(1);
  });

  test('unsorted labels are sorted, those of exemplars too', () => {
    const reversed: TestLabels = Object.entries({ z: '1', ...labels, a: '2' }).reverse();
    const result = decode([{ labels: reversed, exemplars: [{ ...exemplar, labels: [...reversed] }] }]);
    const names = (pairs: unknown) => (pairs as [string, string][]).map(([name]) => name);
    expect(names(rowsOf(result, 'series')[0]?.['labels'])).toEqual(['a', 'job', 'z']);
    expect(names(rowsOf(result, 'exemplars')[0]?.['labels'])).toEqual(['__name__', 'a', 'job', 'z']);
  });

  test('the stale marker keeps its bits, in a sample and in the sum of a histogram', () => {
    const placeholder = 1234.5678;
    const stale = Buffer.from('020000000000f07f', 'hex');
    const samples = [{ value: placeholder, timestampMs: noonMs }];
    const series = [{ labels, samples, histograms: [{ sum: placeholder, timestamp: noonMs }] }];
    const bytes = encodeOf(version)(series);
    const needle = Buffer.alloc(8);
    needle.writeDoubleLE(placeholder);
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle)) stale.copy(bytes, at);
    const { blocks } = decoded(new RemoteWriteDecoding().message(version, bytes));
    for (const table of ['samples', 'histograms'] as const) {
      const block = blocks.find((one) => one.table === table);
      expect(Buffer.from(block?.bytes ?? []).includes(stale), table).toBe(true);
    }
  });

  test('points on several days have a series row for each of them', () => {
    const on = (day: number) => noonMs + day * dayMs;
    const result = decode([
      {
        labels,
        samples: [{ value: 1, timestampMs: on(0) }],
        exemplars: [{ ...exemplar, timestampMs: on(1) }],
        histograms: [{ ...histogram, timestamp: on(2) }],
      },
    ]);
    const days = rowsOf(result, 'series').map((row) => row['date']);
    expect(days.toSorted()).toEqual([0, 1, 2].map((day) => Math.floor(on(day) / dayMs)));
  });

  test.each<[string, TestLabels, string]>([
    ['no metric name', { job: 'x' }, 'no metric name'],
    ['an empty metric name', { __name__: '', job: 'x' }, 'no metric name'],
    [
      'a label twice',
      [
        ['job', 'x'],
        ['__name__', 'up'],
        ['job', 'x'],
      ],
      'label job twice',
    ],
    ['a label without a name', { __name__: 'up', '': 'x' }, 'without a name'],
    ['a long name', { __name__: 'up', ['n'.repeat(limits.maxLabelNameBytes + 1)]: 'x' }, '1025 bytes'],
    ['a long value', { __name__: 'up', job: 'v'.repeat(limits.maxLabelValueBytes + 1) }, '65537 bytes'],
    [
      'too many labels',
      { __name__: 'up', ...Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`l${n}`, 'x'])) },
      '257 labels',
    ],
  ])('a series with %s is refused and named', (_, bad, message) => {
    const problem = problemOf({ labels: bad, samples: [{ value: 1, timestampMs: noonMs }] });
    expect(problem).toContain('The series {');
    expect(problem).toContain(message);
  });

  test.each([-1, limits.maxSampleTimestampMs + 1])('a point at %d ms is refused and named', (timestampMs) => {
    const series = { labels };
    expect(problemOf({ ...series, samples: [{ value: 1, timestampMs }] })).toContain(
      `A sample of the series {__name__="up", job="x"} is refused: its timestamp is ${timestampMs} ms`,
    );
    expect(problemOf({ ...series, exemplars: [{ ...exemplar, timestampMs }] })).toContain('An exemplar of');
    expect(problemOf({ ...series, histograms: [{ ...histogram, timestamp: timestampMs }] })).toContain(
      'A histogram of',
    );
  });

  test.each<[string, TestLabels, string]>([
    ['a label without a name', { '': 'x' }, 'without a name'],
    ['too much text', { trace_id: 'x'.repeat(limits.maxExemplarLabelBytes) }, 'at most 4096 are allowed'],
  ])('an exemplar with %s is refused', (_, bad, message) => {
    expect(problemOf({ labels, exemplars: [{ ...exemplar, labels: bad }] })).toContain(message);
  });

  test('10,000 samples in one request', () => {
    const series = Array.from({ length: 10_000 }, (_, index) => ({
      labels: { ...labels, instance: `host-${index}` },
      samples: [{ value: index, timestampMs: noonMs }],
    }));
    const result = decode(series);
    expect(decoded(result).counts.samples).toBe(10_000);
    const ids = rowsOf(result, 'samples').map((row) => row['series_id']);
    expect(new Set(ids).size).toBe(10_000);
  });
});

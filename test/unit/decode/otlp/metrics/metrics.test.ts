import { describe, expect, test } from 'vitest';
import { limits } from '../../../../../src/limits/limits.ts';
import { sampleRows } from '../../../../support/clickhouse/sample-rows.ts';
import { decoded, rowsOf } from '../../../../support/decode/decoded.ts';
import { metadataRows, rowsBySeries, valuesBySeries } from '../../../../support/otlp/otlp-metric-rows.ts';
import {
  type Fields,
  MetricsDecoding,
  oneScope,
  receivedMicros,
  textAttributes,
} from '../../../../support/otlp/otlp-metrics.ts';
import { RemoteWriteDecoding } from '../../../../support/remote-write/remote-write-decoding.ts';
import { encodeWriteRequest } from '../../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const noon = { timeUnixNano: BigInt(noonMs) * 1_000_000n };
const decode = (
  metrics: readonly Fields[],
  ...rest: Parameters<typeof oneScope> extends [unknown, ...infer R] ? R : never
) => new MetricsDecoding().protobuf(oneScope(metrics, ...rest));
const gauge = (name: string, point: Fields): Fields => ({
  name,
  gauge: { dataPoints: [{ ...noon, ...point }] },
});
const values = (metric: Fields) => valuesBySeries(decode([metric]));

describe('numbers', () => {
  test('keep their value, whichever type it has', () => {
    expect(values(gauge('a.b', { asDouble: 1.5 }))).toEqual({ 'a.b{}': '1.5' });
    expect(values(gauge('a', { asInt: -3n }))).toEqual({ 'a{}': '-3' });
    expect(values(gauge('a', { asInt: 2n ** 53n }))).toEqual({ 'a{}': '9007199254740992' });
    expect(values(gauge('a', { asDouble: -0 }))).toEqual({ 'a{}': '-0' });
  });

  test('beyond 2^53 become the nearest double', () => {
    expect(values(gauge('a', { asInt: 2n ** 63n - 1n }))).toEqual({ 'a{}': '9223372036854776000' });
    expect(values(gauge('a', { asInt: -(2n ** 63n) }))).toEqual({ 'a{}': '-9223372036854776000' });
  });

  test('have the bits of a stale marker when there is no recorded value', () => {
    const [row] = sampleRows(decode([gauge('a', { flags: 1, asDouble: 5 })]));
    expect(row?.split(' ').at(-1)).toBe(String(0x7ff0000000000002n));
    const [empty] = sampleRows(decode([gauge('a', { flags: 3 })]));
    expect(empty?.split(' ').at(-1)).toBe(String(0x7ff0000000000002n));
  });

  test('have times in whole milliseconds, rounded down, and that of receipt for none', () => {
    const times = (point: Fields) =>
      rowsBySeries(decode([gauge('a', { asInt: 1n, ...point })]), 'samples').map((row) => [
        row['timestamp'],
        row['start_timestamp'],
      ]);
    const nanos = BigInt(noonMs) * 1_000_000n;
    expect(times({ timeUnixNano: nanos + 999_999n })).toEqual([[String(noonMs), undefined]]);
    expect(times({ timeUnixNano: nanos - 1n })).toEqual([[String(noonMs - 1), undefined]]);
    expect(times({ startTimeUnixNano: nanos - 60_000_000_000n })).toEqual([
      [String(noonMs), String(noonMs - 60_000)],
    ]);
    expect(times({ timeUnixNano: 0n })).toEqual([[String(receivedMicros / 1000), undefined]]);
  });
});

describe('the labels of a series', () => {
  const point = { asInt: 1n, attributes: textAttributes({ b: 'point', a: '1' }) };

  test('are those of the point, the scope and the resource', () => {
    const scope = { name: 'lib', version: '2', attributes: textAttributes({ x: 'y' }) };
    const result = decode(
      [gauge('m', point)],
      { attributes: textAttributes({ 'service.name': 's' }) },
      scope,
    );
    expect(Object.keys(valuesBySeries(result))).toEqual([
      'm{a="1",b="point",otel_scope_name="lib",otel_scope_version="2",otel_scope_x="y",service.name="s"}',
    ]);
  });

  test('have the id that they have in remote write', () => {
    const labels = { __name__: 'm', a: '1', b: 'point', job: 'x' };
    const remote = new RemoteWriteDecoding().message(
      1,
      encodeWriteRequest([{ labels, samples: [{ value: 1, timestampMs: noonMs }] }]),
    );
    const otlp = decode([gauge('m', point)], { attributes: textAttributes({ job: 'x' }) });
    expect(sampleRows(otlp)).toEqual(sampleRows(remote));
    const { date, series_id, metric_id, metric_name, labels: stored } = rowsOf(otlp, 'series')[0] ?? {};
    expect({ date, series_id, metric_id, metric_name, labels: stored }).toEqual(rowsOf(remote, 'series')[0]);
  });

  test('of the same name give way: point before scope before resource, the later before the earlier', () => {
    const result = decode(
      [gauge('m', { asInt: 1n, attributes: textAttributes({ a: 'point', otel_scope_name: 'mine' }) })],
      { attributes: [...textAttributes({ a: 'resource', r: 'first' }), ...textAttributes({ r: 'second' })] },
      { name: 'lib' },
    );
    expect(Object.keys(valuesBySeries(result))).toEqual(['m{a="point",otel_scope_name="mine",r="second"}']);
    const [row] = rowsBySeries(result, 'series');
    expect(row?.['shadowed_attributes']).toEqual([
      ['resource.r', 'first'],
      ['resource.a', 'resource'],
      ['scope.otel_scope_name', 'lib'],
    ]);
  });

  test('have text for values of all kinds', () => {
    const any = (value: Fields, key: string): Fields => ({ key, value });
    const attributes = [
      any({ boolValue: true }, 'a'),
      any({ intValue: 2n ** 62n + 1n }, 'b'),
      any({ doubleValue: 0.1 }, 'c'),
      any({ bytesValue: Buffer.from('hi') }, 'd'),
      any({ arrayValue: { values: [{ stringValue: 'x"' }, { intValue: 1n }, {}] } }, 'e'),
      any({ kvlistValue: { values: [any({ doubleValue: Number.NaN }, 'k')] } }, 'f'),
    ];
    const [series] = Object.keys(values(gauge('m', { asInt: 1n, attributes })));
    const text = (value: string): string => JSON.stringify(value);
    expect(series).toBe(
      `m{a="true",b="4611686018427387905",c="0.1",d="aGk=",e=${text('["x\\"",1,null]')},f=${text('{"k":"NaN"}')}}`,
    );
  });

  test('are made once for a series that is known', () => {
    const decoding = new MetricsDecoding();
    const request = oneScope([gauge('m', point)], { attributes: textAttributes({ job: 'x' }) });
    const first = decoding.protobuf(request);
    expect(rowsOf(first, 'series')).toHaveLength(1);
    decoding.commit();
    const second = decoding.protobuf(request);
    expect(rowsOf(second, 'series')).toEqual([]);
    expect(rowsOf(second, 'metadata')).toEqual([]);
    expect(rowsOf(second, 'samples')).toEqual(rowsOf(first, 'samples'));
    const other = oneScope([gauge('m', point)], { attributes: textAttributes({ job: 'y' }) });
    expect(rowsOf(decoding.protobuf(other), 'series')).toHaveLength(1);
  });

  test('that cannot be stored refuse the point alone', () => {
    const long = {
      attributes: textAttributes({ ['k'.repeat(limits.maxLabelNameBytes + 1)]: 'v' }),
      asInt: 1n,
    };
    const result = decode([
      gauge('bad', long),
      gauge('good', point),
      gauge('', { asInt: 1n }),
      gauge('none', {}),
    ]);
    const { counts, refused } = decoded(result);
    expect(counts).toMatchObject({ points: 1, samples: 1 });
    expect(refused?.counts).toMatchObject({ points: 3 });
    expect(refused?.problems.join('\n')).toContain('a label name has 1025 bytes');
    expect(refused?.problems.join('\n')).toContain('it has no metric name');
    expect(refused?.problems.join('\n')).toContain('it has no value');
  });
});

describe('sums', () => {
  test('have none of a temporality that is unknown, and are one where only that differs', () => {
    const sum = (aggregationTemporality: number): Fields => ({
      name: 'requests',
      sum: { aggregationTemporality, dataPoints: [{ ...noon, asInt: 1n }] },
    });
    const result = decode([sum(0), sum(3), sum(-1)]);
    expect(metadataRows(result)).toMatchObject([{ metric_name: 'requests', temporality: '' }]);
    expect(rowsOf(result, 'series')).toHaveLength(1);
  });

  test('keep temporality, monotonicity, unit and description as they are sent', () => {
    const sum = {
      name: 'requests',
      unit: '{request}',
      description: 'All of them',
      sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [{ ...noon, asInt: 4n }] },
      metadata: textAttributes({ origin: 'test' }),
    };
    const result = decode([sum]);
    expect(rowsBySeries(result, 'series')).toMatchObject([
      { series: 'requests{}', type: 'sum', unit: '{request}', temporality: 'delta', is_monotonic: 1 },
    ]);
    expect(metadataRows(result)).toMatchObject([
      {
        metric_name: 'requests',
        type: 'sum',
        unit: '{request}',
        description: 'All of them',
        temporality: 'delta',
        is_monotonic: 1,
        metadata: [['origin', 'test']],
      },
    ]);
  });

  test('keep what their resource and scope say beside attributes', () => {
    const refs = [{ schemaUrl: 'u', type: 'service', idKeys: ['service.name'], descriptionKeys: ['d'] }];
    const result = decode(
      [gauge('m', { asInt: 1n })],
      { droppedAttributesCount: 3, entityRefs: refs },
      { droppedAttributesCount: 4 },
      { resource: { schemaUrl: 'https://r' }, scope: { schemaUrl: 'https://s' } },
    );
    expect(rowsBySeries(result, 'series')).toMatchObject([
      {
        resource_schema_url: 'https://r',
        scope_schema_url: 'https://s',
        resource_dropped_attributes: 3,
        scope_dropped_attributes: 4,
        entity_refs: JSON.stringify(refs),
      },
    ]);
  });
});

describe('histograms', () => {
  const point = {
    ...noon,
    count: 6n,
    sum: 12.5,
    min: 0.5,
    max: 9,
    bucketCounts: [1n, 2n, 3n],
    explicitBounds: [1, 2.5],
    attributes: textAttributes({ a: '1' }),
  };
  const histogram = (fields: Fields): Fields => ({ name: 'h', histogram: { dataPoints: [fields] } });

  test('become cumulative buckets, a sum, a count, a minimum and a maximum', () => {
    expect(values(histogram(point))).toEqual({
      'h_bucket{a="1",le="1"}': '1',
      'h_bucket{a="1",le="2.5"}': '3',
      'h_bucket{a="1",le="+Inf"}': '6',
      'h_count{a="1"}': '6',
      'h_sum{a="1"}': '12.5',
      'h_min{a="1"}': '0.5',
      'h_max{a="1"}': '9',
    });
  });

  test('without buckets have the one of all observations, and no sum if none was sent', () => {
    expect(values(histogram({ ...noon, count: 7n }))).toEqual({
      'h_bucket{le="+Inf"}': '7',
      'h_count{}': '7',
    });
  });

  test.each([
    [{ bucketCounts: [1n, 2n] }, 'it has 2 bucket counts and 2 bounds'],
    [{ explicitBounds: [2, 1] }, 'its bounds are not numbers in ascending order'],
    [{ explicitBounds: [Number.NaN, 1] }, 'its bounds are not numbers in ascending order'],
  ])('that contradict themselves are refused: %o', (fields, problem) => {
    const { refused, counts } = decoded(decode([histogram({ ...point, ...fields })]));
    expect(refused?.counts.points).toBe(1);
    expect(refused?.problems[0]).toContain(problem);
    expect(counts.samples).toBe(0);
  });

  test('have their exemplars in the bucket of the value', () => {
    const exemplars = [
      { ...noon, asDouble: 2.5, traceId: Buffer.alloc(16, 0xab), spanId: Buffer.alloc(8, 0xcd) },
      { ...noon, asInt: 100n, traceId: Buffer.alloc(16), filteredAttributes: textAttributes({ k: 'v' }) },
    ];
    expect(rowsBySeries(decode([histogram({ ...point, exemplars })]), 'exemplars')).toEqual([
      {
        series: 'h_bucket{a="1",le="2.5"}',
        timestamp: String(noonMs),
        value: '2.5',
        labels: [
          ['span_id', 'cd'.repeat(8)],
          ['trace_id', 'ab'.repeat(16)],
        ],
      },
      { series: 'h_bucket{a="1",le="+Inf"}', timestamp: String(noonMs), value: '100', labels: [['k', 'v']] },
    ]);
  });

  test('have exemplars without the ids whose length is wrong, and say so', () => {
    const exemplars = [
      { ...noon, asDouble: 2.5, traceId: Buffer.alloc(15, 0xab), spanId: Buffer.alloc(8, 0xcd) },
      { ...noon, asDouble: 3, traceId: Buffer.alloc(16, 0xab), spanId: Buffer.alloc(0) },
    ];
    const result = decode([histogram({ ...point, exemplars })]);
    expect(rowsBySeries(result, 'exemplars').map(({ labels }) => labels)).toEqual([
      [['span_id', 'cd'.repeat(8)]],
      [['trace_id', 'ab'.repeat(16)]],
    ]);
    expect(decoded(result)).toMatchObject({
      counts: { exemplars: 2, problems: 1 },
      refused: {
        counts: { exemplars: 0, points: 0, problems: 1 },
        problems: [
          'An exemplar of the series {__name__="h_bucket", a="1", le="2.5"}: its trace_id has 15 bytes and not 16, and is left out',
        ],
      },
    });
  });

  test('that were not recorded end all their series', () => {
    const rows = sampleRows(decode([histogram({ ...noon, flags: 1 })]));
    expect(rows.map((row) => row.split(' ').at(-1))).toEqual(Array(3).fill(String(0x7ff0000000000002n)));
  });
});

describe('summaries', () => {
  test('become quantiles, a sum and a count', () => {
    const quantileValues = [
      { quantile: 0, value: 1 },
      { quantile: 0.99, value: 7.5 },
    ];
    const summary = { name: 's', summary: { dataPoints: [{ ...noon, count: 3n, sum: 9, quantileValues }] } };
    expect(values(summary)).toEqual({
      's{quantile="0"}': '1',
      's{quantile="0.99"}': '7.5',
      's_count{}': '3',
      's_sum{}': '9',
    });
  });
});

describe('exponential histograms', () => {
  const point = {
    ...noon,
    count: 2n ** 63n + 5n,
    sum: -1.25,
    scale: 20,
    zeroCount: 2n,
    zeroThreshold: 0.001,
    min: -3,
    max: 4,
    positive: { offset: -3, bucketCounts: [1n, 0n, 2n ** 63n] },
    negative: { offset: 7, bucketCounts: [2n] },
  };
  const rows = (fields: Fields) =>
    rowsBySeries(
      decode([{ name: 'e', exponentialHistogram: { aggregationTemporality: 2, dataPoints: [fields] } }]),
      'histograms',
    );

  test('lose nothing', () => {
    expect(rows(point)).toEqual([
      {
        series: 'e{}',
        timestamp: String(noonMs),
        is_float: 0,
        count_int: String(2n ** 63n + 5n),
        count_float: '0',
        sum: '-1.25',
        schema: 20,
        zero_threshold: '0.001',
        zero_count_int: '2',
        zero_count_float: '0',
        reset_hint: 0,
        negative_offsets: [8],
        negative_lengths: [1],
        negative_deltas: ['2'],
        negative_counts: [],
        positive_offsets: [-2],
        positive_lengths: [3],
        positive_deltas: ['1', '-1', String(-(2n ** 63n))],
        positive_counts: [],
        custom_values: [],
        min: '-3',
        max: '4',
      },
    ]);
  });

  test('without a sum have one that is not a number, and without extremes none', () => {
    const [row] = rows({ ...noon, count: 0n });
    expect(row).toMatchObject({ sum: 'NaN', positive_offsets: [], positive_deltas: [] });
    expect(row).not.toHaveProperty('min');
  });

  test('of a scale beyond a byte are refused, and leave nothing behind', () => {
    const metric = { name: 'e', exponentialHistogram: { dataPoints: [{ ...point, scale: 128 }, point] } };
    const result = decode([metric]);
    expect(decoded(result).refused?.problems[0]).toContain('its scale is 128');
    expect(rowsBySeries(result, 'histograms')).toEqual(rows(point));
  });
});

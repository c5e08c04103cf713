import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/limits/limits.ts';
import { noCounts } from '../../../../src/model/counts.ts';
import { decoded, refusal, rowsOf } from '../../../support/decode/decoded.ts';
import { bytesField, message, packed, varint, varintField } from '../../../support/decode/wire.ts';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import {
  encodeRequestV2,
  requestV2Type,
  type TestSeries,
} from '../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const samples = [{ value: 1, timestampMs: noonMs }];
const up: TestSeries = { labels: { __name__: 'up', job: 'x' }, samples };
const nameless: TestSeries = { labels: { job: 'nameless' }, samples };
const histogram = { timestamp: noonMs, countInt: 1 };
const exemplar = { labels: { trace_id: 'abc' }, value: 1, timestampMs: noonMs };

const decode = (series: readonly TestSeries[]) => new RemoteWriteDecoding().series(2, series);
/** A request by field names, symbols included. */
const decodeFields = (fields: Record<string, unknown>) =>
  new RemoteWriteDecoding().message(2, requestV2Type.encode(requestV2Type.fromObject(fields)).finish());

describe('the symbols', () => {
  const symbols = ['', '__name__', 'up', 'job', 'x'];
  const sample = { value: 1, timestamp: noonMs };

  test('may come behind the series that refer to them', () => {
    const whole = encodeRequestV2([up]);
    const strings = message(symbols.map((symbol) => bytesField(4, Buffer.from(symbol))));
    expect(whole.subarray(0, strings.length).equals(strings)).toBe(true);
    const turned = Buffer.concat([whole.subarray(strings.length), strings]);
    expect(rowsOf(new RemoteWriteDecoding().message(2, turned), 'series')).toEqual(
      rowsOf(decode([up]), 'series'),
    );
  });

  test('may be referred to by a packed field, by several, or by one field each', () => {
    const refs = [1, 2, 3, 4];
    const point = bytesField(2, varintField(2, noonMs));
    const forms = [
      [packed(1, refs.map(varint))],
      [packed(1, [varint(1), varint(2)]), point, packed(1, [varint(3), varint(4)])],
      refs.map((ref) => varintField(1, ref)),
    ];
    const strings = symbols.map((symbol) => bytesField(4, Buffer.from(symbol)));
    for (const form of forms) {
      const series = bytesField(5, message([...form, point]));
      const result = new RemoteWriteDecoding().message(2, message([...strings, series]));
      expect(rowsOf(result, 'series')).toEqual(rowsOf(decode([up]), 'series'));
    }
  });

  test('must begin with the empty string', () => {
    const result = decodeFields({
      symbols: ['__name__', 'up'],
      timeseries: [{ labelsRefs: [0, 1], samples: [sample] }],
    });
    expect(refusal(result)).toEqual({
      code: 'bad_protobuf',
      message: 'The first symbol of the request must be the empty string',
    });
  });

  test('are not more than allowed', () => {
    const many = Buffer.alloc(2 * (limits.maxSymbolsPerRequest + 1), Buffer.from([0x22, 0x00]));
    expect(refusal(new RemoteWriteDecoding().message(2, many)).code).toBe('body_too_large');
  });

  test('named again and again by new series do not fill the memory', () => {
    const value = 'v'.repeat(limits.maxLabelValueBytes);
    const series = Array.from({ length: 50 }, (_, index) => ({
      labels: Object.fromEntries([
        ['__name__', `m${index}`],
        ...Array.from({ length: 200 }, (_, label) => [`l${label}`, value]),
      ]),
      samples,
    }));
    const request = encodeRequestV2(series);
    expect(request.length).toBeLessThan(200_000);
    const error = refusal(new RemoteWriteDecoding().message(2, request));
    expect(error.code).toBe('body_too_large');
    expect(error.message).toContain('series');
  });

  test.each<[string, number[], string]>([
    ['beyond the last symbol', [1, 2, 3, 5], 'the label reference 5 is beyond the 5 symbols'],
    ['without a partner', [1, 2, 3], 'it has 3 label references, which must come in pairs'],
    ['that makes a label without a name', [1, 2, 0, 4], 'a label without a name'],
  ])('a reference %s refuses the series', (_, labelsRefs, problem) => {
    const timeseries = [
      { labelsRefs, samples: [sample] },
      { labelsRefs: [1, 2], samples: [sample] },
    ];
    const result = decodeFields({ symbols, timeseries });
    expect(decoded(result).counts.samples).toBe(1);
    expect(decoded(result).refused?.problems).toEqual([expect.stringContaining(problem)]);
    expect(decoded(result).refused?.problems[0]).toContain('__name__="up"');
  });
});

describe('a request that can be stored in part', () => {
  test('is stored in part, and what is not is counted by kind and named', () => {
    const result = decode([
      up,
      { ...nameless, histograms: [histogram, histogram], exemplars: [exemplar] },
      { labels: { __name__: 'down' }, samples: [...samples, { value: 2, timestampMs: -5 }] },
    ]);
    expect(decoded(result).counts).toEqual({ ...noCounts, samples: 2, problems: 2 });
    expect(decoded(result).refused).toEqual({
      counts: { ...noCounts, samples: 2, histograms: 2, exemplars: 1, problems: 2 },
      problems: [
        'The series {job="nameless"} is refused: it has no metric name (label __name__)',
        expect.stringContaining(
          'A sample of the series {__name__="down"} is refused: its timestamp is -5 ms',
        ),
      ],
    });
    expect(rowsOf(result, 'samples')).toHaveLength(2);
    // In any order: the kernel writes some of the rows, and the decoder the others.
    expect(
      rowsOf(result, 'series')
        .map((row) => row['metric_name'])
        .toSorted(),
    ).toEqual(['down', 'up']);
  });

  test('a histogram that is refused leaves nothing of itself in the next one', () => {
    const buckets = { positiveSpans: [{ offset: 0, length: 1 }], positiveDeltas: [7] };
    const histograms = [
      { ...histogram, ...buckets, countInt: 1 },
      { ...histogram, ...buckets, countInt: 7 },
    ];
    const result = decode([{ labels: up.labels, histograms }]);
    expect(decoded(result).refused?.counts.histograms).toBe(1);
    expect(rowsOf(result, 'histograms')).toMatchObject([{ count_int: '7', positive_deltas: ['7'] }]);
  });

  test('all problems are counted, the first ones named', () => {
    const result = decode(Array.from({ length: 100 }, () => nameless));
    expect(decoded(result)).toMatchObject({
      blocks: [],
      refused: { counts: { samples: 100, problems: 100 } },
    });
    expect(decoded(result).refused?.problems).toHaveLength(limits.maxReportedProblems);
  });

  test('a series that was refused is stored when it comes again without its fault', () => {
    const decoding = new RemoteWriteDecoding();
    decoding.series(2, [{ ...up, samples: [{ value: 1, timestampMs: -1 }] }]);
    decoding.commit();
    expect(rowsOf(decoding.series(2, [up]), 'series')).toHaveLength(1);
  });

  test('a series without a sample, histogram or exemplar is refused', () => {
    const result = decode([up, { labels: { __name__: 'empty' }, metadata: { help: 'h' } }]);
    expect(decoded(result).refused).toMatchObject({
      counts: { ...noCounts, problems: 1 },
      problems: ['The series {__name__="empty"} is refused: it has no sample, histogram or exemplar'],
    });
    expect(rowsOf(result, 'metadata')).toEqual([]);
  });

  test('a message that is none is refused as a whole', () => {
    const whole = encodeRequestV2([up, up]);
    const error = refusal(new RemoteWriteDecoding().message(2, whole.subarray(0, whole.length - 1)));
    expect(error.code).toBe('bad_protobuf');
  });

  test('a request of nothing is fine', () => {
    expect(new RemoteWriteDecoding().message(2, Buffer.alloc(0))).toEqual({
      ok: true,
      blocks: [],
      counts: noCounts,
    });
    expect(decoded(decode([])).refused).toBeUndefined();
  });
});

describe('start timestamps', () => {
  test('are stored with their samples; others have none', () => {
    const points = [
      { value: 1, timestampMs: noonMs },
      { value: 2, timestampMs: noonMs + 1, startMs: noonMs - 9 },
      { value: 3, timestampMs: noonMs + 2 },
    ];
    const rows = rowsOf(decode([{ labels: up.labels, samples: points }]), 'samples');
    expect(rows.map((row) => row['start_timestamp'])).toEqual(['0', String(noonMs - 9), '0']);
  });

  test('cost no column where no sample has one', () => {
    expect(rowsOf(decode([up]), 'samples')[0]).not.toHaveProperty('start_timestamp');
  });

  test('out of bounds refuse their sample', () => {
    const result = decode([{ labels: up.labels, samples: [{ value: 1, timestampMs: noonMs, startMs: -1 }] }]);
    expect(decoded(result).refused?.problems[0]).toContain('its start timestamp is -1 ms');
  });

  test('in field 6 of a series, as drafts had them, are skipped', () => {
    const point = bytesField(2, varintField(2, noonMs));
    const series = bytesField(5, message([packed(1, [varint(1), varint(2)]), point, varintField(6, noonMs)]));
    const strings = ['', '__name__', 'up'].map((symbol) => bytesField(4, Buffer.from(symbol)));
    const result = new RemoteWriteDecoding().message(2, message([...strings, series]));
    expect(decoded(result)).toMatchObject({ counts: { ...noCounts, samples: 1 } });
    expect(decoded(result).refused).toBeUndefined();
  });
});

describe('known series', () => {
  test('of version 2.0 are left out once they are durable, whatever the numbers of their symbols', () => {
    const decoding = new RemoteWriteDecoding();
    const other: TestSeries = { labels: { __name__: 'other', zone: 'z' }, samples };
    expect(rowsOf(decoding.series(2, [up, other]), 'series')).toHaveLength(2);
    decoding.commit();
    const again = decoding.series(2, [other, up]);
    expect(rowsOf(again, 'series')).toEqual([]);
    const ids = rowsOf(again, 'samples').map((row) => row['series_id']);
    expect(ids.toReversed()).toEqual(rowsOf(decode([up, other]), 'samples').map((row) => row['series_id']));
  });
});

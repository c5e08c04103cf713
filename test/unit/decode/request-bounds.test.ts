import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { decoded, refusal } from '../../support/decode/decoded.ts';
import { bytesField, varint } from '../../support/decode/wire.ts';
import { RemoteWriteDecoding } from '../../support/remote-write/remote-write-decoding.ts';
import type { Version } from '../../support/remote-write/remote-write-oracle.ts';
import { encodeRequestV2, encodeWriteRequest } from '../../support/remote-write/remote-write-requests.ts';

/**
 * How much of each kind one request may hold: a message of two or four bytes each would keep a
 * worker busy for long.
 */

const text = (value: string): Buffer => Buffer.from(value);
const label = bytesField(1, Buffer.concat([bytesField(1, text('__name__')), bytesField(2, text('up'))]));
const symbols = Buffer.concat(['', '__name__', 'up'].map((symbol) => bytesField(4, text(symbol))));
const references = bytesField(1, Buffer.from([1, 2]));

const repeated = (message: readonly number[], count: number): Buffer =>
  Buffer.alloc(message.length * count, Buffer.from(message));
const points = (version: Version, message: readonly number[], count: number): Buffer =>
  version === 1
    ? bytesField(1, Buffer.concat([label, repeated(message, count)]))
    : Buffer.concat([symbols, bytesField(5, Buffer.concat([references, repeated(message, count)]))]);

const { maxHistogramsPerRequest, maxExemplarsPerRequest, maxEmptySeriesPerRequest } = limits;

test.each<[string, Version, number[], number, string]>([
  ['histograms', 1, [0x22, 0], maxHistogramsPerRequest, 'histograms'],
  ['histograms', 2, [0x1a, 0], maxHistogramsPerRequest, 'histograms'],
  ['histograms that are refused', 2, [0x1a, 2, 0x70, 9], maxHistogramsPerRequest, 'histograms'],
  ['exemplars', 1, [0x1a, 0], maxExemplarsPerRequest, 'exemplars'],
  ['exemplars', 2, [0x22, 0], maxExemplarsPerRequest, 'exemplars'],
  ['exemplars that are refused', 2, [0x22, 2, 8, 9], maxExemplarsPerRequest, 'exemplars'],
])('more %s than allowed, version %i', (_, version, message, allowed, what) => {
  const decoding = new RemoteWriteDecoding();
  decoded(decoding.message(version, points(version, message, allowed)));
  expect(refusal(decoding.message(version, points(version, message, allowed + 1)))).toMatchObject({
    code: 'body_too_large',
    message: `The request has more than ${allowed} ${what}`,
  });
});

test.each<[Version, (count: number) => Buffer]>([
  [1, (count) => repeated([0x0a, 0], count)],
  [2, (count) => Buffer.concat([symbols, repeated([0x2a, 0], count)])],
])('more series without points than allowed, version %i', (version, series) => {
  const decoding = new RemoteWriteDecoding();
  decoded(decoding.message(version, series(maxEmptySeriesPerRequest)));
  expect(refusal(decoding.message(version, series(maxEmptySeriesPerRequest + 1)))).toMatchObject({
    code: 'body_too_large',
    message: `The request has more than ${maxEmptySeriesPerRequest} series without points`,
  });
});

/** A series for each number, with a sample; not plain, so that the kernel leaves them to the decoder. */
const newSeries = (version: Version, count: number): Buffer => {
  const numbers = Array.from({ length: count }, (_, index) => text(`é${index}`));
  const sample = bytesField(2, Buffer.from([0x10, 1]));
  if (version === 1) {
    const series = numbers.map((value) =>
      bytesField(
        1,
        Buffer.concat([
          label,
          bytesField(1, Buffer.concat([bytesField(1, text('i')), bytesField(2, value)])),
          sample,
        ]),
      ),
    );
    return Buffer.concat(series);
  }
  const table = Buffer.concat(['', '__name__', 'up', 'i'].map((symbol) => bytesField(4, text(symbol))));
  const values = numbers.map((value) => bytesField(4, value));
  const series = numbers.map((_, index) =>
    bytesField(5, Buffer.concat([bytesField(1, Buffer.from([1, 2, 3, ...varint(4 + index)])), sample])),
  );
  return Buffer.concat([table, ...values, ...series]);
};

const { maxNewSeriesPerRequest } = limits;

test('more new series than allowed, version 1: nothing is stored', () => {
  const decoding = new RemoteWriteDecoding();
  decoded(decoding.message(1, newSeries(1, maxNewSeriesPerRequest)));
  const error = refusal(new RemoteWriteDecoding().message(1, newSeries(1, maxNewSeriesPerRequest + 1)));
  expect(error.code).toBe('bad_series');
  expect(error.message).toContain(
    `the request has more than ${maxNewSeriesPerRequest} new series: send fewer at a time`,
  );
});

test('more new series than allowed, version 2: the others are stored, and the rest is counted', () => {
  const decoding = new RemoteWriteDecoding();
  const { counts, refused } = decoded(decoding.message(2, newSeries(2, maxNewSeriesPerRequest + 30)));
  expect([counts.samples, refused?.counts.samples, refused?.problems.length]).toEqual([
    maxNewSeriesPerRequest,
    30,
    20,
  ]);
  expect(refused?.problems[0]).toContain(`i="é${maxNewSeriesPerRequest}"`);
});

const { maxSampleDaysPerRequest } = limits;
const dayMs = 86_400_000;
const dayOfNow = 20_000;

const sampleOf = (day: number): Buffer => bytesField(2, Buffer.from([0x10, ...varint(day * dayMs)]));

/**
 * A message of samples on so many days, of one series or of one for each day; plain, so that the
 * kernel takes what it can.
 */
function days(version: Version, series: 'one series' | 'a series a day', count: number): Buffer {
  const samples = Array.from({ length: count }, (_, index) => sampleOf(dayOfNow + index));
  const named = (index: number): Buffer =>
    version === 1
      ? Buffer.concat([
          label,
          bytesField(1, Buffer.concat([bytesField(1, text('i')), bytesField(2, text(`${index}`))])),
        ])
      : bytesField(1, Buffer.from([1, 2, 3, ...varint(4 + index)]));
  const table = ['', '__name__', 'up', 'i', ...samples.map((_, index) => `${index}`)];
  const fields =
    series === 'one series'
      ? [Buffer.concat([named(0), ...samples])]
      : samples.map((sample, index) => Buffer.concat([named(index), sample]));
  return Buffer.concat([
    ...(version === 1 ? [] : table.map((symbol) => bytesField(4, text(symbol)))),
    ...fields.map((field) => bytesField(version === 1 ? 1 : 5, field)),
  ]);
}

test.each([
  [1, 'one series'],
  [1, 'a series a day'],
  [2, 'one series'],
  [2, 'a series a day'],
] as const)('samples of more days than allowed, version %i, %s: nothing is stored', (version, series) => {
  decoded(new RemoteWriteDecoding().message(version, days(version, series, maxSampleDaysPerRequest)));
  const many = days(version, series, maxSampleDaysPerRequest + 1);
  const error = refusal(new RemoteWriteDecoding().message(version, many));
  expect(error.code).toBe('body_too_large');
  expect(error.message).toContain(`samples of more than ${maxSampleDaysPerRequest} days`);
});

test.each([1, 2] as const)(
  'days that the kernel takes and those that it leaves count together, version %i',
  (version) => {
    // Every other day is that of a series with two days, which the kernel leaves to the other decoder.
    const mixed = (count: number): Buffer => {
      const both = Array.from({ length: Math.ceil(count / 2) }, (_, index) => {
        const [first, second] = [dayOfNow + 2 * index, dayOfNow + Math.min(2 * index + 1, count - 1)];
        const labels = (name: string) => ({ __name__: 'up', i: `${name}${index}` });
        const at = (day: number) => ({ value: 1, timestampMs: day * dayMs });
        return [
          { labels: labels('kernel'), samples: [at(first)] },
          { labels: labels('other'), samples: [at(first), at(second)] },
          // A day again takes no room.
          { labels: labels('again'), samples: [at(dayOfNow)] },
        ];
      }).flat();
      return Buffer.from(version === 1 ? encodeWriteRequest(both) : encodeRequestV2(both));
    };
    decoded(new RemoteWriteDecoding().message(version, mixed(maxSampleDaysPerRequest)));
    const error = refusal(new RemoteWriteDecoding().message(version, mixed(maxSampleDaysPerRequest + 1)));
    expect(error.code).toBe('body_too_large');
    expect(error.message).toContain(`samples of more than ${maxSampleDaysPerRequest} days`);
  },
);

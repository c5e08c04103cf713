import { expect, test } from 'vitest';
import { limits } from '../../../src/limits.ts';
import { decoded, refusal } from '../../support/decoded.ts';
import { RemoteWriteDecoding } from '../../support/remote-write-decoding.ts';
import type { Version } from '../../support/remote-write-oracle.ts';
import { bytesField } from '../../support/wire.ts';

/** How much of each kind one request may hold: a message of two or four bytes each would keep a worker busy for long. */

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

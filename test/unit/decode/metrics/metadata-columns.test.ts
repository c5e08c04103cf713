import { describe, expect, test } from 'vitest';
import { limits } from '../../../../src/limits/limits.ts';
import { noCounts } from '../../../../src/model/counts.ts';
import { decoded, refusal, rowsOf } from '../../../support/decode/decoded.ts';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import { encodeWriteRequest, requestV2Type } from '../../../support/remote-write/remote-write-requests.ts';

const noonMs = 1_763_640_000_000;
const samples = [{ value: 1, timestampMs: noonMs }];
const row = {
  date: Math.floor(noonMs / 86_400_000),
  metric_name: 'up',
  type: 'gauge',
  unit: 'seconds',
  description: 'whether it is up',
  received_at: `${noonMs}000`,
};
const metadata = { type: 2, unit: 'seconds', help: 'whether it is up' };

describe('in version 1.0', () => {
  const family = { family: 'up', ...metadata };

  test('metadata comes in requests without any series', () => {
    const result = new RemoteWriteDecoding().series(1, [], [family]);
    expect(decoded(result)).toMatchObject({ counts: { ...noCounts, metadata: 1 } });
    expect(decoded(result).blocks.map(({ table }) => table)).toEqual(['metadata']);
    expect(rowsOf(result, 'metadata')).toEqual([row]);
  });

  test.each([
    [0, 'unknown'],
    [1, 'counter'],
    [2, 'gauge'],
    [3, 'histogram'],
    [4, 'gaugehistogram'],
    [5, 'summary'],
    [6, 'info'],
    [7, 'stateset'],
    [8, 'unknown'],
  ])('type %d is %s', (type, name) => {
    const result = new RemoteWriteDecoding().series(1, [], [{ family: 'm', type }]);
    expect(rowsOf(result, 'metadata')[0]).toMatchObject({ type: name });
  });

  test('it is left out once it is durable, for that day, as long as it does not change', () => {
    const decoding = new RemoteWriteDecoding();
    const rows = (one = family) => rowsOf(decoding.series(1, [], [one]), 'metadata').length;
    expect(rows()).toBe(1);
    expect(rows()).toBe(1);
    decoding.commit();
    expect(rows()).toBe(0);
    expect(rows({ ...family, help: 'something else' })).toBe(1);
    decoding.receivedMicros += 86_400_000_000;
    expect(rows()).toBe(1);
  });

  test('what is said twice in a request is written once', () => {
    expect(rowsOf(new RemoteWriteDecoding().series(1, [], [family, family]), 'metadata')).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ['without a name', { family: '' }, 'of no metric'],
    ['with a long help', { help: 'x'.repeat(limits.maxMetadataTextBytes + 1) }, 'the help has 65537 bytes'],
    ['with a long unit', { unit: 'x'.repeat(limits.maxMetadataTextBytes + 1) }, 'the unit has 65537 bytes'],
  ])('%s it refuses the request', (_, change, message) => {
    const result = new RemoteWriteDecoding().series(1, [], [{ ...family, ...change }]);
    expect(refusal(result)).toMatchObject({ code: 'bad_series', message: expect.stringContaining(message) });
  });

  test('that is not UTF-8 it refuses the request', () => {
    const message = encodeWriteRequest([], [family]);
    message[message.indexOf('whether')] = 0xff;
    expect(refusal(new RemoteWriteDecoding().message(1, message)).message).toContain(
      'the help is not valid UTF-8',
    );
  });
});

describe('in version 2.0', () => {
  const series = { labels: { __name__: 'up', job: 'x' }, samples, metadata };

  test('metadata comes with the series, and is of its metric', () => {
    const result = new RemoteWriteDecoding().series(2, [series]);
    expect(rowsOf(result, 'metadata')).toEqual([row]);
    expect(decoded(result).counts).toEqual({ ...noCounts, samples: 1, metadata: 1 });
  });

  test('it is written once for all series of the metric, and left out once it is durable', () => {
    const decoding = new RemoteWriteDecoding();
    const several = ['a', 'b', 'c'].map((job) => ({ ...series, labels: { __name__: 'up', job } }));
    expect(rowsOf(decoding.series(2, several), 'metadata')).toHaveLength(1);
    decoding.commit();
    expect(rowsOf(decoding.series(2, several), 'metadata')).toHaveLength(0);
    const described = { ...series, metadata: { ...metadata, unit: 'minutes' } };
    expect(rowsOf(decoding.series(2, [described]), 'metadata')).toHaveLength(1);
    const other = { ...series, labels: { __name__: 'down' } };
    expect(rowsOf(decoding.series(2, [other]), 'metadata')).toMatchObject([{ metric_name: 'down' }]);
  });

  test('that says nothing is not stored', () => {
    const result = new RemoteWriteDecoding().series(2, [{ ...series, metadata: {} }]);
    expect(rowsOf(result, 'metadata')).toEqual([]);
  });

  test('with a fault is refused, and its series is stored', () => {
    const long = { ...series, metadata: { help: 'x'.repeat(limits.maxMetadataTextBytes + 1) } };
    const result = new RemoteWriteDecoding().series(2, [long]);
    expect(decoded(result).counts.samples).toBe(1);
    expect(decoded(result).refused).toMatchObject({
      counts: { ...noCounts, problems: 1 },
      problems: [expect.stringContaining('The metadata of the series {__name__="up", job="x"} is refused')],
    });
  });

  test('with a reference beyond the symbols is refused, and its series is stored', () => {
    const request = {
      symbols: ['', '__name__', 'up'],
      timeseries: [
        { labelsRefs: [1, 2], samples: [{ value: 1, timestamp: noonMs }], metadata: { type: 1, helpRef: 3 } },
      ],
    };
    const message = requestV2Type.encode(requestV2Type.fromObject(request)).finish();
    const result = new RemoteWriteDecoding().message(2, message);
    expect(decoded(result).counts.samples).toBe(1);
    expect(decoded(result).refused?.problems[0]).toContain('the reference 3 is beyond the 3 symbols');
  });
});

/** A message of one version of remote write that is declared as the other. */
import { describe, expect, test } from 'vitest';
import { decoded, refusal, rowsOf } from '../../../support/decode/decoded.ts';
import { bytesField, message, varintField } from '../../../support/decode/wire.ts';
import { RemoteWriteDecoding } from '../../../support/remote-write/remote-write-decoding.ts';
import {
  encodeRequestV2,
  encodeWriteRequest,
  type TestSeries,
} from '../../../support/remote-write/remote-write-requests.ts';

const samples = [{ value: 1, timestampMs: 1_763_640_000_000 }];
const up: TestSeries = { labels: { __name__: 'up', job: 'x' }, samples };

const isRefused = (declared: 1 | 2, body: Uint8Array, text: string): void => {
  const error = refusal(new RemoteWriteDecoding().message(declared, body));
  expect(error.code).toBe('bad_protobuf');
  expect(error.message).toContain(text);
};

describe('a message of version 2.0 that is declared as 1.0', () => {
  const text = 'is a message of Remote Write 2.0, and it is declared as one of 1.0';

  test('is refused', () => isRefused(1, encodeRequestV2([up]), text));
  test('is refused if it has symbols alone', () => isRefused(1, encodeRequestV2([]), text));
  test('is refused if it has series alone', () => isRefused(1, bytesField(5, Buffer.alloc(0)), text));
  test('is refused behind series of version 1.0', () =>
    isRefused(1, message([encodeWriteRequest([up]), encodeRequestV2([up])]), text));
});

describe('a message of version 1.0 that is declared as 2.0', () => {
  const text = 'is a message of Remote Write 1.0, and it is declared as one of 2.0';

  test('is refused', () => isRefused(2, encodeWriteRequest([up]), text));
  test('is refused if it has metadata alone', () =>
    isRefused(2, encodeWriteRequest([], [{ family: 'up', help: 'h' }]), text));
  test('is refused behind series of version 2.0', () =>
    isRefused(2, message([encodeRequestV2([up]), encodeWriteRequest([up])]), text));
});

test.each([1, 2] as const)(
  'fields that neither version %d nor the other one knows are skipped',
  (version) => {
    const whole = version === 1 ? encodeWriteRequest([up]) : encodeRequestV2([up]);
    const unknown = [
      bytesField(9, Buffer.from('new')),
      varintField(version === 1 ? 4 : 1, 7),
      varintField(1000, 1),
    ];
    const result = new RemoteWriteDecoding().message(version, message([whole, ...unknown]));
    expect(decoded(result).refused).toBeUndefined();
    expect(rowsOf(result, 'samples')).toHaveLength(1);
  },
);

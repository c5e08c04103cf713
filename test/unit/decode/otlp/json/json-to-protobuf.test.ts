/**
 * The transcoder: what is copied in one go, and what is read with care, become the same message as protobufjs
 * makes of it.
 */
import { expect, test } from 'vitest';
import { JsonToProtobuf } from '../../../../../src/decode/otlp/json/json-to-protobuf.ts';
import { logsRequest } from '../../../../../src/decode/otlp/logs/log-descriptors.ts';
import { limits } from '../../../../../src/limits/limits.ts';
import { caughtError } from '../../../../support/lib/caught.ts';
import {
  encodeJson,
  plainStyle,
  requestTypes,
  type TestRequest,
} from '../../../../support/otlp/otlp-requests.ts';

const { logs } = requestTypes;
const request = (...records: readonly TestRequest[]): TestRequest => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: records }] }],
});
const transcoder = new JsonToProtobuf(logsRequest);
/** The records of a message as protobufjs reads them. */
const recordsOf = (message: Buffer): unknown => {
  const object = logs.toObject(logs.decode(message), { longs: String, bytes: String }) as {
    resourceLogs: { scopeLogs: { logRecords: unknown }[] }[];
  };
  return object.resourceLogs[0]?.scopeLogs[0]?.logRecords;
};
const styles = [plainStyle, { ...plainStyle, indent: true }];
/** Asserts what becomes of a record, in compact JSON and with white space. */
const expectRecord = (record: TestRequest, expected: object): void => {
  for (const style of styles) {
    expect(recordsOf(transcoder.convert(encodeJson(request(record), style)))).toEqual([expected]);
  }
};

/** Lengths around those at which a length takes one more byte. */
const lengths = [1, 100, ...Array.from({ length: 16 }, (_, index) => 116 + index), 16_370, 16_384, 100_000];

test.each(lengths)('texts of %i bytes', (length) => {
  const stringValue = 'v'.repeat(length);
  const attributes = [
    { key: 'k', value: { stringValue } },
    { key: stringValue, value: { stringValue: 'v' } },
    { key: stringValue, value: { stringValue } },
    { key: stringValue, value: { intValue: '7' } },
  ];
  expectRecord(
    { severityText: stringValue, body: { stringValue }, attributes },
    { severityText: stringValue, body: { stringValue }, attributes },
  );
});

test.each([
  ...['0', '127', '128', '16384', '999999999', '1000000000', '2147483648', '9223372036854775807'],
  ...['-1', '-9223372036854775808'],
])('the integer %s', (intValue) => {
  const attributes = [{ key: 'k', value: { intValue } }];
  expectRecord({ attributes }, { attributes });
  if (!Number.isSafeInteger(Number(intValue))) return;
  expectRecord(
    { attributes: [{ key: 'k', value: { intValue: Number(intValue) as never } }] },
    { attributes },
  );
});

test.each([1, 8, 15, 16, 17, 127, 128, 300])('an id of %i bytes', (length) => {
  const traceId = Buffer.alloc(length, 0xa7);
  expectRecord({ traceId }, { traceId: traceId.toString('base64') });
});

test('digits of an id may be escaped', () => {
  const body = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"spanId":"\\u0061b"}]}]}]}';
  expect(recordsOf(transcoder.convert(Buffer.from(body)))).toEqual([{ spanId: 'qw==' }]);
});

test.each([
  ['{"attributes":[{"key":"k","value":{"intValue":01}}]}', 'must not begin with a zero'],
  ['{"attributes":[{"key":"k","value":{"intValue":"1x"}}]}', 'an integer of 64 bits'],
  ['{"attributes":[{"key":"k\n","value":{"stringValue":""}}]}', 'a control character'],
  ['{"attributes":[{"key":"k","value":{"stringValue":"\t"}}]}', 'a control character'],
  ['{"body":{"stringValue":"\\x"}}', 'this escape is not allowed'],
  ['{"attributes":[{"key":"k","value":{"stringValue":"v"}', 'expected "," or "}"'],
  ['{"attributes":[{"key":"k","value":{"stringValue":"v', 'within a string'],
  ['{"attributes":[{"key":"k","value":{"intValue":4', 'expected "," or "}"'],
  ['{"traceId":"ab', 'within a string'],
])('%s is refused: %s', (record, words) => {
  const body = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}`);
  expect(caughtError(() => transcoder.convert(body))).toMatchObject({
    code: 'bad_json',
    message: expect.stringContaining(words),
  });
});

test('the memory of a large message is given back, that of others is used again', () => {
  const convert = (bytes: number): ArrayBufferLike =>
    transcoder.convert(encodeJson(request({ severityText: 'x'.repeat(bytes) }))).buffer;
  const first = convert(1000);
  expect(convert(2000)).toBe(first);
  const large = convert(limits.maxKeptMessageBytes);
  expect(convert(1000)).not.toBe(large);
});

/** What single records become: leniency, bounds, and what is refused with which words. */
import { describe, expect, test } from 'vitest';
import { decodeJsonLogs } from '../../../../src/decode/otlp/logs/json-logs.ts';
import { decodeProtobufLogs } from '../../../../src/decode/otlp/logs/protobuf-logs.ts';
import { decodeJsonTraces } from '../../../../src/decode/otlp/traces/json-traces.ts';
import { decodeProtobufTraces } from '../../../../src/decode/otlp/traces/protobuf-traces.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { nativeRows } from '../../../support/clickhouse/native-rows.ts';
import { caughtCode, caughtError } from '../../../support/lib/caught.ts';
import {
  encodeJson,
  encodeProtobuf,
  type TestRequest,
  type TestValue,
} from '../../../support/otlp/otlp-requests.ts';

const receivedMicros = 1_763_640_000_000_000;
const inJson = (text: string) => decodeJsonLogs(Buffer.from(text), receivedMicros);
/** The only row of a log record that is written in JSON. */
const row = (record: string) => {
  const { blocks } = inJson(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`);
  return blocks.flatMap(nativeRows)[0] ?? {};
};
const attribute = (value: string) => row(`{"attributes":[{"key":"k","value":${value}}]}`)['attributes'];

const request = (...records: readonly TestRequest[]): TestRequest => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: records }] }],
});
const both = (...records: readonly TestRequest[]) => [
  decodeJsonLogs(encodeJson(request(...records)), receivedMicros),
  decodeProtobufLogs(encodeProtobuf('logs', request(...records)), receivedMicros),
];
const withAttributes = (...attributes: readonly TestValue[]): TestRequest => ({ attributes });
const text = (key: string, stringValue: string): TestValue => ({ key, value: { stringValue } });

describe('JSON is read as the Collector reads it', () => {
  test.each([
    ['{"intValue":"9223372036854775807"}', '9223372036854775807'],
    ['{"intValue":-9223372036854775808}', '-9223372036854775808'],
    ['{"intValue":9007199254740993}', '9007199254740993'],
    ['{"int_value":"-0"}', '0'],
    ['{"intValue":"007"}', '7'],
    ['{"intValue":1e3}', '1000'],
    ['{"intValue":5.0}', '5'],
    ['{"intValue":-12}', '-12'],
    ['{"intValue":"-0"}', '0'],
    ['{"intValue":"-012"}', '-12'],
    ['{"stringValue":"a","intValue":"1"}', '1'],
    ['{"intValue":"1","stringValue":"a"}', 'a'],
    ['{"stringValue":"a" }', 'a'],
    ['{"stringValue":"a\\n"}', 'a\n'],
    ['{"doubleValue":"NaN"}', 'NaN'],
    ['{"doubleValue":"-Infinity"}', '-Infinity'],
    ['{"doubleValue":"1.5"}', '1.5'],
    ['{"doubleValue":-0}', '-0'],
    ['{"doubleValue":-0.0}', '-0'],
    ['{"doubleValue":"-0"}', '-0'],
    ['{"doubleValue":-0e5}', '-0'],
    ['{"doubleValue":0}', '0'],
    ['{"doubleValue":-1e-400}', '-0'],
    ['{"arrayValue":{"values":[{"doubleValue":-0},{"doubleValue":0}]}}', '[-0,0]'],
    ['{"doubleValue":1e400}', 'Infinity'],
    ['{"doubleValue":12345678901234567890}', '12345678901234567000'],
    ['{"boolValue":false}', 'false'],
    ['{"bytesValue":"_-8"}', '/+8='],
    ['{"bytesValue":""}', ''],
    ['{}', 'null'],
    ['null', 'null'],
    ['{"stringValue":null}', 'null'],
    ['{"stringValue":"\\ud83d\\ude00"}', '😀'],
    ['{"arrayValue":{}}', '[]'],
    ['{"arrayValue":{"values":[{},{"doubleValue":"NaN"},{"bytesValue":"AQI="}]}}', '[null,"NaN","AQI="]'],
    ['{"kvlistValue":{"values":[{"value":{"intValue":1},"key":"b"},{"key":"a"}]}}', '{"b":1,"a":null}'],
  ])('the value %s is stored as %s', (value, stored) => {
    expect(attribute(value)).toEqual([['k', stored]]);
  });

  test.each([
    '{"key":"k","value":{"stringValue":"a"} }',
    ' { "key" : "k" , "value" : { "stringValue" : "a" } } ',
    '{"value":{"stringValue":"a"},"key":"k"}',
    '{"key":"x","value":{"stringValue":"a"},"key":"k"}',
    '{"key":"k","value":{"stringValue":"b"},"value":{"stringValue":"a"}}',
    '{"key":"\\u006b","value":{"stringValue":"\\u0061"}}',
    '{"key":"k","value":{"stringValue":"a"},"more":[{}]}',
    '{"k\\u0065y":"k","value":{"string\\u0056alue":"a"}}',
  ])('the attribute %s', (pair) => {
    expect(row(`{"attributes":[${pair},{"key":"l","value":{"stringValue":"b"}}]}`)['attributes']).toEqual([
      ['k', 'a'],
      ['l', 'b'],
    ]);
  });

  test('enums by number, by number in a string and by name', () => {
    for (const severity of ['10', '"10"', '"SEVERITY_NUMBER_INFO2"']) {
      expect(row(`{"severityNumber":${severity}}`)['severity_number']).toBe(10);
    }
    const kind = (value: string) =>
      decodeJsonTraces(
        Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":${value}}]}]}]}`),
        receivedMicros,
      ).blocks.flatMap(nativeRows)[0]?.['kind'];
    expect([kind('2'), kind('"SPAN_KIND_SERVER"'), kind('99')]).toEqual([2, 2, 99]);
  });

  test('times as strings and as numbers, exactly', () => {
    for (const time of ['"1763640000123456789"', '1763640000123456789']) {
      expect(row(`{"timeUnixNano":${time}}`)['timestamp']).toBe('1763640000123456789');
    }
  });

  test('nulls, unknown fields, either order of members, a byte order mark', () => {
    const { blocks } = inJson(
      '\ufeff{"x":[{"y":"\\""}],"resourceLogs":[null,{"scopeLogs":[{"logRecords":[{"body":null,"z":{}}],"scope":{"name":"s"}}],"resource":{"attributes":[{"value":{"stringValue":"v"},"key":"service.name"}]}}]}',
    );
    expect(blocks.flatMap(nativeRows)).toMatchObject([{ service_name: 'v', scope_name: 's', body: '' }]);
  });

  test.each([
    ['', 'expected an object'],
    ['[]', 'expected an object'],
    ['{"resourceLogs":{}}', 'expected an array'],
    ['{"resourceLogs":[]} x', 'expected nothing after the request'],
    ['{"resourceLogs":[', 'expected an object'],
  ])('%s is malformed: %s', (body, words) => {
    expect(caughtError(() => inJson(body))).toMatchObject({
      code: 'bad_json',
      message: expect.stringContaining(words),
    });
  });

  test.each([
    ['{"timeUnixNano":"x"}', 'an unsigned integer of 64 bits'],
    ['{"timeUnixNano":-1}', 'an unsigned integer of 64 bits'],
    ['{"timeUnixNano":"18446744073709551616"}', 'an unsigned integer of 64 bits'],
    ['{"timeUnixNano":1.5}', 'an unsigned integer of 64 bits'],
    ['{"flags":4294967296}', 'an unsigned integer of 32 bits'],
    ['{"severityNumber":"LOUD"}', 'a number or the name of a value'],
    ['{"severityNumber":01}', 'must not begin with a zero'],
    ['{"severityText":5}', 'expected a string'],
    ['{"traceId":"xy"}', 'pairs of hexadecimal digits'],
    ['{"traceId":"abc"}', 'pairs of hexadecimal digits'],
    ['{"body":{"boolValue":"true"}}', 'true or false'],
    ['{"body":{"doubleValue":"one"}}', 'a number'],
    ['{"body":{"intValue":"9223372036854775808"}}', 'an integer of 64 bits'],
    ['{"body":{"bytesValue":"!"}}', 'base64'],
    ['{"body":"text"}', 'an object'],
    ['{"attributes":{}}', 'an array'],
  ])('%s is refused with the place and what was expected: %s', (record, words) => {
    expect(caughtError(() => row(record))).toMatchObject({
      code: 'bad_json',
      message: expect.stringMatching(new RegExp(`line 1, column \\d+.*${words}`)),
    });
  });
});

describe('a record that cannot be stored is refused alone, and named', () => {
  const tooManyKeys = Array.from({ length: limits.maxAttributesPerRecord + 1 }, (_, index) =>
    text(`k${index}`, ''),
  );
  test.each([
    ['a time beyond the range', { timeUnixNano: 2n ** 63n }, 'its time is beyond the year 2106'],
    [
      'a long key',
      withAttributes(text('k'.repeat(limits.maxAttributeKeyBytes + 1), '')),
      'an attribute key has 1025',
    ],
    ['many attributes', withAttributes(...tooManyKeys), 'it has more than 4096 attributes'],
    [
      'a long body',
      { body: { stringValue: 'x'.repeat(limits.maxAttributeValueBytes + 1) } },
      'its body has 16777217',
    ],
  ])('%s', (_, bad, words) => {
    for (const { blocks, counts, refused } of both({ severityText: 'a' }, bad, { severityText: 'b' })) {
      expect(blocks.flatMap(nativeRows).map((each) => each['severity_text'])).toEqual(['a', 'b']);
      expect(counts.logs).toBe(2);
      expect(refused?.counts).toMatchObject({ logs: 1, problems: 1 });
      expect(refused?.problems).toEqual([expect.stringContaining(`log record 2 of the request: ${words}`)]);
    }
  });

  test('a resource that cannot be stored takes its records with it, and no others', () => {
    const bad = { attributes: [text('k'.repeat(limits.maxAttributeKeyBytes + 1), '')] };
    const scopeLogs = [{ logRecords: [{}, {}] }];
    const body: TestRequest = { resourceLogs: [{ resource: bad, scopeLogs }, { scopeLogs }] };
    for (const { counts, refused } of [
      decodeJsonLogs(encodeJson(body), receivedMicros),
      decodeProtobufLogs(encodeProtobuf('logs', body), receivedMicros),
    ]) {
      expect([counts.logs, refused?.counts.logs]).toEqual([2, 2]);
    }
    // Behind its records, it is known too late.
    const late = encodeJson({ resourceLogs: [{ scopeLogs, resource: bad }] });
    expect(caughtError(() => decodeJsonLogs(late, receivedMicros))).toMatchObject({ code: 'bad_record' });
  });

  test('the first problems are spelled out, all are counted', () => {
    const bad = Array.from({ length: 30 }, () => ({ timeUnixNano: 2n ** 64n - 1n }));
    for (const { blocks, refused } of both(...bad)) {
      expect(blocks).toEqual([]);
      expect([refused?.counts.logs, refused?.problems.length]).toEqual([30, limits.maxReportedProblems]);
    }
  });
});

test('a double of minus zero is -0 in both encodings', () => {
  const minusZero = { doubleValue: -0 };
  const nested = {
    arrayValue: { values: [minusZero, { kvlistValue: { values: [{ key: 'k', value: minusZero }] } }] },
  };
  const record = {
    body: minusZero,
    ...withAttributes({ key: 'a', value: minusZero }, { key: 'b', value: nested }),
  };
  for (const { blocks } of both(record)) {
    expect(blocks.flatMap(nativeRows)).toMatchObject([
      {
        body: '-0',
        attributes: [
          ['a', '-0'],
          ['b', '[-0,{"k":-0}]'],
        ],
      },
    ]);
  }
});

describe('an id of a wrong length', () => {
  const trace = Buffer.alloc(16, 7);
  const span = Buffer.alloc(8, 7);
  const spansOf = (...spans: readonly TestRequest[]) => {
    const body: TestRequest = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    return [
      decodeJsonTraces(encodeJson(body), receivedMicros),
      decodeProtobufTraces(encodeProtobuf('traces', body), receivedMicros),
    ];
  };
  const whole = { traceId: trace, spanId: span, name: 'whole' };

  test.each([
    ['trace id', { traceId: trace.subarray(1) }, 'its trace id has 15 bytes and not 16'],
    ['trace id', { traceId: Buffer.alloc(17, 7) }, 'its trace id has 17 bytes and not 16'],
    ['trace id of zeros', { traceId: Buffer.alloc(3) }, 'its trace id has 3 bytes and not 16'],
    ['span id', { spanId: trace }, 'its span id has 16 bytes and not 8'],
    ['id of the parent', { parentSpanId: Buffer.alloc(1, 7) }, 'its parent span id has 1 bytes and not 8'],
  ])('refuses its span: %s', (_, ids, words) => {
    for (const { blocks, counts, refused } of spansOf(whole, { ...whole, ...ids, name: 'broken' }, whole)) {
      expect(blocks.flatMap(nativeRows).map((each) => each['name'])).toEqual(['whole', 'whole']);
      expect(counts).toMatchObject({ spans: 2, problems: 1 });
      expect(refused?.counts).toMatchObject({ spans: 1, problems: 1 });
      expect(refused?.problems).toEqual([`span 2 of the request: ${words}`]);
    }
  });

  test('is left out of a link, which stays, and is named', () => {
    const links = [
      { traceId: trace, spanId: span },
      { traceId: trace.subarray(2), spanId: span },
    ];
    for (const { blocks, counts, refused } of spansOf({ ...whole, links }, whole)) {
      expect(blocks.flatMap(nativeRows)[0]).toMatchObject({
        links_trace_id: [trace.toString('hex'), ''],
        links_span_id: [span.toString('hex'), span.toString('hex')],
      });
      expect(counts).toMatchObject({ spans: 2, problems: 1 });
      expect(refused).toMatchObject({
        counts: { spans: 0, problems: 1 },
        problems: ['span 1 of the request: the trace id of a link has 14 bytes and not 16, and is left out'],
      });
    }
  });

  test('is left out of a log record, which stays, and is named', () => {
    const records = [
      { severityText: 'a', traceId: trace, spanId: span },
      { severityText: 'b', traceId: trace.subarray(1), spanId: span },
      { severityText: 'c', traceId: trace, spanId: trace },
    ];
    for (const { blocks, counts, refused } of both(...records)) {
      expect(blocks.flatMap(nativeRows).map((each) => [each['trace_id'], each['span_id']])).toEqual([
        [trace.toString('hex'), span.toString('hex')],
        ['', span.toString('hex')],
        [trace.toString('hex'), ''],
      ]);
      expect(counts).toMatchObject({ logs: 3, problems: 2 });
      expect(refused).toMatchObject({
        counts: { logs: 0, problems: 2 },
        problems: [
          'log record 2 of the request: its trace id has 15 bytes and not 16, and is left out',
          'log record 3 of the request: its span id has 16 bytes and not 8, and is left out',
        ],
      });
    }
  });

  test('is none if it is empty or all zeros', () => {
    const none = { traceId: Buffer.alloc(16), spanId: Buffer.alloc(0), parentSpanId: Buffer.alloc(8) };
    for (const { counts, refused } of [...spansOf({ ...none, links: [none] }), ...both(none)]) {
      expect(counts).toMatchObject({ problems: 0 });
      expect(refused).toBeUndefined();
    }
  });
});

describe('what a small body can inflate is bounded', () => {
  test('records of a few bytes', () => {
    const records = Buffer.concat(
      Array.from({ length: limits.maxRecordsPerRequest + 1 }, () => Buffer.from([0x12, 0])),
    );
    const length = (bytes: Buffer): Buffer => {
      const varint: number[] = [];
      for (let rest = bytes.length; ; rest >>>= 7) {
        if (rest < 0x80) return Buffer.from([...varint, rest]);
        varint.push((rest & 0x7f) | 0x80);
      }
    };
    const scope = Buffer.concat([Buffer.from([0x12]), length(records), records]);
    const body = Buffer.concat([Buffer.from([0x0a]), length(scope), scope]);
    expect(caughtCode(() => decodeProtobufLogs(body, receivedMicros))).toBe('body_too_large');
  });

  test('a large resource with many records', () => {
    const resource = { attributes: [text('k', 'x'.repeat(1_000_000))] };
    const body = {
      resourceLogs: [{ resource, scopeLogs: [{ logRecords: Array.from({ length: 300 }, () => ({})) }] }],
    };
    expect(caughtCode(() => decodeProtobufLogs(encodeProtobuf('logs', body), receivedMicros))).toBe(
      'body_too_large',
    );
  });

  test('ever new keys', () => {
    const records = Array.from({ length: 26 }, (_, record) =>
      withAttributes(...Array.from({ length: 4000 }, (__, index) => text(`${record}.${index}`, ''))),
    );
    expect(caughtCode(() => both(...records))).toBe('body_too_large');
  });
});

test('text that is not UTF-8 is repaired in protobuf', () => {
  const message = encodeProtobuf('logs', request({ severityText: 'abcdef' }));
  message[message.indexOf('abcdef') + 2] = 0xff;
  const [stored] = decodeProtobufLogs(message, receivedMicros).blocks.flatMap(nativeRows);
  expect(stored?.['severity_text']).toBe('ab\ufffddef');
});

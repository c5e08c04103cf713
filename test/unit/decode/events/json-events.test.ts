import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { decodeJsonEvents } from '../../../../src/decode/events/json-events.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { noCounts } from '../../../../src/model/counts.ts';
import { NativeFiles, type Row } from '../../../support/clickhouse/native-file.ts';
import { caughtCode, caughtError } from '../../../support/lib/caught.ts';

const files = new NativeFiles();
afterAll(() => files.close());

const receivedMicros = 1_763_600_000_123_456;

const decode = (text: string | Buffer, format: 'json' | 'ndjson' = 'json') =>
  decodeJsonEvents(Buffer.from(text), format, receivedMicros);

/** The events as the store has them: columns that are not null, without the time. */
async function stored(text: string, format: 'json' | 'ndjson' = 'json'): Promise<Row[]> {
  const { blocks, counts } = decode(text, format);
  const rows = await files.read(blocks.map(({ bytes }) => bytes));
  expect(rows).toHaveLength(counts.events);
  return rows.map(({ p_timestamp, ...fields }) => {
    expect(p_timestamp).toBe('2025-11-20 00:53:20.123456');
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  });
}

describe('documents', () => {
  const one = [{ 'a:num': 1 }];
  const two = [{ 'a:num': 1 }, { 'a:num': 2 }];

  test.each([
    ['an array', '[{"a":1},{"a":2}]', two],
    ['an array with white space', ' \r\n[ {\t"a" : 1 } ,\n{ "a":2} ] \n', two],
    ['a single object', '{"a":1}', one],
    ['a single object on several lines', '{\n  "a": 1\n}\n', one],
    ['lines', '{"a":1}\n{"a":2}\n', two],
    ['lines that end with CR LF, and empty ones', '{"a":1}\r\n\r\n{"a":2}', two],
    ['a byte order mark', '\ufeff{"a":1}', one],
    ['an event without fields', '[{}]', [{}]],
  ])('json takes %s', async (_, text, expected) => {
    expect(await stored(text)).toEqual(expected);
  });

  test('ndjson takes lines', async () => {
    expect(await stored('{"a":1}\n{"a":2}', 'ndjson')).toEqual(two);
  });

  test.each([
    ['json', '[]'],
    ['json', ' [ ] '],
    ['ndjson', ''],
    ['ndjson', ' \n\n'],
  ] as const)('%s of %j holds no events and makes no block', (format, text) => {
    expect(decode(text, format)).toEqual({ blocks: [], counts: noCounts });
  });

  test.each([
    ['', 'line 1, column 1'],
    ['[', 'line 1, column 2, where the text ends'],
    ['[{"a":1}', 'line 1, column 9, where the text ends'],
    ['[{"a":1},]', 'line 1, column 10'],
    ['[{"a":1}] x', 'line 1, column 11'],
    ['[{"a":1}]\n[{"a":1}]', 'line 2, column 1'],
    ['{"a":1} {"a":2}', 'expected a line break'],
    ['{"a":1}\n{"a":2', 'line 2, column 7, where the text ends'],
    ['{"a":1}\n{"a" 2}', 'line 2, column 6'],
    ['{"a":1,}', 'line 1, column 8'],
    ['{a:1}', 'line 1, column 2'],
    ["{'a':1}", 'line 1, column 2'],
    ['{"a":01}', 'begin with a zero'],
    ['{"a":1.}', 'after "."'],
    ['{"a":-}', 'after "-"'],
    ['{"a":1e}', 'exponent'],
    ['{"a":nul}', 'expected a value'],
    ['{"a":NaN}', 'expected a value'],
    ['{"a":"\t"}', 'control character'],
    ['{"a":"\\x"}', 'escape'],
    ['{"a":"\\u12g4"}', 'escape'],
    ['{"a":"', 'ends within a string'],
    ['{"a":"\\', 'ends within a string'],
    ['{"a":[1 2]}', 'expected "," or "]"'],
    ['{"a":[1}', 'expected "," or "]"'],
    ['{"a":[{"b":[]]}', 'expected "," or "}"'],
  ])('%j is refused, saying where and why', (text, message) => {
    const error = caughtError(() => decode(text));
    expect(error.code).toBe('bad_json');
    expect(error.message).toContain(message);
  });

  test('an event larger than allowed is refused by its own size, whatever comes with it', () => {
    const small = JSON.stringify({ a: 'x'.repeat(92) });
    const decodeBounded = (text: string, format: 'json' | 'ndjson') =>
      decodeJsonEvents(Buffer.from(text), format, receivedMicros, 100);
    expect(small).toHaveLength(100);
    expect(decodeBounded(`[${small} , ${small}]`, 'json').counts.events).toBe(2);
    const error = caughtError(() => decodeBounded(`[${small},${small.replace('x', 'yy')}]`, 'json'));
    expect([error.code, error.message]).toEqual([
      'event_too_large',
      'element 2 has 101 bytes; at most 100 are allowed',
    ]);
    const line = () => decodeBounded(`${small}\n${small.replace('x', 'yy')}`, 'ndjson');
    expect(caughtError(line).message).toContain('line 2 has 101 bytes');
  });

  test('text that is not UTF-8 is refused, wherever it is', () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(caughtCode(() => decode(body))).toBe('bad_json');
    }
  });

  test.each([
    ['json', '[{"a":1},{"a":2},3]', 'element 3 is a number'],
    ['json', '["x"]', 'element 1 is a string'],
    ['json', '[{},[]]', 'element 2 is an array'],
    ['json', '[null]', 'element 1 is null'],
    ['json', 'true', 'line 1 is a boolean'],
    ['ndjson', '{"a":1}\n\n-5\n', 'line 3 is a number'],
    ['ndjson', '[{"a":1}]', 'line 1 is an array'],
  ] as const)('%s %j is refused, naming the element', (format, text, message) => {
    const error = caughtError(() => decode(text, format));
    expect(error.code).toBe('bad_event');
    expect(error.message).toContain(message);
  });
});

describe('fields', () => {
  test.each<[string, string, Row[]]>([
    [
      'types have columns of their own',
      '[{"a":1},{"a":"x"},{"a":true}]',
      [{ 'a:num': 1 }, { 'a:str': 'x' }, { 'a:bool': true }],
    ],
    ['null is absent', '[{"a":null,"b":1}]', [{ 'b:num': 1 }]],
    ['objects flatten', '{"a":{"b":{"c":1},"d":"x"}}', [{ 'a_b_c:num': 1, 'a_d:str': 'x' }]],
    ['arrays stay JSON text', '{"a":[1, {"b": "x"}, []]}', [{ 'a:str': '[1,{"b":"x"},[]]' }]],
    ['empty objects stay JSON text', '{"a":{ },"b":{"c":{}}}', [{ 'a:str': '{}', 'b_c:str': '{}' }]],
    [
      'integers beyond 2^53 are strings',
      '{"a":9007199254740993,"b":-18446744073709551615}',
      [{ 'a:str': '9007199254740993', 'b:str': '-18446744073709551615' }],
    ],
    ['integers up to 2^53 are numbers', '{"a":9007199254740992}', [{ 'a:num': 9007199254740992 }]],
    [
      'numbers that overflow are strings',
      '{"a":1e400,"b":-1e400}',
      [{ 'a:str': '1e400', 'b:str': '-1e400' }],
    ],
    [
      'arrays keep the numbers as sent',
      '{"a":[9007199254740993,1e400,"9007199254740993"]}',
      [{ 'a:str': '[9007199254740993,1e400,"9007199254740993"]' }],
    ],
    ['an empty name gets an underscore', '{"":1,"a":{"":2}}', [{ '_:num': 1, 'a_:num': 2 }]],
    [
      'names of the system get an underscore, and share it with fields that have one',
      '[{"p_timestamp":1,"p_overflow":"x","a":{"p_timestamp":2}},{"p_timestamp":1,"_p_timestamp":2},{"_":1,"":2}]',
      [
        { '_p_timestamp:num': 1, '_p_overflow:str': 'x', 'a_p_timestamp:num': 2 },
        { '_p_timestamp:num': 2 },
        { '_:num': 2 },
      ],
    ],
    [
      '__proto__ and constructor are names',
      '{"__proto__":1,"constructor":"x","a":{"__proto__":2}}',
      [{ '__proto__:num': 1, 'constructor:str': 'x', 'a___proto__:num': 2 }],
    ],
    [
      'names take any character',
      '{"größe.m²/\\"s\\"`\\\\":1,"a b":2}',
      [{ 'größe.m²/"s"`\\:num': 1, 'a b:num': 2 }],
    ],
    ['escapes in names mean the same name', '[{"a\\u0062":1},{"ab":2}]', [{ 'ab:num': 1 }, { 'ab:num': 2 }]],
    [
      'names that are written alike, one with escapes, are different',
      '[{"a\\\\nb":1},{"a\\nb":2},{"a\\\\nb":3}]',
      [{ 'a\\nb:num': 1 }, { 'a\nb:num': 2 }, { 'a\\nb:num': 3 }],
    ],
    ['lone surrogates become U+FFFD', '{"a\\ud800":"x\\udfff"}', [{ 'a\ufffd:str': 'x\ufffd' }]],
    ['a NUL character is kept', '{"a":"x\\u0000y"}', [{ 'a:str': 'x\u0000y' }]],
  ])('%s', async (_, text, expected) => {
    // Entries, since an object literal cannot have a key __proto__.
    const entries = (rows: readonly Row[]) => rows.map((row) => Object.entries(row));
    expect(entries(await stored(text))).toEqual(entries(expected.map((row) => ({ ...row }))));
  });

  test.each<[string, Row[]]>([
    ['{"a":1,"a":2}', [{ 'a:num': 2 }]],
    ['{"a":1,"a":"x"}', [{ 'a:str': 'x' }]],
    ['{"a":1,"a":null}', [{}]],
    ['{"a":{"b":1,"c":2},"a":{"b":3}}', [{ 'a_b:num': 3 }]],
    ['{"a":{"b":{"c":1}},"a":5}', [{ 'a:num': 5 }]],
    ['{"a":5,"a":{"b":1}}', [{ 'a_b:num': 1 }]],
    ['{"a":{"b":1},"a_b":2}', [{ 'a_b:num': 2 }]],
    ['{"a_b":"x","a":{"b":1}}', [{ 'a_b:num': 1 }]],
    ['{"a":"x","a":"y","a":"z"}', [{ 'a:str': 'z' }]],
    ['{"a":{"b":1},"a":{"b":2},"a":{"c":3}}', [{ 'a_c:num': 3 }]],
    [
      '[{"a":{"b":1}},{"a":{"c":1}},{"a":{"b":1},"a":2}]',
      [{ 'a_b:num': 1 }, { 'a_c:num': 1 }, { 'a:num': 2 }],
    ],
    ['[{"a":1},{},{"a":"x","a":"y"}]', [{ 'a:num': 1 }, {}, { 'a:str': 'y' }]],
    ['[{"a":1},{"a":2,"a":null},{"a":3}]', [{ 'a:num': 1 }, {}, { 'a:num': 3 }]],
  ])('of values for one name the last one counts: %s', async (text, expected) => {
    expect(await stored(text)).toEqual(expected);
  });

  test.each([
    ['{"http_request":"GET /","http":{"request":{"method":"GET"}}}', ['http_request', 'http_request_method']],
    ['{"http":{"request":{"method":"GET"}},"http_request":"GET /"}', ['http_request', 'http_request_method']],
    ['{"":"x","_":{"a":"y"}}', ['_', '__a']],
  ])('an object takes nothing from a field that has the name of its prefix: %s', async (text, names) => {
    const [row] = await stored(text);
    expect(Object.keys(row ?? {}).sort()).toEqual(names.map((name) => `${name}:str`));
  });

  test('a name has at most ten parts, and what is deeper stays JSON text', async () => {
    const nest = (levels: number): string => `${'{"k":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const parts = (count: number): string => Array(count).fill('k').join('_');
    expect(await stored(nest(10))).toEqual([{ [`${parts(10)}:num`]: 1 }]);
    expect(await stored(nest(12))).toEqual([{ [`${parts(10)}:str`]: nest(2) }]);
  });

  test('fields that come and go, in any order, stay with their events', async () => {
    const events = Array.from({ length: 500 }, (_, index) => ({
      ...(index % 3 === 0 ? { third: index } : {}),
      always: `event ${index}`,
      ...(index > 400 ? { late: index % 2 === 0 } : {}),
      ...(index % 7 === 0 ? { nested: { [`k${index % 5}`]: index } } : {}),
    }));
    const reversed = events.map((event) => Object.fromEntries(Object.entries(event).reverse()));
    const all = [...events, ...reversed];
    expect(await stored(JSON.stringify(all))).toEqual(all.map(flattened));
  });

  test('any events read back as the flattening of what JSON.parse makes of them', async () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b', 'c', '', '__proto__', 'größe'),
      fc.string({ maxLength: 8 }),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        { weight: 3, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
        { weight: 2, arbitrary: fc.integer() },
        { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    const event = fc.dictionary(key, value, { maxKeys: 6 });
    const batch = fc.record({
      events: fc.array(event, { minLength: 1, maxLength: 20 }),
      shape: fc.constantFrom('array', 'indented', 'lines'),
    });
    await fc.assert(
      fc.asyncProperty(batch, async ({ events, shape }) => {
        const text =
          shape === 'lines'
            ? events.map((one) => JSON.stringify(one)).join('\n')
            : JSON.stringify(events, null, shape === 'indented' ? 1 : undefined);
        // What was parsed, not what was generated: JSON has no undefined, and keys have an order of their
        // own.
        const parsed = events.map((one) => JSON.parse(JSON.stringify(one)) as Record<string, unknown>);
        fc.pre(parsed.every(hasDistinctNames));
        const byName = (row: Row) => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
        const expected = parsed.map((one) => byName(flattened(one)));
        expect((await stored(text)).map(byName)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });
});

describe('bounds', () => {
  test('a field name of 250 bytes is stored, a longer one is refused, naming event and field', async () => {
    const name = 'é'.repeat(limits.maxFieldNameBytes / 2);
    expect(await stored(JSON.stringify([{ [name]: 1 }]))).toEqual([{ [`${name}:num`]: 1 }]);
    for (const event of [{ [`${name}x`]: 1 }, { [name.slice(1)]: { bc: 1 } }, { [`${name}x`]: null }]) {
      const error = caughtError(() => decode(JSON.stringify([{}, event])));
      expect(error.code).toBe('bad_event');
      expect(error.message).toMatch(/^element 2: the field name "é+/);
    }
  });

  const fieldsNamed = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, value]));

  test('a bound of columns is kept to, whatever the dataset has room for', async () => {
    const fields = fieldsNamed(limits.maxColumnsPerRequest, 1);
    expect(decode(JSON.stringify(fields)).blocks[0]?.columns).toHaveLength(1 + limits.maxColumnsPerRequest);
    expect(caughtCode(() => decode(JSON.stringify([fields, { f0: 'x' }])))).toBe('too_many_columns');
  });

  test('keys that are always null are bounded, too', () => {
    const keys = JSON.stringify(fieldsNamed(limits.maxKeysPerRequest, null));
    expect(decode(keys).counts.events).toBe(1);
    expect(caughtCode(() => decode(`[${keys},{"one more":null}]`))).toBe('too_many_columns');
  });

  test('events with few fields in common are refused where the table would be enormous', () => {
    const wide = JSON.stringify(fieldsNamed(900, 1));
    const error = caughtError(() => decode(`${wide}\n${'{}\n'.repeat(100_000)}`, 'ndjson'));
    expect(error.code).toBe('body_too_large');
    expect(error.message).toContain('900 different fields');
  });

  test('one event more than allowed is refused', () => {
    const most = '{}\n'.repeat(limits.maxEventsPerRequest);
    expect(decode(most, 'ndjson').counts.events).toBe(limits.maxEventsPerRequest);
    expect(caughtCode(() => decode(`${most}{}`, 'ndjson'))).toBe('body_too_large');
  });

  test('a key repeated with many children takes linear time', () => {
    const children = Object.keys(fieldsNamed(900, 1)).map((name) => `"${name}":1`);
    const body = `{"a":{${children.join(',')}}${',"a":{"f0":1}'.repeat(500_000)}}`;
    const start = process.cpuUsage();
    expect(decode(body).counts.events).toBe(1);
    // 450 million steps would take many seconds; half a million take a fraction of one.
    expect(process.cpuUsage(start).user).toBeLessThan(3_000_000);
  });
});

/** With U+FFFD in the place of lone surrogates. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** The rules by plain recursion over parsed values: what the decoder is checked against. */
function flattened(event: Record<string, unknown>): Row {
  const row = new Map<string, unknown>();
  const visit = (prefix: string, object: object, parts: number): void => {
    for (const [key, value] of Object.entries(object)) {
      const name = prefix + key;
      if (typeof value === 'number') {
        const inexact = Number.isInteger(value) && Math.abs(value) > 2 ** 53;
        // An integer beyond 2^53 that is written with an exponent is a number.
        const written = JSON.stringify(value);
        if (inexact && !written.includes('e')) row.set(`${name}:str`, written);
        else row.set(`${name}:num`, value);
      } else if (typeof value === 'string') row.set(`${name}:str`, wellFormed(value));
      else if (typeof value === 'boolean') row.set(`${name}:bool`, value);
      else if (typeof value === 'object' && value !== null) {
        const isText = Array.isArray(value) || Object.keys(value).length === 0 || parts === 10;
        if (isText) row.set(`${name}:str`, JSON.stringify(value));
        else visit(`${name}_`, value, parts + 1);
      }
    }
  };
  visit('', event, 1);
  // A name that is empty gets an underscore.
  return Object.fromEntries(
    [...row].map(([name, value]) => [/^:(num|str|bool)$/.test(name) ? `_${name}` : name, value]),
  );
}

/** No two places of the event flatten to the same name: JSON.parse would not tell which came last. */
function hasDistinctNames(event: object): boolean {
  const names = new Set<string>();
  const visit = (prefix: string, object: object): boolean =>
    Object.entries(object).every(([key, value]) => {
      const name = wellFormed(prefix + key);
      const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (isNested && Object.keys(value).length > 0) return visit(`${name}_`, value);
      const stored = name === '' ? '_' : name;
      if (names.has(stored)) return false;
      names.add(stored);
      return true;
    });
  return visit('', event);
}

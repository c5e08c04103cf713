import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader } from '../../../../src/decode/wire/json-reader.ts';
import { JsonTextCopier } from '../../../../src/decode/wire/json-text-copier.ts';
import { caughtError } from '../../../support/lib/caught.ts';

/** The number that a token is read as, or the token itself where a double cannot hold it. */
function readNumber(token: string): number | string {
  const reader = new JsonReader(Buffer.from(`${token},`));
  const start = reader.readNumber();
  const text = reader.bytes.toString('latin1', start, reader.position);
  expect(text).toBe(token);
  return Number.isNaN(reader.number) ? text : reader.number;
}

const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const integerPart = fc.oneof(
  fc.constant('0'),
  fc.bigInt({ min: 2n ** 53n - 20n, max: 2n ** 53n + 20n }).map(String),
  fc.tuple(fc.constantFrom(...'123456789'), digits(0, 25)).map(([first, rest]) => first + rest),
);
const numberToken = fc
  .tuple(
    fc.constantFrom('', '-'),
    integerPart,
    fc.option(digits(1, 30), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits(1, 4)), { nil: undefined }),
  )
  .map(([sign, integer, fraction, exponent]) => ({
    token: `${sign}${integer}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
    integer: fraction === undefined && exponent === undefined ? BigInt(sign + integer) : undefined,
  }));

describe('numbers', () => {
  test('are the nearest double, or their own text where that would lose an integer or overflow', () => {
    fc.assert(
      fc.property(numberToken, ({ token, integer }) => {
        const parsed: unknown = JSON.parse(token);
        const beyond = integer === undefined ? false : integer > 2n ** 53n || integer < -(2n ** 53n);
        expect(readNumber(token)).toBe(beyond || !Number.isFinite(parsed) ? token : parsed);
      }),
      { numRuns: 20_000 },
    );
  });

  test('every double comes back from its shortest text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const token = JSON.stringify(value);
        const isInteger = /^-?\d+$/.test(token);
        expect(readNumber(token)).toBe(isInteger && Math.abs(value) > 2 ** 53 ? token : JSON.parse(token));
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['9007199254740991', 2 ** 53 - 1],
    ['9007199254740992', 2 ** 53],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740992', -(2 ** 53)],
    ['-9007199254740993', '-9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    ['1e400', '1e400'],
    ['-1E+999', '-1E+999'],
    ['1e-400', 0],
    ['-0', -0],
    ['0.1', 0.1],
    ['123456789.012345', 123456789.012345],
    ['9007199254740993.0', 9007199254740992],
  ])('%s is read as %s', (token, expected) => {
    expect(readNumber(token)).toBe(expected);
  });
});

describe('strings', () => {
  test('any string comes back from its JSON text, in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), fc.boolean(), (text, escapeAll) => {
        const json = escapeAll ? escapedJson(text) : JSON.stringify(text);
        const reader = new JsonReader(Buffer.from(json), 1);
        const close = reader.closeString();
        expect(reader.position).toBe(reader.end);
        expect(reader.unescape(1, close).view()).toEqual(Buffer.from(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['\\ud800', '\ufffd'],
    ['\\udc00', '\ufffd'],
    ['\\ud800\\ud800', '\ufffd\ufffd'],
    ['\\ud83d\\ude00', '😀'],
    ['\\ud83dx', '\ufffdx'],
    ['\\ud83d\\n', '\ufffd\n'],
    ['a\\"b\\\\c\\/d\\b\\f\\n\\r\\te', 'a"b\\c/d\b\f\n\r\te'],
  ])('%s is valid UTF-8 afterwards', (escaped, expected) => {
    const reader = new JsonReader(Buffer.from(`"${escaped}"`), 1);
    expect(reader.unescape(1, reader.closeString()).view().toString()).toBe(expected);
  });

  const escapedJson = (text: string): string => {
    let json = '"';
    for (let index = 0; index < text.length; index++) {
      json += `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }
    return `${json}"`;
  };
});

describe('JSON text', () => {
  const copy = (text: string): string =>
    new JsonTextCopier()
      .copy(new JsonReader(Buffer.from(text)))
      .view()
      .toString();

  test('is copied without white space, for any value', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), fc.constantFrom(undefined, ' ', '\t'), (json, indent) => {
        const value: unknown = JSON.parse(json);
        expect(copy(JSON.stringify(value, undefined, indent))).toBe(JSON.stringify(value));
      }),
      { numRuns: 3000 },
    );
  });

  test('keeps numbers, escapes and repeated keys as they were sent', () => {
    expect(copy('[ 9007199254740993, 1e400, 1.0, "\\u0041", {"a" : 1, "a":2} ] ')).toBe(
      '[9007199254740993,1e400,1.0,"\\u0041",{"a":1,"a":2}]',
    );
  });

  test('may nest as deep as a body is long', () => {
    const depth = 1_000_000;
    const nested = '['.repeat(depth) + ']'.repeat(depth);
    expect(copy(nested)).toBe(nested);
    expect(caughtError(() => copy('[{"a":'.repeat(depth))).code).toBe('bad_json');
  });
});

test('a syntax error names the line and the column in characters', () => {
  const reader = new JsonReader(Buffer.from('[\n  {"größe": 1},\n  {"größe": x}\n]'));
  const error = caughtError(() => new JsonTextCopier().copy(reader));
  expect(error.code).toBe('bad_json');
  expect(error.message).toContain('line 3, column 13');
});

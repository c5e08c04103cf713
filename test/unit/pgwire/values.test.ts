import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { arrayText } from '../../../src/pgwire/values/array-text.ts';
import { doubleText, readDouble } from '../../../src/pgwire/values/double-text.ts';
import { readNumeric, writeNumeric } from '../../../src/pgwire/values/numeric-binary.ts';
import { readArray, readMap } from '../../../src/pgwire/values/store-literals.ts';
import { cellKind, TabSeparatedRows, unescaped } from '../../../src/pgwire/values/tab-separated-rows.ts';
import { timeZoneOf, utc } from '../../../src/pgwire/values/time-zone.ts';
import { timestampMicros, timestampText, zonedText } from '../../../src/pgwire/values/times.ts';
import { readArrayText } from '../../../src/sql/syntax/literals.ts';

const numericBytes = (text: string): Buffer => {
  const writer = new MessageWriter();
  writeNumeric(writer, text);
  return writer.take();
};

describe('numeric in binary', () => {
  test.each([
    // As PostgreSQL 15 sends them.
    ['0', '0000000000000000'],
    ['1.50', '00020000000000020001' + '1388'],
    ['-12345.678', '0003000140000003' + '000109291a7c'],
    ['0.00001', '0001fffe00000005' + '03e8'],
    ['NaN', '00000000c0000000'],
  ])('%s', (text, hex) => {
    expect(numericBytes(text).toString('hex')).toBe(hex);
  });

  test('comes back as it went', () => {
    const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${max}}$`));
    const numeric = fc.tuple(fc.boolean(), digits(40), digits(40)).map(([minus, whole, fraction]) => {
      const value = `${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`;
      return minus && /[1-9]/.test(value) ? `-${value}` : value;
    });
    fc.assert(fc.property(numeric, (text) => readNumeric(numericBytes(text)) === text));
  });

  test('damaged bytes are no value, and take no time', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = readNumeric(Buffer.from(bytes));
        expect(text === undefined || text.length < 1000).toBe(true);
      }),
    );
  });
});

test.each([
  [1e20, '1e+20'],
  [123456789012345680, '1.2345678901234568e+17'],
  [100000000000000, '100000000000000'],
  [1e15, '1e+15'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [-0, '-0'],
  [Number.NaN, 'NaN'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
  [5e-324, '5e-324'],
])('the double %s is %s', (value, text) => {
  expect(doubleText(value)).toBe(text);
});

test("the store's doubles", () => {
  expect([readDouble('inf'), readDouble('-inf'), readDouble('nan'), readDouble('1e21')]).toEqual([
    Infinity,
    -Infinity,
    Number.NaN,
    1e21,
  ]);
});

test('rows of TabSeparated, cut anywhere', () => {
  const text = 'a\t\\N\tb\\tc\\\\\n\\\\N\t\t\\n\n';
  const expected = [
    ['a', null, 'b\tc\\'],
    ['\\N', '', '\n'],
  ];
  for (let cut = 0; cut <= text.length; cut++) {
    const rows = new TabSeparatedRows(3);
    const seen: unknown[] = [];
    for (const piece of [text.slice(0, cut), text.slice(cut)]) {
      rows.push(Buffer.from(piece));
      while (rows.next()) {
        seen.push(
          Array.from(rows.kinds, (kind, index) =>
            kind === cellKind.null
              ? null
              : unescaped(rows.bytes, rows.starts[index] ?? 0, rows.ends[index] ?? 0).toString(),
          ),
        );
      }
    }
    expect(seen).toEqual(expected);
  }
});

test('arrays and maps of the store', () => {
  expect(readArray("['it\\'s','a,b',NULL,'NULL','\\\\',3,'']")).toEqual([
    "it's",
    'a,b',
    null,
    'NULL',
    '\\',
    '3',
    '',
  ]);
  expect(readArray('[]')).toEqual([]);
  expect(readMap("{'k':'v','a:b':'{,}'}")).toEqual([
    ['k', 'v'],
    ['a:b', '{,}'],
  ]);
});

test('what arrays are written as is read as the same', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.string())), (elements) => {
      expect(readArrayText(arrayText(elements))).toEqual(elements);
    }),
  );
});

describe('times', () => {
  test.each([
    '1900-01-01 00:00:00',
    '1969-12-31 23:59:59.999999',
    '2024-02-29 12:00:00.000001',
    '2299-12-31 23:59:59',
  ])('%s is the same in binary', (text) => {
    expect(timestampText(timestampMicros(text))).toBe(text);
  });

  test.each([
    ['Europe/Berlin', '2024-03-31 00:59:59.500000', '2024-03-31 01:59:59.5+01'],
    ['Europe/Berlin', '2024-03-31 01:00:00.000000', '2024-03-31 03:00:00+02'],
    ['asia/kolkata', '2024-01-01 00:00:00.000000', '2024-01-01 05:30:00+05:30'],
    ['-3', '2024-01-01 00:00:00.000000', '2023-12-31 21:00:00-03'],
    ['utc', '2024-01-01 00:00:00.000000', '2024-01-01 00:00:00+00'],
  ])('in %s', (zone, text, shown) => {
    expect(zonedText(text, timeZoneOf(zone) ?? utc)).toBe(shown);
  });

  test.each(['Nowhere/Else', "x'; --", '+99', ''])('there is no zone %s', (name) => {
    expect(timeZoneOf(name)).toBeUndefined();
  });
});

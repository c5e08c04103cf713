import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timeZoneOf, utc } from '../../../src/lib/time-zone.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { arrayText } from '../../../src/pgwire/values/array-text.ts';
import {
  cellMicros,
  integerOf,
  isPlainDouble,
  withoutZerosEnd,
} from '../../../src/pgwire/values/cell-bytes.ts';
import { doubleText, readDouble } from '../../../src/pgwire/values/double-text.ts';
import { RowEncoder } from '../../../src/pgwire/values/encoders.ts';
import { readNumeric, writeNumeric } from '../../../src/pgwire/values/numeric-binary.ts';
import { parameterValue } from '../../../src/pgwire/values/parameter-values.ts';
import { readArray, readMap } from '../../../src/pgwire/values/store-literals.ts';
import { cellKind, TabSeparatedRows, unescaped } from '../../../src/pgwire/values/tab-separated-rows.ts';
import { timestampMicros, timestampText, withoutZeros, zonedText } from '../../../src/pgwire/values/times.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { readArrayText } from '../../../src/sql/syntax/literals.ts';
import {
  arrayOf,
  float,
  int2,
  int4,
  int8,
  numeric,
  text,
  timestamp,
  timestamptz,
} from '../../../src/sql/types.ts';

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

test('rows that come in many parts, and share parts', () => {
  const cells = Array.from({ length: 50 }, (_, index) => `${index}\\t${'x'.repeat(index)}\\\\`);
  const text = Buffer.from(`${cells.join('\t')}\n`.repeat(20));
  for (const size of [1, 2, 3, 7, 64, 1000, 4001]) {
    const rows = new TabSeparatedRows(cells.length);
    let count = 0;
    for (let at = 0; at < text.length; at += size) {
      rows.push(text.subarray(at, at + size));
      while (rows.next()) {
        count += 1;
        const seen = cells.map((_, index) =>
          rows.bytes.toString('utf8', rows.starts[index] ?? 0, rows.ends[index] ?? 0),
        );
        expect(seen).toEqual(cells);
      }
    }
    expect([size, count]).toEqual([size, 20]);
  }
});

test('a row that is too long is refused while it comes, and in one part', () => {
  const part = Buffer.alloc(limits.pgMaxRowBytes / 4, 0x61);
  const rows = new TabSeparatedRows(1);
  const push = (): void => {
    for (let count = 0; count < 6; count++) {
      rows.push(part);
      rows.next();
    }
  };
  expect(push).toThrow('a row of more than');
  const whole = new TabSeparatedRows(1);
  whole.push(Buffer.concat([Buffer.alloc(limits.pgMaxRowBytes + 1, 0x61), Buffer.from('\n')]));
  expect(() => whole.next()).toThrow('a row of more than');
});

test('an array of numbers that are long in text alone is refused', () => {
  const int32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  // No digits, 100 groups of zeros before the point, and 400 digits behind it.
  const element = Buffer.concat([int32(8), Buffer.from('0000006400000190', 'hex')]);
  const array = (count: number): Buffer =>
    Buffer.concat([...[1, 0, 1700, count, 1].map(int32), ...Array.from({ length: count }, () => element)]);
  const type = postgresType(arrayOf(numeric(0, true)));
  expect(String(parameterValue(array(10), 1, type, 1)).length).toBeGreaterThan(4000);
  expect(() => parameterValue(array(50_000), 1, type, 1)).toThrow('an array of more than');
});

describe('parameters of types that no column has', () => {
  const uuid = '550e8400-e29b-41d4-a716-446655440000';
  const uuidBytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  const asUuid = (bytes: Buffer, format: 0 | 1) => parameterValue(bytes, format, postgresType(text), 1, 2950);

  test.each([
    uuid,
    uuid.toUpperCase(),
    `{${uuid}}`,
    uuid.replaceAll('-', ''),
    '550e-8400e29b41d4-a716446655440000',
  ])('the uuid %s', (written) => expect(asUuid(Buffer.from(written), 0)).toBe(uuid));

  test.each([
    '',
    `${uuid}0`,
    `{${uuid}`,
    '550-e8400e29b41d4a716446655440000',
    'g50e8400e29b41d4a716446655440000',
  ])('no uuid: %s', (written) =>
    expect(() => asUuid(Buffer.from(written), 0)).toThrow('invalid input syntax for type uuid'),
  );

  test('uuids in binary, alone and in arrays', () => {
    expect(asUuid(uuidBytes, 1)).toBe(uuid);
    expect(() => asUuid(uuidBytes.subarray(1), 1)).toThrow('incorrect binary data format');
    const header = Buffer.from(
      '00000001' + '00000000' + '00000b86' + '00000001' + '00000001' + '00000010',
      'hex',
    );
    const array = Buffer.concat([header, uuidBytes]);
    expect(parameterValue(array, 1, postgresType(arrayOf(text)), 1, 2951)).toBe(`{${uuid}}`);
  });

  test.each([
    ['0.1', '0.10000000149011612'],
    ['1.5', '1.5'],
    ['-3e2', '-300'],
    ['NaN', 'NaN'],
    ['0x10', '0x10'],
    ['1e300', '1e300'],
  ])('the real %s is %s as a double', (written, double) => {
    expect(parameterValue(Buffer.from(written), 0, postgresType(float), 1, 700)).toBe(double);
  });
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

describe('cells of the store, read from their bytes', () => {
  const cell = (text: string) => [Buffer.from(`xx${text}9`), 2, 2 + text.length] as const;
  const times = fc.tuple(
    fc.date({ min: new Date('1900-01-01'), max: new Date('2299-12-31'), noInvalidDate: true }),
    fc.integer({ min: 0, max: 999 }),
  );
  const timeText = ([date, micros]: readonly [Date, number]): string =>
    `${date.toISOString().slice(0, 23).replace('T', ' ')}${String(micros).padStart(3, '0')}`;

  test('integers, in text and as eight bytes', () => {
    const integers = fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 });
    fc.assert(
      fc.property(integers, (value) => {
        expect(integerOf(...cell(String(value)))).toBe(value);
        const written = new MessageWriter().safeInt64(value).int64(BigInt(value)).take();
        expect(written.subarray(0, 8)).toEqual(written.subarray(8));
      }),
    );
  });

  test('a double is copied only where PostgreSQL writes it like that', () => {
    const doubles = fc.oneof(
      fc.double(),
      fc.integer({ min: -1_000_000, max: 1_000_000 }).map((value) => value / 1e8),
      fc.integer().map((value) => value * 1e10),
      fc.constantFrom(0.0001, 0.00009999, -0.0001, 1e15, 999_999_999_999_999.9, 0, -0),
    );
    // As the store writes them: without an exponent up to 1e21.
    const stored = (value: number): string =>
      Object.is(value, -0) ? '-0' : Number.isNaN(value) ? 'nan' : String(value).replace('Infinity', 'inf');
    let copied = 0;
    fc.assert(
      fc.property(doubles, (value) => {
        if (!isPlainDouble(...cell(stored(value)))) return;
        copied += 1;
        expect(stored(value)).toBe(doubleText(value));
      }),
    );
    expect(copied).toBeGreaterThan(10);
    for (const text of ['nan', 'inf', '-inf', '1e-7', '1000000000000000', '0.00001', '-', ''])
      expect(isPlainDouble(...cell(text))).toBe(false);
  });

  test('times', () => {
    fc.assert(
      fc.property(times, (time) => {
        const text = timeText(time);
        const micros = cellMicros(...cell(text));
        if (micros !== undefined) expect(BigInt(micros)).toBe(timestampMicros(text));
        const [bytes, start, end] = cell(text);
        expect(bytes.toString('utf8', start, withoutZerosEnd(bytes, start, end))).toBe(withoutZeros(text));
      }),
    );
    for (const text of ['2024-01-01 10:00:00', '2024-01-01 10:00:00.000000', '2024-01-01 10:00:00.100000']) {
      const [bytes, start, end] = cell(text);
      expect(bytes.toString('utf8', start, withoutZerosEnd(bytes, start, end))).toBe(withoutZeros(text));
    }
  });

  test('rows are sent the same, with a time zone of hours and without', () => {
    const types = [int8, float, timestamptz, timestamp, int2, int4].map(postgresType);
    const row =
      '-12345678901234567\t0.5\t2024-03-01 10:00:00.500000\t1999-12-31 23:59:59.999999\t-7\t70000\n';
    const sent = (format: 0 | 1, zone: string): string => {
      const rows = new TabSeparatedRows(types.length);
      rows.push(Buffer.from(row));
      rows.next();
      const out = new MessageWriter();
      const timeZone = timeZoneOf(zone) ?? utc;
      new RowEncoder(
        types.map((type) => ({ type, format })),
        { timeZone: () => timeZone },
      ).write(out, rows);
      return out.take().toString(format === 0 ? 'latin1' : 'hex');
    };
    expect(sent(0, 'UTC')).toContain('2024-03-01 10:00:00.5+00');
    expect(sent(0, 'Asia/Kolkata')).toContain('2024-03-01 15:30:00.5+05:30');
    expect(sent(1, 'UTC')).toBe(
      '00000008ffd423aba294b479' +
        '000000083fe0000000000000' +
        '000000080002b595352fc920' +
        '00000008ffffffffffffffff' +
        '00000002fff9' +
        '0000000400011170',
    );
  });
});

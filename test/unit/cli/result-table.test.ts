import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, parseCsv, printable, renderTable } from '../../../src/cli/result-table.ts';

describe('CSV', () => {
  it('has NULL apart from an empty text, and quotes, commas and line breaks in texts', () => {
    expect(parseCsv('"a","b"\n1,\\N\n"","x ""y"", z\nw"\n,\n')).toEqual([
      ['a', 'b'],
      ['1', undefined],
      ['', 'x "y", z\nw'],
      [undefined, undefined],
    ]);
    expect(parseCsv('"n"\n\n1\n')).toEqual([['n'], [undefined], ['1']]);
    expect(parseCsv('"n"\r\n1\r\n')).toEqual([['n'], ['1']]);
    expect(parseCsv('')).toEqual([]);
    expect(() => parseCsv('"n"\n"x')).toThrow('a quote is not closed');
  });

  it('is read as it was written', () => {
    const cell = fc.option(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', '\\', 'N') }), {
      nil: undefined,
    });
    const table = fc
      .integer({ min: 1, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
      );
    const write = (rows: ReadonlyArray<ReadonlyArray<string | undefined>>) =>
      rows
        .map((row) =>
          row.map((text) => (text === undefined ? '\\N' : `"${text.replaceAll('"', '""')}"`)).join(','),
        )
        .map((line) => `${line}\n`)
        .join('');
    // fast-check prints the seed of a failure.
    fc.assert(
      fc.property(table, (rows) => {
        expect(parseCsv(write(rows))).toEqual(rows);
      }),
    );
  });
});

describe('a table', () => {
  it('is as psql prints it', () => {
    const rows = [
      ['level', 'n', 'status'],
      ['error', '1', undefined],
      ['info', '12', '200'],
    ];
    expect(renderTable(rows)).toBe(
      [
        ' level | n  | status',
        '-------+----+--------',
        ' error |  1 |',
        ' info  | 12 |    200',
        '(2 rows)',
        '',
      ].join('\n'),
    );
    expect(renderTable([['n'], ['x']])).toBe(' n\n---\n x\n(1 row)\n');
    expect(renderTable([['n']])).toBe(' n\n---\n(0 rows)\n');
  });

  it('keeps the digits of large numbers', () => {
    expect(renderTable([['n'], ['18446744073709551615']])).toContain('18446744073709551615');
  });

  it('is straight where characters are wide, or have no width', () => {
    expect([...'a'.concat('日本', 'e\u0301', '😀')].map(displayWidth)).toEqual([1, 2, 2, 1, 0, 2]);
    const lines = renderTable([
      ['text', 'n'],
      ['日本', '1'],
      ['e\u0301', '2'],
    ]).split('\n');
    expect(lines.slice(2, 4)).toEqual([' 日本 | 1', ' e\u0301    | 2']);
  });

  it('sends a terminal nothing that it obeys', () => {
    expect(printable('a\x1b[31m\n\t\r\x07\u202e\x9b')).toBe('a\\u001b[31m\\n\\t\\r\\u0007\\u202e\\u009b');
    expect(renderTable([['x'], ['\x1b]0;title\x07']])).not.toContain('\x1b');
  });
});

import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../../../src/lib/timestamp.ts';
import { parseInterval } from '../../../../src/sql/syntax/datetime.ts';

const second = 1_000_000;
const day = 86_400 * second;

describe('timestamps', () => {
  test.each([
    ['1970-01-01', 0],
    ['1970-01-02 00:00', day],
    ['1970-01-01 00:00:01.5', 1.5 * second],
    ['1970-01-01T00:00:00.1234567Z', 123_456],
    ['1970-01-01 01:00:00+01', 0],
    ['1970-01-01 01:00:00+0100', 0],
    ['1969-12-31 23:30:00-00:30', 0],
    ['1970-1-1', 0],
    ['2000-02-29', 11_016 * day],
    ['1970-01-01 24:00:00', day],
    [' 1970-01-01 ', 0],
  ])('%s', (text, micros) => {
    expect(parseTimestamp(text)).toBe(micros);
  });

  test.each([
    '',
    'now',
    '1970',
    '2023-02-29',
    '1970-13-01',
    '1970-00-01',
    '1970-01-01 25:00',
    '1970-01-01 24:00:01',
    '1970-01-01 00:60',
    '01/02/1970',
    '1970-01-01 00:00:00 PST',
    '1970-01-01 00:00:00+16',
    '19700101',
  ])('%j is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

describe('intervals', () => {
  test.each([
    ['1 hour', { months: 0, days: 0, micros: 3600 * second }],
    ['90 min', { months: 0, days: 0, micros: 5400 * second }],
    ['1h30m', { months: 0, days: 0, micros: 5400 * second }],
    [
      '1 year 2 mons 3 days 04:05:06.789',
      { months: 14, days: 3, micros: (4 * 3600 + 5 * 60 + 6.789) * second },
    ],
    ['-1 day', { months: 0, days: -1, micros: 0 }],
    ['1 day ago', { months: 0, days: -1, micros: 0 }],
    ['-02:30', { months: 0, days: 0, micros: -9000 * second }],
    ['2 weeks', { months: 0, days: 14, micros: 0 }],
    ['1.5 days', { months: 0, days: 1, micros: day / 2 }],
    ['5 ms 7 us', { months: 0, days: 0, micros: 5007 }],
  ])('%s', (text, parts) => {
    const parsed = parseInterval(text);
    // -0 is 0 here.
    expect(parsed && { months: parsed.months + 0, days: parsed.days + 0, micros: parsed.micros + 0 }).toEqual(
      parts,
    );
  });

  test.each([
    '',
    'ago',
    '1',
    'hour',
    '1 parsec',
    '1.5 months',
    '1 hour x',
    '1 hour,',
    'P1D',
    '1-2',
    '--1 day',
  ])('%j is none', (text) => {
    expect(parseInterval(text)).toBeUndefined();
  });
});

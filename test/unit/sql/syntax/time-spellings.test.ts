import { expect, test } from 'vitest';
import { parseInterval } from '../../../../src/sql/syntax/datetime.ts';
import { verboseInterval } from '../../../../src/sql/syntax/interval-spellings.ts';
import { readSpelledTimestamp } from '../../../../src/sql/syntax/timestamp-spellings.ts';

const shown = (text: string): string | undefined => {
  const read = readSpelledTimestamp(text);
  if (read === undefined) return undefined;
  const clock = new Date(read.clockMicros / 1000).toISOString().slice(0, 19);
  return `${clock} ${read.offsetMicros / 3_600_000_000} ${read.fraction}`.trim();
};

test.each([
  ['20240331', '2024-03-31T00:00:00 0'],
  ['March 31, 2024 3:30 PM', '2024-03-31T15:30:00 0'],
  ['31-Mar-24 00:05', '2024-03-31T00:05:00 0'],
  ['3/31/2024 12:00 am', '2024-03-31T00:00:00 0'],
  ['20240331T033000.25+0530', '2024-03-31T03:30:00 5.5 25'],
  ['2024-03-31 24:00 EST', '2024-04-01T00:00:00 -5'],
  ['2024-07-01 Europe/Berlin', '2024-07-01T00:00:00 2'],
  // Clocks skip this time, which is read by the offset before; the other they show twice.
  ['2024-03-31 02:30 Europe/Berlin', '2024-03-31T02:30:00 1'],
  ['2024-10-27 02:30 Europe/Berlin', '2024-10-27T02:30:00 1'],
])('%s is a timestamp', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  '',
  'March 31',
  '12:00',
  'Sunday',
  '13/31/2024',
  '30 Feb 2024',
  '2024 March',
  'March March 31 2024',
  '2024-03-31 13:00 PM',
  '2024-03-31 12:00:60',
  '2024-03-31 +16',
  '2024-03-31 Nowhere/City',
  '2024-03-31 20240331',
  `2024-03-31${' '.repeat(100)}`,
])('%j is none', (text) => {
  expect(readSpelledTimestamp(text)).toBeUndefined();
});

test.each([
  ['PT1H30M', { months: 0, days: 0, micros: 5_400_000_000 }],
  ['P1Y2M3W4DT5S', { months: 14, days: 25, micros: 5_000_000 }],
  ['PT', { months: 0, days: 0, micros: 0 }],
  ['P1YT', { months: 12, days: 0, micros: 0 }],
  ['1 month - 1 day', { months: 1, days: -1, micros: 0 }],
  ['1.5 years', { months: 18, days: 0, micros: 0 }],
  ['-1-2', { months: -14, days: 0, micros: 0 }],
  ['3 4:05', { months: 0, days: 3, micros: 14_700_000_000 }],
  ['90', { months: 0, days: 0, micros: 90_000_000 }],
])('%s is an interval', (text, expected) => {
  expect(parseInterval(verboseInterval(text) ?? '')).toEqual(expected);
});

test.each(['P', 'P1', 'P1H', 'PT1M1H', '1-13', `P${'1D'.repeat(100)}`])('%s is none', (text) => {
  expect(parseInterval(verboseInterval(text) ?? '')).toBeUndefined();
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimeRange } from '../../../src/query/time-range.ts';
import { caughtError } from '../../support/lib/caught.ts';

const micros = (text: string): number => Date.parse(text) * 1000;
const now = micros('2024-03-10T12:00:00Z');
const start = (text: string) => parseTimeRange(text, undefined, now).startMicros;
const hour = 3_600_000_000;

describe('a bound', () => {
  test.each([
    ['2024-03-01 10:20:30', micros('2024-03-01T10:20:30Z')],
    ['2024-03-01 10:20:30.5', micros('2024-03-01T10:20:30.5Z')],
    ['2024-03-01 10:20:30.123456', micros('2024-03-01T10:20:30Z') + 123_456],
    ['2024-03-01T10:20:30Z', micros('2024-03-01T10:20:30Z')],
    ['2024-03-01t10:20:30z', micros('2024-03-01T10:20:30Z')],
    ['2024-03-01T10:20:30.25+05:30', micros('2024-03-01T04:50:30.25Z')],
    ['2024-03-01 10:20:30-01:00', micros('2024-03-01T11:20:30Z')],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['now', now],
    [' now ', now],
    ['10m', now - hour / 6],
    ['1h', now - hour],
    ['1h30m', now - 1.5 * hour],
    ['2d', now - 48 * hour],
    ['2 days', now - 48 * hour],
    ['1 week', now - 168 * hour],
    ['90 seconds', now - hour / 40],
    ['1.5h', now - 1.5 * hour],
    ['500ms', now - 500_000],
  ])('%s', (text, expected) => {
    expect(start(text)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    'yesterday',
    '10',
    '-10m',
    '10m ago',
    '1 month',
    '1y',
    '10 parsecs',
    'm',
    '2024-03-01',
    '2024-03-01 10:20',
    '2024-02-30 00:00:00',
    '2024-13-01 00:00:00',
    '2024-03-01 24:00:01',
    '2024-03-01 10:60:00',
    '2024-03-01 10:20:61',
    '2024-03-01 10:20:30 Europe/Berlin',
    '1709290000',
    '03/01/2024 10:20:30',
    '2024-3-1 10:20:30',
    'NOW()',
    '1H',
  ])('%j is refused, saying what is understood', (text) => {
    const error = caughtError(() => start(text));
    expect(error.code).toBe('bad_time_range');
    expect(error.message).toContain('RFC 3339');
  });

  test('between two microseconds excludes what lies before it', () => {
    const before = micros('2024-03-01T10:20:30Z') + 123_456;
    expect(start('2024-03-01 10:20:30.1234560')).toBe(before);
    expect(start('2024-03-01 10:20:30.1234561')).toBe(before + 1);
  });

  test('any moment, written in RFC 3339, is that moment', async () => {
    await fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), (moment) => {
        expect(start(moment.toISOString())).toBe(moment.getTime() * 1000);
      }),
    );
  });
});

describe('a range', () => {
  test('may be open on either side', () => {
    expect(parseTimeRange(undefined, undefined, now)).toEqual({
      startMicros: undefined,
      endMicros: undefined,
    });
    expect(parseTimeRange(undefined, 'now', now)).toEqual({ startMicros: undefined, endMicros: now });
  });

  test('may be empty, but not backwards', () => {
    expect(parseTimeRange('1h', '1h', now)).toEqual({ startMicros: now - hour, endMicros: now - hour });
    expect(caughtError(() => parseTimeRange('1h', '2h', now)).message).toBe(
      'startTime 1h is after endTime 2h',
    );
  });

  test('names the bound that is wrong', () => {
    expect(caughtError(() => parseTimeRange('1h', 'soon', now)).message).toContain('endTime "soon"');
  });
});

import { describe, expect, test } from 'vitest';
import { timeZoneOf } from '../../../src/lib/time-zone.ts';

const seconds = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`) / 1000;

describe('names of time zones', () => {
  // As PostgreSQL 15 shows them, with their offset on 2024-01-01.
  test.each([
    ['europe/berlin', 'Europe/Berlin', 3600],
    ['utc', 'UTC', 0],
    ['gmt', 'GMT', 0],
    ['zulu', 'Zulu', 0],
    ['EST', 'EST', -18_000],
    ['Etc/GMT+5', 'Etc/GMT+5', -18_000],
    ['2', '<+02>-02', 7200],
    ['+02', '<+02>-02', 7200],
    ['0', '<+00>-00', 0],
    ['-3.5', '<-03:30>+03:30', -12_600],
    ['2.0003', '<+02:00:01>-02:00:01', 7201],
    ['<+02>-02', '<+02>-02', 7200],
    ['UTC-2', 'UTC-2', 7200],
    ['utc+05:30', 'UTC+05:30', -19_800],
    ['+05:30', '+05:30', -19_800],
    ['FOO+3', 'FOO+3', -10_800],
    ["INTERVAL '02:30'", '<+02:30>-02:30', 9000],
  ])('%s is %s', (text, name, offset) => {
    const zone = timeZoneOf(text);
    expect([zone?.name, zone?.offsetSeconds(Date.UTC(2024, 0, 1))]).toEqual([name, offset]);
    // It is read again from its own name.
    expect(timeZoneOf(name)?.name).toBe(name);
    expect(timeZoneOf(name)?.offsetSeconds(Date.UTC(2024, 0, 1))).toBe(offset);
  });

  test.each([
    ...[
      '',
      'z',
      'CEST',
      'ABC',
      'local',
      ' Europe/Berlin',
      'Nowhere/Else',
      'UTC-2:30:15',
      '200',
      '+0530',
      "x'; --",
    ],
    // PostgreSQL takes these: they cannot be computed here.
    ...['CET-1CEST', 'CET-1CEST,M3.5.0,M10.5.0/3', '16', 'posix/Europe/Berlin'],
    ...['name europe/berlin', `Europe/${'x'.repeat(100)}`],
  ])('%s is none', (text) => {
    expect(timeZoneOf(text)).toBeUndefined();
  });
});

describe('changes of the clocks', () => {
  test.each([
    ['Europe/Berlin', '2024-03-31 01:00:00', 3600, 7200],
    ['Europe/Berlin', '2024-10-27 01:00:00', 7200, 3600],
    ['Australia/Lord_Howe', '2024-04-06 15:00:00', 39_600, 37_800],
    ['Pacific/Apia', '2011-12-30 10:00:00', -36_000, 50_400],
    ['America/Sao_Paulo', '2018-11-04 03:00:00', -10_800, -7200],
    ['America/St_Johns', '2010-11-07 02:31:00', -9000, -12_600],
    ['Africa/Monrovia', '1972-01-07 00:44:30', -2670, 0],
    ['Europe/Berlin', '1916-04-30 22:00:00', 3600, 7200],
  ])('in %s at %s', (name, at, before, after) => {
    const zone = timeZoneOf(name);
    const moment = seconds(at);
    expect(zone?.transitions.changes.find(([second]) => second === moment)).toEqual([moment, after]);
    expect(zone?.offsetSeconds(moment * 1000 - 1)).toBe(before);
    expect(zone?.offsetSeconds(moment * 1000)).toBe(after);
  });

  test.each([
    ['a time that is skipped, by the offset before', 'Europe/Berlin', '2024-03-31 02:30:00', 3600],
    ['a time that is shown twice, by the offset after', 'Europe/Berlin', '2024-10-27 02:30:00', 3600],
    ['midnight that is skipped', 'America/Sao_Paulo', '2018-11-04 00:00:00', -10_800],
    ['a day that is skipped', 'Pacific/Apia', '2011-12-30 12:00:00', -36_000],
    ['the day after it', 'Pacific/Apia', '2011-12-31 00:00:00', 50_400],
  ])('%s', (_, name, clock, offset) => {
    expect(timeZoneOf(name)?.offsetSecondsOfClock(seconds(clock) * 1000)).toBe(offset);
  });

  test('are found also where they are few days apart, and in order of what clocks show', () => {
    for (const name of [
      'Africa/Cairo',
      'Africa/Casablanca',
      'Asia/Gaza',
      'America/Argentina/San_Luis',
      'Europe/Riga',
    ]) {
      const { changes } = timeZoneOf(name)?.transitions ?? { changes: [] };
      const shown = changes.map(([at, offset]) => at + offset);
      expect(shown).toEqual(shown.toSorted((a, b) => a - b));
      expect(changes.length).toBeGreaterThan(5);
    }
  });
});

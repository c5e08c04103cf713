import { describe, expect, it } from 'vitest';
import { lastDueMs, nextDueMs, pauseMs, type Schedule, scheduleOf } from '../../../src/alerts/schedule.ts';
import { ulid } from '../../../src/lib/ulid.ts';

const minute = 60_000;
const at = (text: string): number => Date.parse(`2026-03-04T${text}Z`);
const schedule: Schedule = { frequencyMs: minute, offsetMs: 7000 };

describe('when an alert is due', () => {
  it('is at multiples of its frequency, plus its offset', () => {
    expect(lastDueMs(schedule, at('10:00:07'))).toBe(at('10:00:07'));
    expect(lastDueMs(schedule, at('10:00:06.999'))).toBe(at('09:59:07'));
    expect(lastDueMs(schedule, at('10:00:59'))).toBe(at('10:00:07'));
    expect(lastDueMs({ frequencyMs: 15 * minute, offsetMs: 0 }, at('10:29:59'))).toBe(at('10:15:00'));
  });

  it.each([
    ['never evaluated: at once, for the last time', undefined, '10:00:20', '10:00:07'],
    ['evaluated in time: one frequency later', '10:00:07', '10:00:20', '10:01:07'],
    ['asked for between two times: at the next one', '10:00:15', '10:00:20', '10:01:07'],
    ['after a pause: once, for the newest time', '09:10:07', '10:00:20', '10:00:07'],
    ['with the clock set back: at once', '11:30:07', '10:00:20', '10:00:07'],
  ] as const)('%s', (_, evaluated, now, due) => {
    expect(nextDueMs(schedule, evaluated && at(evaluated), at(now))).toBe(at(due));
  });

  it('is spread by the id, the same on every node', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => ulid(1_700_000_000_000 + index));
    const offsets = ids.map((id) => scheduleOf(id, 5 * minute).offsetMs);
    expect(ids.map((id) => scheduleOf(id, 5 * minute).offsetMs)).toEqual(offsets);
    // A thousand of them leave few seconds of the minute empty.
    expect(new Set(offsets.map((ms) => Math.floor(ms / 1000))).size).toBeGreaterThan(50);
    expect(Math.max(...offsets)).toBeLessThan(minute);
    expect(Math.max(...ids.map((id) => scheduleOf(id, 10_000).offsetMs))).toBeLessThan(10_000);
  });

  it('tells a pause from a late evaluation', () => {
    expect(pauseMs(schedule, at('10:00:07'), at('10:01:07'))).toBe(0);
    expect(pauseMs(schedule, at('10:00:07'), at('10:01:50'))).toBe(0);
    expect(pauseMs(schedule, at('10:00:07'), at('10:11:07'))).toBe(10 * minute);
  });
});

import { expect, it } from 'vitest';
import {
  barWidthMs,
  boundsOf,
  durationText,
  maxBars,
  parseRange,
} from '../../../src/console/query/chosen-range.ts';

const nowMs = Date.parse('2026-01-31T12:00:00Z');

it('a range is relative to now, or between two times', () => {
  expect(boundsOf({ from: '15m', to: 'now' }, nowMs)).toEqual({ fromMs: nowMs - 900_000, toMs: nowMs });
  expect(boundsOf({ from: '2026-01-31T10:00:00Z', to: 'now' }, nowMs)?.fromMs).toBe(nowMs - 7_200_000);
  expect(boundsOf({ from: 'soon', to: 'now' }, nowMs)).toBeUndefined();
  expect(boundsOf({ from: 'now', to: '2026-01-31T10:00:00Z' }, nowMs)).toBeUndefined();
});

it('what people type is understood', () => {
  const typed = (text: string) => parseRange(text, Date.parse);
  expect(typed('2h')).toEqual({ from: '2h', to: 'now' });
  expect(typed('last 7 d')).toEqual({ from: '7d', to: 'now' });
  expect(typed('15m ago')).toEqual({ from: '15m', to: 'now' });
  expect(typed('2026-01-31T08:00:00Z to 2026-01-31T09:00:00Z')).toEqual({
    from: '2026-01-31T08:00:00.000Z',
    to: '2026-01-31T09:00:00.000Z',
  });
  expect(typed('2026-01-31T08:00:00Z to now')?.to).toBe('now');
  for (const wrong of ['', 'x', '2h to', '2026-01-31T09:00:00Z to 2026-01-31T08:00:00Z', 'a to b to c'])
    expect(typed(wrong), wrong).toBeUndefined();
});

it('no range has more bars than are drawn, wherever it begins', () => {
  for (let ms = 1; ms < 400 * 86_400_000; ms = Math.ceil(ms * 1.7)) {
    for (const fromMs of [0, 1, nowMs + 12_345]) {
      const width = barWidthMs({ fromMs, toMs: fromMs + ms });
      const first = Math.floor(fromMs / width) * width;
      expect(Math.ceil((fromMs + ms - first) / width), `${ms} ms`).toBeLessThanOrEqual(maxBars);
    }
  }
});

it('widths have units', () => {
  expect([1, 500, 30_000, 300_000, 86_400_000].map(durationText)).toEqual([
    '1 ms',
    '500 ms',
    '30 s',
    '5 min',
    '1 d',
  ]);
});

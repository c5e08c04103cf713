import { expect, it } from 'vitest';
import { reconnectDelayMs } from '../../../src/console/api/reconnect-delay.ts';

it('attempts to connect again come later each time, up to half a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 100].map((failures) => reconnectDelayMs(failures, 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect(reconnectDelayMs(3, 0)).toBe(2000);
});

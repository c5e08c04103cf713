import { expect, it } from 'vitest';
import { oldestReceived, sumOfReceived } from '../../../src/model/received-amounts.ts';

const days = [
  { day: 1, events: 10, bytes: 1000 },
  { day: 2, events: 0, bytes: 2 },
  { day: 3, events: 4, bytes: 80 },
];

it.each([
  [0, 0],
  [5, 500],
  [10, 1000],
  [11, 1020],
  [14, 1080],
  [20, 1080],
])('the oldest %i events came in %i bytes', (events, bytes) => {
  expect(oldestReceived(days, events)).toEqual({ events, bytes });
});

it('amounts add up', () => {
  expect(sumOfReceived(days)).toEqual({ events: 14, bytes: 1082 });
  expect(sumOfReceived([])).toEqual({ events: 0, bytes: 0 });
});

import { expect, test } from 'vitest';
import { Turns } from '../../../src/pgwire/turns.ts';

/** With a slice of no time at all, each piece of work has a turn of the event loop of its own. */
const noTime = 0;

test('whoever comes alone goes on at once', () => {
  expect(new Turns().take('a')).toBe(undefined);
});

test('beyond a slice, each waits for a turn of the event loop, and tenants take turns', async () => {
  const turns = new Turns(noTime);
  expect(turns.take('flood')).toBe(undefined);
  const order: string[] = [];
  const wait = async (name: string, party: string): Promise<void> => {
    await turns.take(party);
    order.push(name);
  };
  const flood = Array.from({ length: 10 }, (_, index) => wait(`flood${index}`, 'flood'));
  const other = wait('other', 'other');
  expect(order).toEqual([]);
  await Promise.all([...flood, other]);
  expect(order.indexOf('other')).toBe(1);
  expect(order.filter((name) => name !== 'other')).toEqual(flood.map((_, index) => `flood${index}`));
});

test('between two that wait, the event loop gets its turn', async () => {
  const turns = new Turns(noTime);
  void turns.take('a');
  let turnsOfLoop = 0;
  const count = (): void => {
    turnsOfLoop += 1;
    if (turnsOfLoop < 100) setImmediate(count);
  };
  setImmediate(count);
  for (let each = 0; each < 20; each++) await turns.take('a');
  expect(turnsOfLoop).toBeGreaterThanOrEqual(19);
});

test('when nobody waits any more, the next one goes on at once', async () => {
  const turns = new Turns(noTime);
  void turns.take('a');
  await turns.take('a');
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(turns.take('a')).toBe(undefined);
});

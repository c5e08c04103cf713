import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/lib/fair-queue.ts';
import { RecentCosts } from '../../../src/lib/recent-costs.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

const setUp = (maxParties = 10) => {
  const clock = new ManualClock();
  return { clock, costs: new RecentCosts({ clock, halfLifeMs: 1000, maxParties }) };
};

it('forgets half of a cost after the half-life', () => {
  const { clock, costs } = setUp();
  costs.add('a', 80);
  clock.advance(1000);
  expect(costs.of('a')).toBeCloseTo(40);
  costs.add('a', 10);
  clock.advance(2000);
  expect(costs.of('a')).toBeCloseTo(12.5);
  expect(costs.of('b')).toBe(0);
});

it('keeps its bound: who has cost nothing for longest is forgotten', () => {
  const { costs } = setUp(2);
  for (const party of ['a', 'b', 'a', 'c']) costs.add(party, 1);
  expect(['a', 'b', 'c'].map((party) => costs.of(party))).toEqual([2, 0, 1]);
});

it('has the party served that has cost least: who comes anew first, and nobody for ever', () => {
  const { clock, costs } = setUp();
  const queue = new FairQueue<string>(100, (party) => costs.of(party));
  const serve = (count: number, cost: Readonly<Record<string, number>>): string => {
    let order = '';
    for (let left = count; left > 0; left -= 1) {
      const party = queue.next() ?? '';
      order += queue.shift()?.charAt(0);
      costs.add(party, cost[party] ?? 0);
      clock.advance(1);
    }
    return order;
  };
  for (let index = 0; index < 30; index += 1) {
    queue.push('a', `a${index}`);
    queue.push('b', `b${index}`);
  }
  // A turn of one costs as much as five of the other.
  expect(serve(12, { a: 50, b: 10 })).toBe('abbbbbabbbbb');
  queue.push('c', 'c1');
  queue.push('c', 'c2');
  expect(serve(4, { a: 50, b: 10, c: 500 })).toBe('cabb');
  expect(queue.shift((party) => party === 'c')).toBe('c2');
});

it('serves again first what is put back', () => {
  const queue = new FairQueue<string>(3);
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  expect(queue.shiftWhile(() => true)).toEqual(['a1', 'a2']);
  queue.push('a', 'a3');
  queue.putBack('a', ['a1', 'a2']);
  queue.putBack('b', []);
  expect(queue.size).toBe(4);
  const order = [queue.shift(), queue.shift(), queue.shift(), queue.shift(), queue.size];
  expect(order).toEqual(['b1', 'a1', 'a2', 'a3', 0]);
});

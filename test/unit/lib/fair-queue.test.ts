import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/lib/fair-queue.ts';

const all = (queue: FairQueue<string>): string[] => {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
};

it('serves the parties in turn, and each in its own order', () => {
  const queue = new FairQueue<string>(10);
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) {
    expect(queue.push(item.charAt(0), item)).toBeUndefined();
  }
  expect(queue.shift()).toBe('a1');
  // Who comes now waits for one turn of each of the others.
  queue.push('d', 'd1');
  expect(all(queue)).toEqual(['b1', 'c1', 'a2', 'd1', 'c2', 'a3']);
});

it('takes room, when it is full, from whoever has most', () => {
  const queue = new FairQueue<string>(4);
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push('a', item);
  expect(queue.push('a', 'a5')).toBe('a5');
  expect(queue.push('b', 'b1')).toBe('a4');
  expect(queue.push('b', 'b2')).toBe('a3');
  // They have as much as each other: whoever comes takes nothing from them.
  expect(queue.push('b', 'b3')).toBe('b3');
  expect(queue.push('c', 'c1')).toBe('a2');
  expect(queue.size).toBe(4);
  expect(all(queue)).toEqual(['a1', 'b1', 'c1', 'b2']);
});

it('leaves its turn to a party that may not go', () => {
  const queue = new FairQueue<string>(4);
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  expect(queue.shift((party) => party !== 'a')).toBe('b1');
  expect(queue.shift((party) => party !== 'a')).toBeUndefined();
  expect(all(queue)).toEqual(['a1', 'a2']);
});

it('serves of one party after another what goes together', () => {
  const queue = new FairQueue<string>(8);
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) queue.push(item.charAt(0), item);
  const upTo = (count: number) => {
    let taken = 0;
    return () => ++taken <= count;
  };
  expect(queue.shiftWhile(upTo(2))).toEqual(['a1', 'a2']);
  // One that gets nothing keeps its turn.
  expect(queue.shiftWhile(() => false)).toEqual([]);
  expect(queue.shiftWhile(upTo(9))).toEqual(['b1', 'b2']);
  expect([queue.size, queue.shiftWhile(upTo(1)), queue.shift(), queue.size]).toEqual([2, ['c1'], 'a3', 0]);
  expect(queue.shiftWhile(() => true)).toEqual([]);
});

it('forgets what is taken out', () => {
  const queue = new FairQueue<string>(4);
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  queue.remove('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('b', 'b1');
  queue.remove('c', 'c1');
  expect(queue.size).toBe(1);
  expect(queue.drain()).toEqual(['a2']);
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});

it('keeps its bound, loses nothing unsaid, and lets nobody be crowded out', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c') },
    { weight: 1, arbitrary: fc.constant('serve') },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new FairQueue<string>(6);
      const waiting = new Set<string>();
      for (const [index, party] of steps.entries()) {
        const item = `${party}${index}`;
        const own = [...waiting].filter((each) => each.startsWith(party)).length;
        const gone = party === 'serve' ? queue.shift() : queue.push(party, item);
        if (party !== 'serve') waiting.add(item);
        if (gone !== undefined) waiting.delete(gone);
        expect(queue.size).toBe(waiting.size);
        expect(waiting.size).toBeLessThanOrEqual(6);
        // A third of the room is everybody's own.
        if (party !== 'serve' && own < 2) expect(waiting.has(item)).toBe(true);
      }
      expect(new Set(all(queue))).toEqual(waiting);
    }),
  );
});

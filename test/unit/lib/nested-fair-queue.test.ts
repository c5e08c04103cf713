import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NestedFairQueue } from '../../../src/lib/nested-fair-queue.ts';
import { randomRuns } from '../../sql/random-runs.ts';

/** `ax1` is the first item of the member x of the group a. */
const push = (queue: NestedFairQueue<string>, item: string) =>
  queue.push(item.charAt(0), item.charAt(1), item);

const all = (queue: NestedFairQueue<string>): string[] => {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
};

it('serves the groups in turn, the members of each in turn, and each in its own order', () => {
  const queue = new NestedFairQueue<string>(20);
  for (const item of ['ax1', 'ax2', 'ax3', 'ay1', 'bx1', 'bx2', 'by1', 'cz1']) push(queue, item);
  expect(all(queue)).toEqual(['ax1', 'bx1', 'cz1', 'ay1', 'by1', 'ax2', 'bx2', 'ax3']);
});

it('takes room, when it is full, from the group that has most, and there from the member that has most', () => {
  const queue = new NestedFairQueue<string>(6);
  for (const item of ['ax1', 'ax2', 'ax3', 'ax4', 'ay1', 'ay2']) push(queue, item);
  // Another group has none yet.
  expect(push(queue, 'bx1')).toBe('ax4');
  // The same member has most of its own group.
  expect(push(queue, 'ax5')).toBe('ax5');
  // Another member of the group has less.
  expect(push(queue, 'az1')).toBe('ax3');
  expect(push(queue, 'by1')).toBe('ax2');
  // Now the groups have 4 and 2.
  expect(push(queue, 'bz1')).toBe('ay2');
  expect(push(queue, 'bz2')).toBe('bz2');
  expect(queue.size).toBe(6);
  expect(all(queue)).toEqual(['ax1', 'bx1', 'ay1', 'by1', 'az1', 'bz1']);
});

it('leaves its turn to who may not go, and to its group', () => {
  const queue = new NestedFairQueue<string>(10);
  for (const item of ['ax1', 'ay1', 'bx1']) push(queue, item);
  expect(queue.shift((group, member) => group === 'a' && member === 'y')).toBe('ay1');
  expect(queue.shift((group) => group === 'c')).toBeUndefined();
  expect(all(queue)).toEqual(['bx1', 'ax1']);
});

it('forgets what is taken out', () => {
  const queue = new NestedFairQueue<string>(3);
  for (const item of ['ax1', 'ax2', 'by1']) push(queue, item);
  queue.remove('a', 'x', 'ax1');
  queue.remove('a', 'x', 'ax1');
  queue.remove('c', 'x', 'cx1');
  expect(queue.size).toBe(2);
  queue.remove('b', 'y', 'by1');
  expect(push(queue, 'cz1')).toBeUndefined();
  expect(queue.drain()).toEqual(['ax2', 'cz1']);
  expect(queue.size).toBe(0);
  expect(queue.shift()).toBeUndefined();
});

it('holds what was put in and neither taken out nor given up, within its bound', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step = fc.record({
    kind: fc.constantFrom('push', 'push', 'shift', 'remove'),
    group: name,
    member: name,
  });
  const property = fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
    const queue = new NestedFairQueue<string>(8);
    const held = new Set<string>();
    steps.forEach(({ kind, group, member }, index) => {
      const item = `${group}${member}${index}`;
      if (kind === 'push') {
        held.add(item);
        const gone = push(queue, item);
        if (gone !== undefined) expect(held.delete(gone)).toBe(true);
      } else if (kind === 'shift') {
        const taken = queue.shift((each) => each !== group);
        if (taken !== undefined) expect(held.delete(taken)).toBe(true);
        else expect([...held].every((each) => each.startsWith(group))).toBe(true);
      } else {
        const mine = [...held].find((each) => each.startsWith(`${group}${member}`));
        if (mine !== undefined) queue.remove(group, member, mine);
        if (mine !== undefined) held.delete(mine);
      }
      expect(queue.size).toBe(held.size);
      expect(queue.size).toBeLessThanOrEqual(8);
    });
    expect(new Set(all(queue))).toEqual(held);
  });
  fc.assert(property, randomRuns(200));
});

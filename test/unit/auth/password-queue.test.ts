import { describe, expect, it } from 'vitest';
import { PasswordQueue } from '../../../src/auth/password-queue.ts';

const queueOf = (maxItems: number, ...waiting: ReadonlyArray<readonly [client: string, name: string]>) => {
  const queue = new PasswordQueue<string>(maxItems);
  const push = (client: string, name: string) => queue.push({ client, name }, `${client} ${name}`);
  for (const [client, name] of waiting) push(client, name);
  const all = () => {
    const order: string[] = [];
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) order.push(item);
    return order;
  };
  return { queue, push, all };
};

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('passwords that wait to be checked', () => {
  it('take turns by client, then by name', () => {
    const { all } = queueOf(9, ['a', 'x'], ['a', 'x'], ['a', 'x'], ['a', 'y'], ['b', 'x'], ['a', 'z']);
    expect(all()).toEqual(['a x', 'b x', 'a y', 'a z', 'a x', 'a x']);
  });

  it('of one client, with however many names, make room for another client', () => {
    const { push, all } = queueOf(4, ...times(4, (index) => ['a', `${index}`] as const));
    expect(push('b', 'x')).toBe('a 0');
    expect(push('b', 'y')).toMatch(/^a/);
    expect(push('b', 'z')).toBe('b z');
    expect(all()).toHaveLength(4);
  });

  it('for one name, from one client, make room for another name of that client', () => {
    const { push, all } = queueOf(4, ...times(4, () => ['a', 'admin'] as const));
    expect(push('a', 'alice')).toBe('a admin');
    expect(all()).toEqual(['a admin', 'a alice', 'a admin', 'a admin']);
  });

  it('for one name, from many clients, make room for another name', () => {
    const { push, all } = queueOf(4, ...times(4, (index) => [`${index}`, 'admin'] as const));
    expect(push('b', 'alice')).toMatch(/admin$/);
    expect(push('b', 'admin')).toBe('b admin');
    expect(all()).toContain('b alice');
  });

  it('of a client with one stay where a client with many tries another name', () => {
    const { push, queue } = queueOf(
      5,
      ['b', 'x'],
      ['b', 'x'],
      ...times(3, (index) => ['a', `${index}`] as const),
    );
    expect(push('a', 'new')).toBe('a new');
    expect(queue.size).toBe(5);
  });

  it('leave together when their client does', () => {
    const { queue, all } = queueOf(9, ['a', 'x'], ['b', 'x'], ['a', 'y']);
    expect(queue.take('a').map(({ item }) => item)).toEqual(['a x', 'a y']);
    expect(queue.take('a')).toEqual([]);
    expect(queue.size).toBe(1);
    expect(all()).toEqual(['b x']);
    expect(queue.size).toBe(0);
  });

  it('are never more than the bound, whatever comes, and none is lost', () => {
    const { queue, push } = queueOf(8);
    const counts = { pushed: 0, gone: 0, served: 0 };
    // A small generator of its own, so that each run is the same.
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let step = 0; step < 5000; step += 1) {
      if (random(3) === 0) counts.served += queue.shift() === undefined ? 0 : 1;
      else if (random(40) === 0) counts.gone += queue.take(`${random(6)}`).length;
      else {
        counts.pushed += 1;
        counts.gone += push(`${random(6)}`, `${random(4)}`) === undefined ? 0 : 1;
      }
      expect(queue.size).toBeLessThanOrEqual(8);
      expect(queue.size).toBe(counts.pushed - counts.gone - counts.served);
    }
  });
});

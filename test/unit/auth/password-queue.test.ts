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

/** None of these floods may delay or push out somebody with another name from another client. */
const floods: Readonly<Record<string, (index: number) => readonly [client: string, name: string]>> = {
  'one name from one client': () => ['a', 'admin'],
  'one name from many clients': (index) => [`a${index}`, 'admin'],
  'many names from one client': (index) => ['a', `name${index}`],
  'some names from some clients': (index) => [`a${index % 4}`, `name${index % 5}`],
};

describe('passwords that wait to be checked', () => {
  it('are taken by turns, the lightest and the one that has waited longest', () => {
    const { all } = queueOf(9, ['a', 'x'], ['a', 'x'], ['a', 'x'], ['b', 'y'], ['c', 'z']);
    expect(all()).toEqual(['b y', 'a x', 'c z', 'a x', 'a x']);
  });

  it.each(Object.entries(floods))('are held up by no flood of others: %s', (_, flood) => {
    const { push, all } = queueOf(64, ...times(200, flood));
    expect(push('victim', 'alice')).not.toBe('victim alice');
    // The flood goes on, and takes nothing back.
    for (let index = 0; index < 200; index += 1) expect(push(...flood(index))).not.toBe('victim alice');
    expect(all().indexOf('victim alice')).toBeLessThan(2);
  });

  it('for one name, from one client, hold up no other name of that client', () => {
    const { push, all } = queueOf(64, ...times(200, () => ['a', 'admin'] as const));
    expect(push('a', 'alice')).toBe('a admin');
    expect(all().indexOf('a alice')).toBeLessThan(2);
  });

  it('for one name, from one client, let in its user from elsewhere', () => {
    const { push, all } = queueOf(64, ...times(200, () => ['a', 'admin'] as const));
    expect(push('b', 'admin')).toBe('a admin');
    expect(all().indexOf('b admin')).toBeLessThan(2);
  });

  it('of a client with one stay where a client with many tries another name', () => {
    const { push } = queueOf(5, ['b', 'x'], ['b', 'x'], ...times(3, (index) => ['a', `${index}`] as const));
    expect(push('a', 'new')).toBe('a new');
  });

  it('of a flood all have their turn, whatever light ones come', () => {
    const { queue, push } = queueOf(64, ...times(8, () => ['a', 'admin'] as const));
    const taken: Array<string | undefined> = [];
    for (let index = 0; index < 20; index += 1) {
      push(`b${index}`, `name${index}`);
      taken.push(queue.shift());
    }
    expect(taken.filter((each) => each === 'a admin')).toHaveLength(8);
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

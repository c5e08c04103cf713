import { beforeEach, expect, it } from 'vitest';
import { DecodeScheduler } from '../../../src/ingest/decode-scheduler.ts';
import { limits } from '../../../src/limits/limits.ts';

const costs = new Map<string, number>();
beforeEach(() => costs.clear());

function setUp(threads: number) {
  const turns = new DecodeScheduler<string, string>(threads, { of: (tenant) => costs.get(tenant) ?? 0 });
  /** Begins what can be begun. */
  const begin = (): string => {
    let begun = '';
    for (let length = turns.next(); length !== undefined; length = turns.next()) {
      begun += length === 'short' ? turns.short.shift() : turns.long.shift();
      turns.begin(length);
    }
    return begun;
  };
  const end = (length: 'short' | 'long'): string => {
    turns.end(length);
    return begin();
  };
  return { turns, begin, end };
}

it('keeps a worker for short tasks while all others have long ones', () => {
  const { turns, begin, end } = setUp(2);
  for (const long of 'ABCD') turns.long.push('large', long);
  expect(begin()).toBe('AB');
  for (const short of 'abc') turns.short.push('small', short);
  expect(begin()).toBe('a');
  expect(end('short')).toBe('b');
  // The one that ends leaves as many workers as there are threads: none is free while the
  // short one is not done.
  expect(end('long')).toBe('');
  expect(end('short')).toBe('Cc');
  expect(turns.size).toBe(1);
});

it('has short tasks alone run on as many workers as there are threads', () => {
  const { turns, begin, end } = setUp(2);
  for (const short of 'abcd') turns.short.push('small', short);
  expect(begin()).toBe('ab');
  expect(end('short')).toBe('c');
});

it('serves who has cost least, and of one tenant now a short task, now a long one', () => {
  const { turns, end, begin } = setUp(1);
  turns.short.push('dear', 'a');
  expect(begin()).toBe('a');
  costs.set('dear', 5);
  for (const short of 'bc') turns.short.push('dear', short);
  for (const long of 'AB') turns.long.push('dear', long);
  turns.long.push('cheap', 'C');
  turns.short.push('other', 'o');
  costs.set('other', 1);
  expect(end('short')).toBe('Co');
  expect(end('short')).toBe('b');
  expect(end('long')).toBe('');
  expect(end('short')).toBe('Ac');
});

it('begins no long task while too much is held, and nothing at all while it is twice as much', () => {
  const { turns, begin } = setUp(4);
  const { maxDecodedBlockBytes } = limits;
  turns.hold(maxDecodedBlockBytes);
  turns.long.push('tenant', 'A');
  turns.short.push('tenant', 'a');
  expect(begin()).toBe('a');
  turns.hold(maxDecodedBlockBytes);
  turns.short.push('tenant', 'b');
  expect(begin()).toBe('');
  // But for what waits for a worker to be let go.
  turns.overflow.push('tenant', 'O');
  expect(turns.next()).toBe('long');
  turns.overflow.shift();
  turns.release(maxDecodedBlockBytes);
  expect(begin()).toBe('b');
  turns.release(1);
  expect(begin()).toBe('A');
});

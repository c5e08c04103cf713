import { expect, test } from 'vitest';
import { HeldBytes } from '../../../src/pgwire/held-bytes.ts';

test('one tenant has half of it, and gets back what it gives back', () => {
  const held = new HeldBytes(100);
  expect(held.take('a', 50)).toBe(true);
  expect(held.take('a', 1)).toBe(false);
  expect(held.take('b', 50)).toBe(true);
  expect(held.take('c', 1)).toBe(false);
  held.giveBack('a', 10);
  expect(held.take('c', 10)).toBe(true);
  expect(held.take('a', 1)).toBe(false);
});

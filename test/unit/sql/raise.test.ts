import { expect, test } from 'vitest';
import { raised } from '../../../src/sql/syntax/raise.ts';

test('each reason to refuse a value has a number of its own', () => {
  const numbers = Object.values(raised);
  expect(new Set(numbers).size).toBe(numbers.length);
});

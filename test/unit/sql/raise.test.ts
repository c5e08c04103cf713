import { expect, test } from 'vitest';
import { raisedMessages, raiseIf } from '../../../src/sql/syntax/raise.ts';

test('each reason to refuse a value has a number of its own', () => {
  const reasons = Object.keys(raisedMessages) as (keyof typeof raisedMessages)[];
  const texts = reasons.map((reason) => raiseIf('true', reason));
  expect(new Set(texts).size).toBe(reasons.length);
});

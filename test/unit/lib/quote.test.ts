import { expect, test } from 'vitest';
import { quoteIdentifier, quoteString } from '../../../src/lib/quote.ts';

test('what would end a quote, or begin a placeholder, is escaped', () => {
  expect(quoteString("a'b\\c`d\0$1\0")).toBe("'a\\'b\\\\c`d\\0$1\\0'");
  expect(quoteIdentifier("a'b\\c`d\0$1\0")).toBe("`a'b\\\\c\\`d\\0$1\\0`");
});

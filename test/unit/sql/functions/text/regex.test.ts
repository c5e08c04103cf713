import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../../src/errors.ts';
import { engineRegex } from '../../../../../src/sql/functions/text/regex.ts';

const site = { name: '~', at: undefined };
const read = (pattern: string) => engineRegex(pattern, false, site);

function refusal(pattern: string): AppError {
  try {
    read(pattern);
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error(`read: ${pattern}`);
}

describe('a regular expression is read', () => {
  test.each([
    ['^a.c$', '^a.c$', 0, false],
    ['(a|b)+', '(a|b)+', 1, false],
    ['(?:a)(b)?', '(?:a)(b)?', 1, false],
    ['a*', 'a*', 0, true],
    ['(a|)', '(a|)', 1, true],
    ['a{0,3}b?', 'a{0,3}b?', 0, true],
    ['a{2}?', 'a{2}?', 0, false],
    ['[]a]', '.', 0, false],
    ['[^]a-z-]', '.', 0, false],
    [String.raw`\d\.\\`, '.__', 0, false],
    [String.raw`[\]\-a-f]{1,255}`, '.{1,255}', 0, false],
    ['[[:alpha:]😀-😂]x', '.x', 0, false],
    ['', '', 0, true],
    ['^$', '^$', 0, true],
  ])('%s', (pattern, outline, groups, canBeEmpty) => {
    expect(read(pattern)).toMatchObject({ outline, groups, canBeEmpty });
  });
});

describe('one that is none is refused as PostgreSQL does (2201B)', () => {
  test.each([
    ['a{2,1}', 'repetition count'],
    ['a{256}', 'repetition count'],
    ['a{1,99999}', 'repetition count'],
    ['(?<a', 'operand'],
    ['(bar', 'parentheses'],
    ['bar)', 'parentheses'],
    ['*a', 'operand'],
    ['a**', 'operand'],
    ['a|*', 'operand'],
    ['(*a)', 'operand'],
    ['[a', 'brackets'],
    ['[', 'brackets'],
    ['[z-a]', 'range'],
    [String.raw`[a-\d]`, 'range'],
    ['[[:nothing:]]', 'class'],
    ['a\\', 'escape'],
  ])('%s', (pattern, message) => {
    const error = refusal(pattern);
    expect(error.code).toBe('sql_bad_regex');
    expect(error.definition).toMatchObject({ status: 400, sqlState: '2201B' });
    expect(error.message).toContain(message);
  });
});

test.each(['(?=a)', '(?!a)', '(?<=a)b', String.raw`(a)\1`, String.raw`\mx`, '(?s)a', 'a{', '}', '[[.a.]]'])(
  'what the engine would read otherwise is refused: %s',
  (pattern) => {
    expect(refusal(pattern).code).toBe('sql_unsupported');
  },
);

describe('bounds', () => {
  test.each([
    ['repetitions within each other', '(a{1,100}){1,10}b', 'repeats a part 1000 times'],
    ['of open ends', '((a{16,}b){16,})c', 'repeats a part 256 times'],
    ['a size that is repeated', `(${'a'.repeat(1000)}){200}`, 'more than 50000 characters'],
    ['groups', '(a)'.repeat(101), 'more than 100 groups'],
    ['nesting', `${'(?:'.repeat(101)}a${')'.repeat(101)}`, 'deeper than 100 levels'],
    ['length', 'a'.repeat(32_769), 'at most 32768'],
  ])('%s', (_, pattern, message) => {
    const error = refusal(pattern);
    expect(error.code).toBe('sql_too_large');
    expect(error.message).toContain(message);
  });

  test('repetitions side by side are not multiplied', () => {
    expect(read('(a{1,15}){1,17}[a-z]{255}(b{100}|c{200})')).toMatchObject({ groups: 2 });
  });

  test('brackets and a back reference, which took twice as long with each: read once', () => {
    expect(refusal(`${'[^a]'.repeat(5000)}\\1`).code).toBe('sql_unsupported');
  });
});

import { RE2JS } from 're2js';
import { expect, it } from 'vitest';
import { expressionSize } from '../../../src/notifications/expression-size.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';

it('counts repetitions as often as they are written out', () => {
  expect(expressionSize('')).toBe(0);
  expect(expressionSize('abc')).toBe(3);
  expect(expressionSize('a{3}')).toBe(3);
  expect(expressionSize('a{2,5}b')).toBe(6);
  expect(expressionSize('(ab){3}')).toBe(9);
  expect(expressionSize('(a|b{2}){10}')).toBe(50);
  expect(expressionSize('[abc]{2}')).toBe(10);
  expect(expressionSize('\\x{10FFFF}{2}')).toBe(20);
  expect(expressionSize('a{,3}')).toBe(5);
});

const pieces = [
  'a',
  '.',
  '\\d',
  '\\Q(\\E',
  '\\Q[{2}\\E',
  '\\(',
  '\\)',
  '[(]',
  '[)]',
  '[]a]',
  '[^]{2}]',
  '[[:alpha:])]',
  '[\\]]',
  '(',
  '(',
  '(?:',
  '(?i:',
  '(?P<n>',
  ')',
  ')',
  '{3}',
  '{2,6}',
  '{4,}',
  '*',
  '+?',
  '|',
  '\\x{41}',
  '\\pL',
  '{',
  'b{7}',
];

it(`is never less than the program that RE2 makes, seed ${testSeed}`, () => {
  const random = seededRandom(testSeed);
  let valid = 0;
  for (let run = 0; run < 20_000; run += 1) {
    const parts = Array.from(
      { length: random.integer(1, 12) },
      () => pieces[random.integer(0, pieces.length - 1)],
    );
    const source = parts.join('');
    const size = expressionSize(source);
    if (size > 5000) continue;
    let program: number;
    try {
      program = RE2JS.compile(source).programSize();
    } catch {
      continue;
    }
    valid += 1;
    // An instruction each for the beginning and the end, two for a group, one for a bound of a repetition.
    expect([source, program <= 3 * size + 5]).toEqual([source, true]);
  }
  expect(valid).toBeGreaterThan(2000);
});

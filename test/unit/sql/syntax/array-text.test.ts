import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readArrayText } from '../../../../src/sql/syntax/literals.ts';
import { randomRuns } from '../../../sql/random-runs.ts';

/** What the scanner does, as a regular expression that goes back and forth: for short texts only. */
function asDefined(text: string): readonly (string | null)[] | undefined {
  const body = /^[ \t-\r]*\{[ \t-\r]*(.*?)[ \t-\r]*\}[ \t-\r]*$/s.exec(text)?.[1];
  if (body === undefined) return undefined;
  if (body === '') return [];
  const items: (string | null)[] = [];
  const item =
    /[ \t-\r]*(?:"((?:[^"\\]|\\.)*)"|((?:[^"{},\\ \t-\r]|\\.)(?:[^"{},\\]|\\.)*?))[ \t-\r]*(?:,|$)/sy;
  while (item.lastIndex < body.length) {
    const match = item.exec(body);
    if (match === null) return undefined;
    const [, quoted, bare = ''] = match;
    const word = (quoted ?? bare).replace(/\\(.)/gs, '$1');
    items.push(quoted === undefined && /^null$/i.test(bare) ? null : word);
  }
  return body.endsWith(',') ? undefined : items;
}

test.each([
  ['{}', []],
  [' { } ', []],
  ['{1,2}', ['1', '2']],
  ['{ a b , NULL ,"NULL", nul\\l }', ['a b', null, 'NULL', 'null']],
  ['{"a\\"b,{}"}', ['a"b,{}']],
  ['{a\\ }', ['a ']],
  ['{,}', undefined],
  ['{a, ,b}', undefined],
  ['{a,}', undefined],
  ['{"a"b}', undefined],
  ['{{1}}', undefined],
  ['{a', undefined],
  ['a}', undefined],
  [`{${' '.repeat(100_000)}x`, undefined],
  [`{${' '.repeat(100_000)}x${' '.repeat(100_000)}}`, ['x']],
])('%.20s', (text, words) => {
  expect(readArrayText(text)).toEqual(words);
});

test('random texts are read as they are defined', () => {
  const part = fc.constantFrom('{', '}', ',', '"', '\\', ' ', '\t', 'a', 'null', 'NULL', '😀', '{a,', '"b"');
  const text = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''));
  const wrapped = text.map((inner) => `{${inner}}`);
  const property = fc.property(fc.oneof(text, wrapped), (written) => {
    // A space or comma behind a backslash belongs to the word, also at the end; there the
    // definition does not see it.
    fc.pre(!/\\[ \t,]+\}?[ \t]*$/.test(written));
    expect(readArrayText(written)).toEqual(asDefined(written));
  });
  fc.assert(property, randomRuns(20_000));
});

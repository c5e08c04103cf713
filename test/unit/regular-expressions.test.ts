import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/lib/package-root.ts';
import { faultOf, regexesFromText, regexesOf } from '../support/source-tree/regular-expressions.ts';

/**
 * Those that may take longer than the length of their text, by name, each with its reason: the text is the
 * operator's, or its length has a bound. None does.
 */
const exceptions: ReadonlyMap<string, string> = new Map();

describe('regular expressions take time with the length of their text', () => {
  const found = regexesOf(packageRoot());

  test('all of the program are found', () => {
    expect(found.length).toBeGreaterThan(80);
    const names = found.map(({ name }) => name);
    expect(names).toContain(String.raw`src/sql/syntax/datetime.ts: /\s/`);
    expect(names).toContain('src/model/tenant.ts: /^[A-Za-z][A-Za-z0-9_-]{0,63}$/');
    expect([...exceptions.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(found.filter(({ name }) => !exceptions.has(name)))('$name', (regex) => {
    expect(faultOf(regex)).toBeUndefined();
  });
});

describe('the test finds what it is for', () => {
  const faultsIn = (text: string) =>
    regexesFromText({ 'src/a.ts': text }).map((regex) => [regex.name, faultOf(regex)]);

  test.each([
    ['an end that is looked for from every place', String.raw`/\s+ago\s*$/i`, '2nd degree polynomial'],
    ['digits that two parts may take', String.raw`/^(\d+\.?\d*)x$/`, '2nd degree polynomial'],
    ['a choice of two ways to read a bracket', String.raw`/^(?:\[\^?(?:[^\]])*\]|\[\^)*$/`, 'exponential'],
    ['repetitions within each other', '/^(?:a+)+$/', 'exponential'],
  ])('%s', (_, regex, fault) => {
    expect(faultsIn(`export const x = ${regex};`)).toEqual([[`src/a.ts: ${regex}`, fault]]);
  });

  test('in calls and constructors, with constants put in', () => {
    const text = `
      import { limits } from './limits.ts';
      export const a = new RegExp('^(a|a)*$');
      export const b = RegExp(\`^(?:x{0,\${limits.maxSqlDepth - 1}})$\`, 'u');
      export const c = (text: string) => text.replace(/(b+)+c/g, '');
    `;
    expect(faultsIn(text)).toEqual([
      ['src/a.ts: /^(a|a)*$/', 'exponential'],
      ['src/a.ts: /^(?:x{0,199})$/u', undefined],
      ['src/a.ts: /(b+)+c/g', 'exponential'],
    ]);
  });

  const template = 'new RegExp(`^$'.concat('{text}$`)');
  test.each(['new RegExp(text)', template, 'RegExp(String(text), "u")'])(
    'what is made of a text is refused: %s',
    (made) => {
      expect(() => faultsIn(`export const f = (text: string) => ${made};`)).toThrow('which is not constant');
    },
  );
});

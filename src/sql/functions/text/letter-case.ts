import { bindOnce } from '../../let-bindings.ts';

/**
 * Upper and lower case, character by character as in PostgreSQL. The store follows the rules of whole words:
 * `ß` becomes `SS` there, a sigma at the end of a word `ς`. (Unicode: the simple mappings of UnicodeData.txt,
 * not SpecialCasing.txt.)
 */
const twin = (from: number, to: number, count: number): readonly (readonly [string, string])[] =>
  Array.from({ length: count }, (_, index) => [
    String.fromCodePoint(from + index),
    String.fromCodePoint(to + index),
  ]);

/**
 * The characters whose upper case is one other character, but several by the rules of words:
 * Greek with a subscript.
 */
const subscripts = [
  ...twin(0x1f80, 0x1f88, 8),
  ...twin(0x1f90, 0x1f98, 8),
  ...twin(0x1fa0, 0x1fa8, 8),
  ...[0x1fb3, 0x1fc3, 0x1ff3].flatMap((code) => twin(code, code + 9, 1)),
];
const listed = (side: 0 | 1): string => `[${subscripts.map((pair) => `'${pair[side]}'`).join(', ')}]`;

/** Where there are more characters afterwards than before, each of them alone. */
export function upperCase(value: string): string {
  const alone = `if(lengthUTF8(upperUTF8(c)) = 1, upperUTF8(c), transform(c, ${listed(0)}, ${listed(1)}, c))`;
  const each = (x: string): string =>
    `arrayStringConcat(arrayMap(c -> ${alone}, extractAll(ifNull(${x}, ''), '(?s).')))`;
  const different = (x: string): string =>
    `if(lengthUTF8(upperUTF8(${x})) != lengthUTF8(${x}), ${each(x)}, upperUTF8(${x}))`;
  return bindOnce([value], different);
}

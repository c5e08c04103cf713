import * as fc from 'fast-check';

/** One of these texts. */
export const one = (...choices: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...choices);

/** A template whose holes are filled at random. */
export const written = (
  parts: TemplateStringsArray,
  ...holes: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> =>
  fc.tuple(...holes).map((each) => parts.map((part, index) => `${part}${each[index] ?? ''}`).join(''));

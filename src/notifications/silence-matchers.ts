import { RE2JS, RE2JSException } from 're2js';
import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { listOf, text } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { expressionSize } from './expression-size.ts';

export type Labels = Readonly<Record<string, string>>;

/** As Alertmanager has it: `isRegex` and `isEqual` together say `=`, `!=`, `=~` or `!~`. */
export const matcherSchema = v.object({
  name: v.pipe(text(limits.maxLabelLength), v.minLength(1)),
  value: text(limits.maxLabelLength),
  isRegex: v.boolean(),
  isEqual: v.optional(v.boolean()),
});
export const matchersSchema = v.pipe(
  listOf(matcherSchema, limits.maxMatchersPerSilence, 'must be an array of matchers'),
  v.minLength(1),
);
export type Matcher = v.InferOutput<typeof matcherSchema>;

/**
 * Whether an instance with these labels is meant. A label that is missing counts as empty. A regular
 * expression is about the whole value, and RE2 takes time linear in the value for each of them.
 */
export class CompiledMatchers {
  readonly #tests: ReadonlyArray<{ readonly name: string; matches(value: string): boolean }>;

  /** How much work it is to compile, and to match one character: each matcher at least 1. */
  readonly size: number;

  /** @throws AppError `bad_silence` for expressions that are not valid, or too large together */
  constructor(matchers: readonly Matcher[]) {
    const expressions = matchers.filter(({ isRegex }) => isRegex);
    const size = expressions.reduce((sum, { value }) => sum + expressionSize(value), 0);
    if (size > limits.maxSilenceExpressionSize) {
      const reason = `the regular expressions of the silence have ${size} parts with their repetitions written out; ${limits.maxSilenceExpressionSize} are allowed`;
      throw new AppError('bad_silence', reason);
    }
    this.size = size + matchers.length;
    this.#tests = matchers.map((matcher) => ({ name: matcher.name, matches: compile(matcher) }));
  }

  matches(labels: Labels): boolean {
    return this.#tests.every(({ name, matches }) => matches(labelOf(labels, name)));
  }

  /** Whether instances are meant that have these labels and perhaps others. */
  mayMatch(known: Labels): boolean {
    return this.#tests.every(
      ({ name, matches }) => !Object.hasOwn(known, name) || matches(labelOf(known, name)),
    );
  }

  /** Whether an instance without labels is meant: such a silence would be one of everything. */
  get matchesAnything(): boolean {
    return this.#tests.every(({ matches }) => matches(''));
  }
}

/** What it takes at most to match these labels: one step compares one character with one part. */
export const stepsOf = ({ size }: Pick<CompiledMatchers, 'size'>, labels: Labels): number =>
  size * Object.values(labels).reduce((longest, { length }) => Math.max(longest, length), 1);

const labelOf = (labels: Labels, name: string): string =>
  Object.hasOwn(labels, name) ? (labels[name] ?? '') : '';

function compile({ value, isRegex, isEqual = true }: Matcher): (text: string) => boolean {
  if (!isRegex) return (each) => (each === value) === isEqual;
  const pattern = expression(value);
  return (each) => pattern.matcher(each).matches() === isEqual;
}

function expression(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw new AppError('bad_silence', `a matcher has an invalid regular expression (RE2): ${thrown.message}`);
  }
}

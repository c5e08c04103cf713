import type { Answer } from './answer.ts';
import type { Attacker, Party } from './attacker.ts';

/** The size of an attack: large enough to test a bound, or small enough for a quick test. */
export type Size = 'full' | 'small';

/**
 * A hostile request, or a few of them at once. Each request must get a reply, which may be 2xx, 4xx or 503.
 * The caller measures what happens to others meanwhile.
 */
export interface Attack {
  /** Unique; `--only` selects by it. */
  readonly name: string;
  /** Its target, in one line. */
  readonly aim: string;
  /** If known: each error must have one of these codes. */
  readonly codes?: readonly string[];
  /**
   * True if the tests leave it out: a quick version would not be an attack, or another test covers it.
   */
  readonly fullOnly?: true;
  /** True if a connection may end without a reply: framing errors, and senders that are too slow. */
  readonly mayClose?: true;
  run(attacker: Attacker, size: Size): Promise<readonly Answer[]>;
}

/** @param full repetitions as an attack @param small as a test */
export type Sizes = readonly [full: number, small: number];

export const pick = ([full, small]: Sizes, size: Size): number => (size === 'full' ? full : small);

/** `part(0)`, `part(1)`, … joined. */
export const repeated = (
  count: number,
  part: string | ((index: number) => string),
  separator = '',
): string =>
  typeof part === 'string'
    ? Array<string>(count).fill(part).join(separator)
    : Array.from({ length: count }, (_, index) => part(index)).join(separator);

/** `text` nested in `before` and `after`, so many times. */
export const wrapped = (count: number, before: string, middle: string, after: string): string =>
  `${before.repeat(count)}${middle}${after.repeat(count)}`;

/** Does something so often, so many at a time. */
export async function flood<Result>(
  count: number,
  atATime: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) results.push(await work(index));
  };
  await Promise.all(Array.from({ length: Math.min(count, atATime) }, worker));
  return results;
}

interface SqlAttack extends Omit<Attack, 'run'> {
  readonly sizes?: Sizes;
  /** As many requests at once; 1 if it is left out. */
  readonly times?: number;
  readonly as?: Party;
  readonly sql: (count: number, request: number) => string;
}

/** An attack by the text of a query. */
export const sqlAttack = ({ sizes = [1, 1], times = 1, as = 'reader', sql, ...rest }: SqlAttack): Attack => ({
  ...rest,
  run: (attacker, size) =>
    Promise.all(
      Array.from({ length: times }, (_, request) => attacker.query(sql(pick(sizes, size), request), { as })),
    ),
});

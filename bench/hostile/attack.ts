import type { Answer } from './answer.ts';
import type { Attacker, Party } from './attacker.ts';

/** How large an attack is made: as a bound has to hold it, or so that it costs a test little time. */
export type Size = 'full' | 'small';

/**
 * A hostile request, or a few of them at once. Replies may be 2xx, 4xx and 503, each request has to have one,
 * and what happens to others meanwhile is measured by whoever runs the attack.
 */
export interface Attack {
  /** Unique, as `--only` takes it. */
  readonly name: string;
  /** What it goes after, in one line. */
  readonly aim: string;
  /** Codes of which every error must have one, where that is known. */
  readonly codes?: readonly string[];
  /**
   * It is left out of the tests: at a size that costs no time it would be no attack, or another test has it.
   */
  readonly fullOnly?: true;
  /** True where a connection may end without a reply: framing errors, and senders that are too slow. */
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

/** `before` and `after` around a text, so many times. */
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

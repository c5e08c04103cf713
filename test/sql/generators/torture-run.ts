import * as fc from 'fast-check';
import type { Difference, ServerPair } from './server-pair.ts';
import { type StatementClass, statementClasses } from './statement-classes.ts';
import type { Verdict } from './verdict.ts';

/** How many statements had which verdict. */
export type Counts = Record<Verdict['kind'], number>;
export const noCounts = (): Counts => ({ same: 0, errors: 0, refused: 0, late: 0, different: 0 });

/** The statements of a class that a seed makes; the same in each run. */
export const statementsOf = (name: StatementClass, seed: number, count: number): readonly string[] =>
  fc.sample(statementClasses[name], { seed, numRuns: count });

export interface Compared {
  readonly counts: Counts;
  readonly differences: readonly Difference[];
}

/**
 * Asks both servers, and makes each statement with a difference as small as can be.
 * @param isKnown of a difference that need not be made smaller again
 */
export async function compareStatements(
  pair: ServerPair,
  statements: readonly string[],
  isKnown: (reason: string) => boolean = () => false,
): Promise<Compared> {
  const counts = noCounts();
  const different: string[] = [];
  await pair.compare(statements, (statement, verdict) => {
    counts[verdict.kind] += 1;
    if (verdict.kind === 'different' && !isKnown(verdict.reason)) different.push(statement);
  });
  const differences: Difference[] = [];
  for (const statement of different) differences.push(await pair.shrink(statement));
  return { counts, differences };
}

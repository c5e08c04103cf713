import { StoreError } from '../clickhouse/store-error.ts';
import type { RowRange } from '../model/block.ts';
import { halveRows, type Rows } from './row-ranges.ts';

/** Rows that are next to each other and are refused for the same reason. */
export interface Refusal extends RowRange {
  readonly error: StoreError;
}

/**
 * Finds the rows that a trial refuses, by halving: first between requests, then inside them.
 *
 * It searches breadth first. So when the trials are used up, only small pieces are still undecided, and not
 * half of all rows. Those pieces are refused as a whole, with the good rows in them.
 *
 * @param trial throws a `StoreError` for rows that are refused
 * @param maxTrials after as many, pieces are not halved any more; at most twice as many trials are made
 * @returns the refused rows in order, none if the trial takes everything; and whether the trials were used up
 * @throws StoreError retryable, or whatever else the trial throws
 */
export async function findRefusedRows(
  rows: readonly Rows[],
  trial: (rows: Rows) => Promise<void>,
  maxTrials: number,
): Promise<{ refusals: readonly Refusal[]; usedUp: boolean }> {
  const refusals: Refusal[] = [];
  let trials = 0;
  let pieces = rows;
  while (pieces.length > 0) {
    const smaller: Rows[] = [];
    for (const piece of pieces) {
      trials += 1;
      const error = await refusalOf(piece, trial);
      if (error === undefined) continue;
      const halves = trials < maxTrials ? halveRows(piece) : undefined;
      if (halves === undefined) refusals.push({ from: piece.from, to: piece.to, error });
      else smaller.push(...halves);
    }
    pieces = smaller;
  }
  return { refusals: joinNeighbours(refusals), usedUp: trials >= maxTrials };
}

async function refusalOf(rows: Rows, trial: (rows: Rows) => Promise<void>): Promise<StoreError | undefined> {
  try {
    await trial(rows);
    return undefined;
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return error;
    throw error;
  }
}

function joinNeighbours(refusals: readonly Refusal[]): Refusal[] {
  const joined: Refusal[] = [];
  for (const refusal of refusals.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last?.to === refusal.from && last.error.clickHouseCode === refusal.error.clickHouseCode) {
      joined[joined.length - 1] = { ...last, to: refusal.to };
    } else joined.push(refusal);
  }
  return joined;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { findRefusedRows } from '../../../src/drain/refused-rows.ts';
import { type Rows, takeRows, withoutRows } from '../../../src/drain/row-ranges.ts';
import type { RowRange } from '../../../src/model/block.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';

/** Requests of so many rows each, whose ids count up from 0. */
function batchOf(sizes: readonly number[]): Rows {
  let next = 0;
  const blocks = sizes.map((rows) => {
    const [block] = eventBlocks(Array.from({ length: rows }, () => ({ id: next++ })));
    if (block === undefined) throw new Error('no block');
    return { rows, columns: block.columns, bytes: block.bytes };
  });
  return { from: 0, to: next, blocks };
}

const refusal = (code: number) => new StoreError(`refused with ${code}`, code, undefined);

/** Refuses what holds one of these rows. */
function trialOf(bad: ReadonlySet<number>) {
  const trial = async ({ from, to, blocks }: Rows) => {
    trial.count += 1;
    expect(blocks.reduce((sum, { rows }) => sum + rows, 0)).toBe(to - from);
    for (let row = from; row < to; row += 1) if (bad.has(row)) throw refusal(469);
  };
  trial.count = 0;
  return trial;
}

const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 });
const rowsIn = (ranges: readonly RowRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));

describe('finding the rows that are refused', () => {
  it('finds these rows and no others, neighbours together', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(fc.nat(400)), async (requests, picks) => {
        const batch = batchOf(requests);
        const bad = new Set(picks.map((pick) => pick % batch.to));
        const { refusals, usedUp } = await findRefusedRows([batch], trialOf(bad), 10_000);
        expect(rowsIn(refusals)).toEqual([...bad].sort((a, b) => a - b));
        expect(usedUp).toBe(false);
        for (const [index, { from }] of refusals.entries()) expect(refusals[index - 1]?.to).not.toBe(from);
      }),
    );
  });

  it('misses none and makes a bounded number of trials when these are few', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(fc.nat(400)), fc.integer({ min: 1, max: 40 }), async (...args) => {
        const [requests, picks, maxTrials] = args;
        const batch = batchOf(requests);
        const bad = new Set(picks.map((pick) => pick % batch.to));
        const trial = trialOf(bad);
        const { refusals } = await findRefusedRows([batch], trial, maxTrials);
        expect(rowsIn(refusals)).toEqual(expect.arrayContaining([...bad]));
        expect(trial.count).toBeLessThanOrEqual(2 * maxTrials + 1);
      }),
    );
  });

  it('says when the trials were used up', async () => {
    const bad = new Set(Array.from({ length: 64 }, (_, row) => row));
    const { refusals, usedUp } = await findRefusedRows([batchOf([64])], trialOf(bad), 10);
    expect(refusals).toMatchObject([{ from: 0, to: 64 }]);
    expect(usedUp).toBe(true);
  });

  it('takes few trials for a single bad row among many', async () => {
    const trial = trialOf(new Set([70_007]));
    const batch = batchOf([50_000, 50_000]);
    expect((await findRefusedRows([batch], trial, 1000)).refusals).toMatchObject([
      { from: 70_007, to: 70_008 },
    ]);
    expect(trial.count).toBeLessThan(2 * 20);
  });

  it('keeps rows apart that are refused for different reasons', async () => {
    const trial = async ({ from, to }: Rows) => {
      if (from <= 1 && to > 1) throw refusal(6);
      if (from <= 2 && to > 2) throw refusal(117);
    };
    const { refusals } = await findRefusedRows([batchOf([4])], trial, 100);
    expect(refusals.map(({ from, to, error }) => [from, to, error.clickHouseCode])).toEqual([
      [1, 2, 6],
      [2, 3, 117],
    ]);
  });

  it('takes a block that cannot be cut as one', async () => {
    const batch = batchOf([3, 4, 2]);
    const blocks = batch.blocks.map((block, index) =>
      index === 1 ? { ...block, bytes: block.bytes.subarray(1) } : block,
    );
    const { refusals } = await findRefusedRows([{ ...batch, blocks }], trialOf(new Set([5])), 100);
    expect(refusals).toMatchObject([{ from: 3, to: 7 }]);
  });

  it.each([
    ['a store that does not answer', new StoreError('gone', undefined, undefined)],
    ['a mistake', new TypeError('x')],
  ])('decides nothing on %s', async (_, error) => {
    const trial = async () => {
      throw error;
    };
    await expect(findRefusedRows([batchOf([2])], trial, 100)).rejects.toBe(error);
  });
});

describe('rows of a batch', () => {
  it('without some of them are the others, in order', () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.tuple(fc.nat(400), fc.nat(40)), { maxLength: 5 }), (requests, picks) => {
        const batch = batchOf(requests);
        const gone = picks.map(([at, length]) => {
          const from = at % batch.to;
          return { from, to: Math.min(batch.to, from + length + 1) };
        });
        const left = withoutRows(batch, gone);
        const goneRows = new Set(rowsIn(gone));
        expect(rowsIn(left)).toEqual(rowsIn([batch]).filter((row) => !goneRows.has(row)));
      }),
    );
  });

  it('are the same bytes where whole requests are taken', () => {
    const batch = batchOf([3, 4, 2]);
    const taken = takeRows(batch, { from: 3, to: 9 });
    expect(taken.blocks).toEqual(batch.blocks.slice(1));
    expect(taken.blocks[0]?.bytes).toBe(batch.blocks[1]?.bytes);
  });
});

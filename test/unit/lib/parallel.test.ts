import { describe, expect, it } from 'vitest';
import { forEachParallel } from '../../../src/lib/parallel.ts';

const turn = () => new Promise(setImmediate);

describe('work in parallel', () => {
  it('is done for each item, in order of beginning, never more at once than the limit', async () => {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    await forEachParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      begun.push(item);
      running += 1;
      most = Math.max(most, running);
      for (let turns = 0; turns < item % 3; turns += 1) await turn();
      running -= 1;
    });
    expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
    expect(running).toBe(0);
  });

  it('begins nothing more after a failure, and reports it', async () => {
    const begun: number[] = [];
    const work = forEachParallel([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      await turn();
      if (item === 2) throw new Error('two');
      await turn();
    });
    await expect(work).rejects.toThrow('two');
    await turn();
    await turn();
    expect(begun).toEqual([1, 2]);
  });
});

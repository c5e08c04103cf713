import { expect, it } from 'vitest';
import { Semaphore } from '../../../src/lib/semaphore.ts';

const turn = () => new Promise(setImmediate);

it('a semaphore lets so many run at the same time, in the order of asking, failures or not', async () => {
  const semaphore = new Semaphore(3);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const works = Array.from({ length: 9 }, (_, index) =>
    semaphore.run(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      for (let turns = 0; turns < index % 3; turns += 1) await turn();
      running -= 1;
      if (index % 4 === 1) throw new Error(`work ${index}`);
      return index;
    }),
  );
  const results = await Promise.allSettled(works);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(most).toBe(3);
  expect(running).toBe(0);
  expect(await semaphore.run(async () => 'again')).toBe('again');
});

import { expect, it } from 'vitest';
import { Coalescer } from '../../../src/lib/coalescer.ts';

/** A coalescer whose work ends when it is told to. */
function gated(sizeOf?: (item: string) => number, maxSize?: number) {
  const rounds: string[][] = [];
  const ends: Array<(error?: Error) => void> = [];
  const work = (items: readonly string[]) =>
    new Promise<void>((done, failed) => {
      rounds.push([...items]);
      ends.push((error) => (error === undefined ? done() : failed(error)));
    });
  const end = async (error?: Error) => {
    ends.shift()?.(error);
    await new Promise(setImmediate);
  };
  return { shared: new Coalescer(work, sizeOf, maxSize), rounds, end };
}

it('who asks during a round shares the next one with the others', async () => {
  const { shared, rounds, end } = gated();
  const first = shared.submit('a');
  let early = false;
  const others = Promise.all([shared.submit('b'), shared.submit('c')]).then(() => {
    early = true;
  });
  expect(rounds).toEqual([['a']]);
  await end();
  await first;
  expect([early, rounds]).toEqual([false, [['a'], ['b', 'c']]]);
  await end();
  await others;
  const last = shared.submit('d');
  expect(rounds.at(-1)).toEqual(['d']);
  await end();
  await last;
});

it('a round that fails has failed for those in it, and for nobody else', async () => {
  const { shared, rounds, end } = gated();
  const failing = [shared.submit('a')];
  const fine = [shared.submit('b'), shared.submit('c')];
  const settled = Promise.allSettled(failing);
  await end(new Error('no'));
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { message: 'no' } }]);
  await end();
  await Promise.all(fine);
  expect(rounds).toEqual([['a'], ['b', 'c']]);
});

it('a round is of a bounded size, or of one item', async () => {
  const { shared, rounds, end } = gated((item) => item.length, 5);
  const all = Promise.all(
    ['first', 'aa', 'bbb', 'c', 'much-too-long', 'd'].map((item) => shared.submit(item)),
  );
  for (let round = 0; round < 5; round += 1) await end();
  await all;
  expect(rounds).toEqual([['first'], ['aa', 'bbb'], ['c'], ['much-too-long'], ['d']]);
});

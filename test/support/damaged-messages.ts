import fc from 'fast-check';
import { expect } from 'vitest';
import { type Pair, runs } from './kernel-pair.ts';
import { mutated, mutation } from './mutations.ts';

/** Messages cut, overwritten and lengthened anywhere: kernel and decoder say the same of each. `pair` knows their series. */
export function compareMutations(pair: Pair, message: Buffer, numRuns: number): void {
  let tried = 0;
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
      tried++;
      if (pair.decode(mutated(message, mutations)).ok) accepted++;
    }),
    // All of them, however slow the machine is: of few, it is chance how many are accepted.
    { numRuns },
  );
  expect(accepted).toBeGreaterThan(tried / 60);
}

/** Any bytes, alone and behind a message, and the message cut off at each of its bytes. */
export function compareTails(pair: Pair, message: Buffer, numRuns: number): void {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      pair.decode(Buffer.concat([message, bytes]));
      pair.decode(Buffer.from(bytes));
    }),
    runs(numRuns),
  );
  for (let length = 0; length <= message.length; length++) pair.decode(message.subarray(0, length));
}

import fc from 'fast-check';
import { expect } from 'vitest';
import { mutated, mutation } from '../decode/mutations.ts';
import { type Pair, runs } from './kernel-pair.ts';

/** Damages messages anywhere: the kernel and the decoder must agree on each. `pair` knows their series. */
export function compareMutations(pair: Pair, message: Buffer, numRuns: number): void {
  let tried = 0;
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
      tried++;
      if (pair.decode(mutated(message, mutations)).ok) accepted++;
    }),
    // The full number of runs even on a slow machine: with few runs, the number of accepted messages
    // would depend on chance.
    { numRuns },
  );
  expect(accepted).toBeGreaterThan(tried / 60);
}

/** Random bytes, alone and after a message, and the message cut off at each byte. */
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

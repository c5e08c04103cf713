/**
 * When V8 optimizes a function: after it has run so much of its bytecode, several times over. Compiling costs more than it
 * saves in a process that gets few requests, however large they are, and much less than it saves in one that gets many.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * With V8's own budget, 0.4 to 0.6 of the 3.2 CPU seconds for the first 2 million samples in requests of 2,000 are
 * compiling; with this 0.3 less are needed in all.
 */
const lateBudgetBytes = 400_000;
/**
 * V8's own. With the other one, 20,000 requests of 50 samples took 24.1 CPU seconds in place of 20.4, side by side on a busy
 * machine, and the last 5,000 of them a third more.
 */
const usualBudgetBytes = 66 * 1024;

/** Many enough for `usualBudgetBytes`: several times as many as the first 2 million samples come in. */
export const lateRequests = 4_000;

/**
 * Of requests so small that they are decoded in the main thread. Who sends such ones sends many, and the late budget costs
 * them more than it saves: with the usual one from the beginning, 10,000 requests of 50 samples took 307 us of the main thread
 * each in place of 367 to 482, and the last 5,000 of them 220 in place of 333.
 */
export const lateSmallRequests = 100;

const setBudget = (bytes: number): void => setFlagsFromString(`--interrupt-budget=${bytes}`);

/** From now on, what is optimized is what runs a lot. */
export const compileLate = (): void => setBudget(lateBudgetBytes);

/** To be called for each request: after so many of them, V8 optimizes as it usually does. */
export function compileLateUntil(requests: number): () => void {
  let seen = 0;
  return () => {
    seen += 1;
    if (seen === requests) setBudget(usualBudgetBytes);
  };
}

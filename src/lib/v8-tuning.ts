/**
 * Settings of V8 for this service: when it optimizes functions, and when it collects the garbage of its old
 * generation.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * V8 optimizes a function after it has run so much of its bytecode, several times over. Compiling costs more
 * than it saves in a process that gets few requests, however large they are, and much less than it saves in
 * one that gets many. With V8's own budget, 0.4 to 0.6 of the 3.2 CPU seconds for the first 2 million samples
 * in requests of 2,000 are compiling; with this one, 0.3 less are needed in all.
 */
const lateBudgetBytes = 400_000;
/**
 * V8's own. With the late one, 20,000 requests of 50 samples took 24.1 CPU seconds in place of 20.4, side by
 * side on a busy machine, and the last 5,000 of them a third more.
 */
const usualBudgetBytes = 66 * 1024;

/**
 * After so many requests `usualBudgetBytes` is better: several times as many as the first 2 million samples
 * come in.
 */
export const lateRequests = 4_000;

/**
 * The same for requests so small that they are decoded in the main thread. A client that sends small requests
 * sends many, and the late budget costs more than it saves: with the usual one from the beginning, 10,000
 * requests of 50 samples took 307 us of the main thread each in place of 367 to 482, and the last 5,000 of
 * them 220 in place of 333.
 */
export const lateSmallRequests = 100;

/**
 * Whether this V8 has the flag `--interrupt-budget`. It went with V8 12 (Node 22), which says so on stderr
 * where it is set all the same, and optimizes by the count of calls.
 */
const hasInterruptBudget = Number.parseInt(process.versions.v8, 10) < 12;

function setBudget(bytes: number): void {
  if (hasInterruptBudget) setFlagsFromString(`--interrupt-budget=${bytes}`);
}

/**
 * From now on V8 optimizes late, where it can be told, so that only functions that run a lot are compiled.
 */
export const compileLate = (): void => setBudget(lateBudgetBytes);

/**
 * The returned function is to be called for each request: after so many of them, V8 optimizes as it usually
 * does.
 */
export function compileLateUntil(requests: number): () => void {
  let seen = 0;
  return () => {
    seen += 1;
    if (seen === requests) setBudget(usualBudgetBytes);
  };
}

/**
 * The old generation is collected when the heap has grown by so much since the last collection. V8 itself
 * lets a small heap grow by half or so, and counts the memory of bodies and blocks, which are large and gone
 * at once: of the service's 15 MB it marked all 12 to 14 times in 1,000 requests of 2,000 samples, each 50 to
 * 170 ms on a busy machine, to find what it had found before. So the heap may grow by three times its size.
 */
const heapGrowthPercent = 300;

/** From now on, in this thread and its workers. It costs memory: up to three times of what lives. */
export const collectLate = (): void => setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);

/** When V8 collects the garbage of its old generation: when the heap has grown by so much since the last time. */
import { setFlagsFromString } from 'node:v8';

/**
 * V8 itself lets a small heap grow by half or so, and counts the memory of bodies and blocks, which are large and gone at once:
 * of the service's 15 MB it marked all 12 to 14 times in 1,000 requests of 2,000 samples, each 50 to 170 ms on a busy machine,
 * to find what it had found before. So the heap may grow by three times its size.
 */
const heapGrowthPercent = 300;

/** From now on, in this thread and its workers. It costs memory: up to three times of what lives. */
export const collectLate = (): void => setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);

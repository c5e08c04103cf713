import { writeFileSync } from 'node:fs';
import { cpuSeconds, processTree, residentBytes, unlessGone } from '../proc.ts';

/**
 * Linux only: a service and all processes that it has started, each counted once. A process that has ended
 * does not count.
 */

/** CPU seconds of all of them, and of those that have ended. */
export const treeCpuSeconds = (pid: number): number => unlessGone(0, () => cpuSeconds(pid));

/** From here on `treePeakBytes` counts anew. */
export function forgetPeaks(pid: number): void {
  // 5 resets the peak of the resident memory: proc(5), /proc/pid/clear_refs.
  for (const each of processTree(pid))
    unlessGone(undefined, () => writeFileSync(`/proc/${each}/clear_refs`, '5'));
}

/** The sum of the peaks of all of them, which is at least the peak of their sum. */
export const treePeakBytes = (pid: number): number => unlessGone(0, () => residentBytes(pid).peak);

export const treeResidentBytes = (pid: number): number => unlessGone(0, () => residentBytes(pid).now);

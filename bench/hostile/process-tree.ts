import { writeFileSync } from 'node:fs';
import { cpuSeconds, processTree, residentBytes, unlessGone } from '../proc.ts';

/**
 * Linux only: a service and all that it has started, each process counted once. One that has
 * ended counts nothing.
 */

/** CPU seconds of all of them, and of those that have ended. */
export const treeCpuSeconds = (pid: number): number => unlessGone(0, () => cpuSeconds(pid));

/** From here on `treePeakBytes` counts anew. */
export function forgetPeaks(pid: number): void {
  // 5 resets the peak of the resident memory: proc(5), /proc/pid/clear_refs.
  for (const each of processTree(pid))
    unlessGone(undefined, () => writeFileSync(`/proc/${each}/clear_refs`, '5'));
}

/** The peaks of all of them together: no less than the peak of all together. */
export const treePeakBytes = (pid: number): number => unlessGone(0, () => residentBytes(pid).peak);

export const treeResidentBytes = (pid: number): number => unlessGone(0, () => residentBytes(pid).now);

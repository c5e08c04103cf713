import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpuSeconds, residentBytes } from '../proc.ts';

/** Linux only: a process and all that it has started, since the engine may be a process of its own. */

/** Ids, that of the process first. A process that ends meanwhile is left out. */
export function processTree(pid: number): readonly number[] {
  const pids = [pid];
  // An array that grows while it is walked visits what was added.
  for (const parent of pids) pids.push(...childrenOf(parent));
  return pids;
}

function childrenOf(pid: number): readonly number[] {
  return unlessGone([], () =>
    readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      unlessGone([], () =>
        readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
          .split(' ')
          .filter((text) => text.trim() !== '')
          .map(Number),
      ),
    ),
  );
}

/** CPU seconds of all of them, and of those that have ended. */
export const treeCpuSeconds = (pid: number): number => sum(pid, cpuSeconds);

/** From here on `treePeakBytes` counts anew. */
export function forgetPeaks(pid: number): void {
  // 5 resets the peak of the resident memory: proc(5), /proc/pid/clear_refs.
  for (const each of processTree(pid))
    unlessGone(undefined, () => writeFileSync(`/proc/${each}/clear_refs`, '5'));
}

/** The peaks of all of them together: no less than the peak of all together. */
export const treePeakBytes = (pid: number): number => sum(pid, (each) => residentBytes(each).peak);

export const treeResidentBytes = (pid: number): number => sum(pid, (each) => residentBytes(each).now);

const sum = (pid: number, figure: (pid: number) => number): number =>
  processTree(pid).reduce((total, each) => total + unlessGone(0, () => figure(each)), 0);

/** A process that has just ended has no files in /proc, or none with numbers. */
function unlessGone<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

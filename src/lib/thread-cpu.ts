import { readFileSync } from 'node:fs';
import { hasErrorCode } from './files.ts';

/**
 * CPU time that a thread of this process has taken since its start, as Linux counts it; reading it takes 0.1 ms.
 * @param threadId in the system
 * @returns milliseconds; undefined once the thread is gone, or where the kernel does not tell
 */
export function threadCpuMs(threadId: number): number | undefined {
  try {
    // Nanoseconds on a processor, nanoseconds of waiting for one, turns.
    const [nanos = ''] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ', 1);
    return Number(nanos) / 1e6;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

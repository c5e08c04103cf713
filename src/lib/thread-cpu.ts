import { readFileSync } from 'node:fs';
import { hasErrorCode } from './files.ts';

/**
 * The CPU time of a thread of this process since its start, from Linux; reading it takes 0.1 ms.
 * @param threadId the kernel's id of the thread
 * @returns milliseconds; undefined if the thread has ended or the kernel does not tell
 */
export function threadCpuMs(threadId: number): number | undefined {
  try {
    // Nanoseconds on a CPU, nanoseconds of waiting for one, time slices.
    const [nanos = ''] = readFileSync(`/proc/self/task/${threadId}/schedstat`, 'utf8').split(' ', 1);
    return Number(nanos) / 1e6;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

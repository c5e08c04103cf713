import { readFileSync } from 'node:fs';

/**
 * Bytes of memory that a process has in RAM, its files included (`VmRSS` of proc_pid_status(5)); some 20
 * microseconds. Undefined if the process is gone, and on systems without /proc.
 */
export function residentBytes(pid: number): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

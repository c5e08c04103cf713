import { readFileSync } from 'node:fs';

/**
 * How many files and connections this process may have open; infinite if the system does not tell (not
 * Linux).
 */
export function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

import { randomUUID } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { hasErrorCode, readIfThere } from './files.ts';

/** Another process holds the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  readonly pid: number;

  constructor(pid: number, file: string) {
    super(`the process ${pid} holds ${file}: stop it first, or use another data directory (--data-dir)`);
    this.pid = pid;
  }
}

/**
 * Takes a lock file for this process.
 *
 * The lock of a killed process must not block the next one, and the pid of a dead process may have been
 * reused (in containers it nearly always is). So the file identifies the process by pid and start time, and
 * counts only while such a process runs.
 * @returns releases the lock
 * @throws LockHeld
 */
export async function takeLock(file: string): Promise<() => Promise<void>> {
  const id = randomUUID();
  const draft = `${file}.${id}`;
  const content = `${process.pid} ${await startTime(process.pid)} ${id}\n`;
  await writeFile(draft, content, { mode: 0o600 });
  try {
    while (!(await linkIfFree(draft, file))) await removeIfDead(file, `${draft}.dead`);
    // Another starter that read the dead lock a moment ago may have moved away this new one instead.
    await setTimeout(settleMs);
    if ((await readIfThere(file)) !== content) throw new LockHeld(await holder(file), file);
    return () => rm(file, { force: true });
  } finally {
    await rm(draft, { force: true });
  }
}

/** Longer than a starter takes from reading a dead lock to moving it away. */
const settleMs = 30;

const holder = async (file: string): Promise<number> => Number((await readIfThere(file))?.split(' ')[0]);

/** A hard link fails if the name exists, so exactly one of several starters gets the lock. */
async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @throws LockHeld if the holder is alive */
async function removeIfDead(file: string, aside: string): Promise<void> {
  const found = await readIfThere(file);
  if (found === undefined) return;
  const [pid = '', started = ''] = found.trim().split(' ');
  if (await isRunning(Number(pid), started)) throw new LockHeld(Number(pid), file);
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return;
    throw error;
  }
  // Another starter may have replaced the dead lock since it was read. Then its lock is put back.
  if ((await readIfThere(aside)) !== found) await linkIfFree(aside, file);
  await rm(aside, { force: true });
}

async function isRunning(pid: number, started: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM would mean that the process exists and belongs to another user.
    if (hasErrorCode(error, 'ESRCH')) return false;
  }
  return (await startTime(pid)) === started;
}

/**
 * The start time of a process: the boot id and field 22 of /proc/<pid>/stat (clock ticks since boot). Without
 * /proc, a constant, so that any running process with that pid counts.
 */
async function startTime(pid: number): Promise<string> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return 'unknown';
  // The program name, in parentheses, can contain anything. The fields after it start with the state.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Z: the process was killed, but its parent has not reaped it yet.
  if (fields[0] === 'Z') return 'dead';
  const boot = (await readIfThere('/proc/sys/kernel/random/boot_id'))?.trim() ?? 'unknown';
  return `${boot}/${fields[19] ?? 'unknown'}`;
}

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Linux only: what the kernel says about a process, from proc(5). */

/** Clock ticks a second, the unit of the times in `/proc/<pid>/stat`. */
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * A process and all its running descendants: the service has its engine in a child process.
 */
export function processTree(pid: number): readonly number[] {
  const tasks = entriesOf(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readIfThere(`/proc/${pid}/task/${task}/children`).trim().split(' '),
  );
  return [pid, ...children.filter((child) => child !== '').flatMap((child) => processTree(Number(child)))];
}

/** A child that has ended meanwhile counts nothing; the process itself must be there. */
function sumOf([pid, ...children]: readonly number[], measure: (pid: number) => number): number {
  const own = pid === undefined ? 0 : measure(pid);
  return children.reduce((sum, child) => sum + unlessGone(0, () => measure(child)), own);
}

/** CPU seconds of all threads of a process and of its children, running or ended: user and system. */
export const cpuSeconds = (pid: number): number => sumOf(processTree(pid), ownCpuSeconds);

function ownCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold anything, so the fields are counted from the last of them:
  // the first after it is number 3, and utime, stime, cutime, cstime are 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / ticksPerSecond;
}

/**
 * CPU microseconds of all threads of a process that run now, without those of its children, from
 * `/proc/<pid>/task/<tid>/schedstat`: that of a process that does a little now and then is not lost in ticks.
 */
export function ownCpuMicros(pid: number): number {
  const tasks = entriesOf(`/proc/${pid}/task`);
  return tasks.reduce((sum, task) => sum + threadCpuMicros(pid, Number(task)), 0);
}

/** CPU microseconds of one thread; the first one of a process has its number. */
export const threadCpuMicros = (pid: number, thread: number): number =>
  Number(readIfThere(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1000;

/** Resident memory of a process without its children, bytes. */
export const ownResidentBytes = (pid: number): number => statusField(pid, 'VmRSS') * 1024;

/**
 * Resident memory now (`VmRSS`) and at its highest (`VmHWM`), bytes, with that of its children.
 * Each process peaks at a different time, and shared memory counts for each of them, so the sums are upper
 * bounds.
 */
export function residentBytes(pid: number): { readonly now: number; readonly peak: number } {
  const pids = processTree(pid);
  const of = (name: string) => sumOf(pids, (one) => statusField(one, name)) * 1024;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

/** Threads of the process and its children, those of the engine and of the runtime among them. */
export const threadCount = (pid: number): number =>
  sumOf(processTree(pid), (one) => statusField(one, 'Threads'));

/**
 * Files, sockets and the like that the process and its children have open, but for the three statistics files
 * that ClickHouse keeps open for each thread from its first task on: those follow from the threads.
 */
export const openDescriptors = (pid: number): number => sumOf(processTree(pid), ownDescriptors);

function ownDescriptors(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => !/^\/proc\/\d+\/task\//.test(linkTarget(join(folder, name))))
    .length;
}

/** Empty for a descriptor that was closed a moment ago. */
const linkTarget = (path: string): string => unlessGone('', () => readlinkSync(path));

const readIfThere = (file: string): string => unlessGone('', () => readFileSync(file, 'utf8'));

const entriesOf = (folder: string): readonly string[] => unlessGone([], () => readdirSync(folder));

/** What is read from /proc, or a default if the process has just ended. */
export function unlessGone<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return otherwise;
    throw error;
  }
}

/**
 * A number of `/proc/<pid>/status`; those with the unit `kB` are KiB. One that has ended and waits for its
 * parent has no memory.
 */
function statusField(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1];
  if (value !== undefined) return Number(value);
  if (/^State:\s+[ZX]/m.test(status)) return 0;
  throw new Error(`/proc/${pid}/status has no ${name}`);
}

/**
 * Bytes that the files of a folder take on disk: blocks, not lengths, since some files are made with holes.
 */
export function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0);
}

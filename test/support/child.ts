import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChildOptions {
  /** Shown in failures. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Output kept of each stream; older text is dropped, so that a chatty child cannot fill the memory. */
const maxOutputLength = 1_000_000;

/**
 * A process of a test or benchmark, leading a process group of its own: `kill` reaches whatever it has started.
 * None outlives this process, however this process ends its run.
 */
export class Child {
  readonly pid: number;
  readonly name: string;
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  exit: Exit | undefined;
  #stdout = '';
  #stderr = '';
  readonly #process: ChildProcess;

  private constructor(name: string, process: ChildProcess, pid: number) {
    this.name = name;
    this.pid = pid;
    this.#process = process;
    process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout = (this.#stdout + text).slice(-maxOutputLength);
    });
    process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-maxOutputLength);
    });
    // `close` rather than `exit`: by then all output has been read.
    this.exited = new Promise((resolve) => {
      process.once('close', (code, signal) => {
        this.exit = { code, signal };
        alive.delete(this);
        resolve(this.exit);
      });
    });
  }

  static async start(options: ChildOptions): Promise<Child> {
    const { name, command, args, env = {}, cwd } = options;
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    await once(child, 'spawn'); // throws the reason when the program cannot be started
    if (child.pid === undefined) throw new Error(`${name} was started without a process id`);
    const started = new Child(name, child, child.pid);
    alive.add(started);
    return started;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Signals the process group. A process that has ended already is left alone: its id may be another's. */
  kill(signal: NodeJS.Signals): void {
    if (this.#process.exitCode === null && this.#process.signalCode === null) process.kill(-this.pid, signal);
  }

  /** Signals and waits for the end; a process that does not end in time fails the caller. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', timeoutMs = 30_000): Promise<Exit> {
    this.kill(signal);
    return await this.ended(timeoutMs);
  }

  async ended(timeoutMs = 30_000): Promise<Exit> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`${this.name} still runs after ${timeoutMs} ms\n${this.report()}`));
      timer = setTimeout(fail, timeoutMs);
    });
    try {
      return await Promise.race([this.exited, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until `probe` says true, or fails with the process's own words when it ends or takes too long. */
  async ready(probe: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await probe())) {
      if (this.exit !== undefined)
        throw new Error(`${this.name} ended before it was ready\n${this.report()}`);
      if (performance.now() > deadline) {
        throw new Error(`${this.name} is not ready after ${timeoutMs} ms\n${this.report()}`);
      }
      await sleep(20);
    }
  }

  /** The end of its output, for messages of failures. */
  report(): string {
    const state = this.exit === undefined ? `running as ${this.pid}` : JSON.stringify(this.exit);
    return `${this.name}: ${state}\n--- stdout\n${this.#stdout.slice(-2000)}\n--- stderr\n${this.#stderr.slice(-6000)}`;
  }
}

const alive = new Set<Child>();
const folders = new Set<string>();

// The last line of defence: a test that failed half-way, or a run stopped by hand, leaves nothing behind. The
// test runner ends its processes with SIGTERM, which gives no `exit` event by itself.
function cleanUp(): void {
  for (const child of alive) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
process.once('exit', cleanUp);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.kill(process.pid, signal); // ends this process, now that nobody listens
  });
}

/** A new empty folder, removed when this process ends if not before. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${purpose}-`));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(folder);
}

/**
 * Below those that Linux and macOS give to whoever asks for any: one of these may be another's while its service is down,
 * and there are dozens of such moments in a run of all tests. Each process of the test runner has a part of its own.
 */
const portsPerProcess = 2000;
const firstPort = 10_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 11) * portsPerProcess;
let portInPart = Math.floor(Math.random() * portsPerProcess);

/** A TCP port of the loopback interface that nobody listens on right now, another one each time. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < portsPerProcess; tried += 1) {
    portInPart = (portInPart + 1) % portsPerProcess;
    // Others may ask for one while this one is tried.
    const candidate = firstPort + portInPart;
    if (await isFree(candidate)) return candidate;
  }
  throw new Error('Every TCP port of this process is taken');
}

async function isFree(candidate: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(candidate, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Whether no process has this id. */
export const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  if (process.platform !== 'linux') return false;
  try {
    // One whose last thread has ended, and whose parent has not looked, has no memory and no files.
    const hasEnded = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return hasEnded && readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
};

/** The process that has the embedded engine of this folder, or had it last; NaN if it had none. */
export function enginePid(directory: string): number {
  const lock = join(directory, 'engine.lock');
  return existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : Number.NaN;
}

/** Whether a program can be started from the PATH. */
export const onPath = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

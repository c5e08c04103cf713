import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChildOptions {
  /** Shown in failure messages. */
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

/** How much output of each stream is kept; older text is dropped. */
const maxOutputLength = 1_000_000;

/**
 * A child process of a test or benchmark, in a process group of its own: `kill` also reaches what it has
 * started. It never outlives this process, however that ends.
 */
export class Child {
  readonly pid: number;
  readonly name: string;
  readonly exited: Promise<Exit>;
  /** Undefined while the process runs. */
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

  /** Signals the process group, unless the process has ended: its id may have been reused. */
  kill(signal: NodeJS.Signals): void {
    if (this.#process.exitCode === null && this.#process.signalCode === null) process.kill(-this.pid, signal);
  }

  /** Signals the process and waits for its end. Fails if it does not end in time. */
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

  /** Waits until `probe` returns true. Fails with the output of the process if it ends or takes too long. */
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

  /** The last output, for failure messages. */
  report(): string {
    const state = this.exit === undefined ? `running as ${this.pid}` : JSON.stringify(this.exit);
    return `${this.name}: ${state}\n--- stdout\n${this.#stdout.slice(-2000)}\n--- stderr\n${this.#stderr.slice(-6000)}`;
  }
}

const alive = new Set<Child>();
const folders = new Set<string>();

// The last resort, for a test that failed halfway or a run that was interrupted. The test runner ends its
// processes with SIGTERM, which alone causes no `exit` event.
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

/** A new empty directory, which is removed at the latest when this process ends. */
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
 * Below the ephemeral ports of Linux and macOS: such a port could be taken by somebody else while its service
 * is down, which happens dozens of times in a full run. Each process of the test runner has its own range.
 */
const portsPerProcess = 2000;
const firstPort = 10_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 11) * portsPerProcess;
let portInPart = Math.floor(Math.random() * portsPerProcess);

/** A free TCP port on the loopback interface; a different one each time. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < portsPerProcess; tried += 1) {
    portInPart = (portInPart + 1) % portsPerProcess;
    // Another caller may ask for a port while this one is being tried.
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
    // A process whose last thread has ended, but which was not reaped yet, has no memory and no files.
    const hasEnded = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return hasEnded && readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
};

/** The process id of the embedded engine in this directory, current or last; NaN if there was none. */
export function enginePid(directory: string): number {
  const lock = join(directory, 'engine.lock');
  return existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : Number.NaN;
}

/** Whether a program is on the PATH. */
export const onPath = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

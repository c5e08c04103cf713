import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Oracle, type PostgresAnswer, parseCopy } from './oracle.ts';

/** Where Debian and PostgreSQL's own packages put the server. */
const installRoot = '/usr/lib/postgresql';

/** The newest server installed; undefined if there is none. */
export function postgresBinaries(): string | undefined {
  if (!existsSync(installRoot)) return undefined;
  const versions = readdirSync(installRoot).sort((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(installRoot, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/** A private PostgreSQL server in a directory of its own, reached through a socket in there. */
export class Postgres implements Oracle {
  readonly name: string;
  readonly #bin: string;
  /** Of its socket. */
  readonly directory: string;
  readonly #identity: { readonly uid?: number; readonly gid?: number };
  #server: ChildProcess | undefined;

  private constructor(bin: string) {
    this.#bin = bin;
    this.name = `PostgreSQL ${bin.split('/').at(-2)}`;
    this.directory = mkdtempSync(join(tmpdir(), 'millrace-pg-'));
    this.#identity = serverIdentity();
    const { uid, gid } = this.#identity;
    if (uid !== undefined && gid !== undefined) chownSync(this.directory, uid, gid);
  }

  static async start(bin: string): Promise<Postgres> {
    const postgres = new Postgres(bin);
    await postgres.#start();
    return postgres;
  }

  async #start(): Promise<void> {
    const data = join(this.directory, 'data');
    const options = { ...this.#identity, cwd: this.directory, stdio: 'ignore' as const };
    // Sorted by bytes as in the store, with upper and lower case of all of Unicode.
    const initdb = ['-D', data, '-A', 'trust', '-U', 'test', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
    execFileSync(join(this.#bin, 'initdb'), initdb, options);
    const settings = [
      'listen_addresses=',
      'fsync=off',
      'timezone=UTC',
      `unix_socket_directories=${this.directory}`,
    ];
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    this.#server = spawn(join(this.#bin, 'postgres'), args, options);
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#run('SELECT 1');
        return;
      } catch (error) {
        if (attempt === 100) throw error;
        await sleep(100);
      }
    }
  }

  /** Of the server's first process. */
  get pid(): number {
    if (this.#server?.pid === undefined) throw new Error('the server does not run');
    return this.#server.pid;
  }

  execute(sql: string): Promise<void> {
    this.#run(sql);
    return Promise.resolve();
  }

  #run(sql: string): void {
    execFileSync(join(this.#bin, 'psql'), [...this.#psql(), '-v', 'ON_ERROR_STOP=1'], {
      cwd: this.directory,
      input: sql,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
  }

  answers(queries: readonly string[]): Promise<readonly PostgresAnswer[]> {
    const marker = '----8<----';
    // Errors go to stdout, in order, as their SQLSTATE alone.
    const script = queries
      .map((query) => `\\echo ${marker}\nCOPY (\n${query}\n) TO STDOUT (FORMAT text, HEADER);\n`)
      .join('');
    const output = execFileSync('sh', ['-c', `"$0" "$@" 2>&1`, join(this.#bin, 'psql'), ...this.#psql()], {
      cwd: this.directory,
      input: `\\set VERBOSITY sqlstate\n${script}`,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return Promise.resolve(output.split(`${marker}\n`).slice(1).map(parseAnswer));
  }

  #psql(): string[] {
    return ['-X', '-q', '-h', this.directory, '-U', 'test', '-d', 'postgres'];
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server !== undefined && server.exitCode === null) {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      // SIGINT is PostgreSQL's fast shutdown.
      server.kill('SIGINT');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The server refuses to run as root; Debian's package made a user for it. */
function serverIdentity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function parseAnswer(text: string): PostgresAnswer {
  const error = /^ERROR: {2}([0-9A-Z]{5})$/m.exec(text);
  return error === null ? parseCopy(text) : { sqlState: error[1] ?? '' };
}

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { errorText } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { StoreError, toStoreError } from '../store-error.ts';
import { allocatorEnvironment } from './allocator.ts';
import type { EngineArguments, FromEngine, ToEngine } from './engine-messages.ts';

/** Why an engine process has ended. */
export type EngineEnd =
  /** It ended by itself: a fault, a lack of memory, a signal. */
  | 'ended'
  /** It did not answer, and was killed. */
  | 'unresponsive'
  /** A query did not end when it should have, and the process was killed. */
  | 'stuck_query'
  /** The same of a statement of the service, or of an insert. */
  | 'stuck_statement'
  /** The service is done with it. */
  | 'closed';

export interface EngineProcessOptions {
  /** The built `workers/engine.ts`. */
  readonly script: URL;
  readonly arguments: EngineArguments;
  /** All of the process's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(error: StoreError): void;
}

/**
 * One life of the engine process, from its start to its end, seen from the service.
 *
 *     started ── locked ──▶ (the directory is this process's) ── open ──▶ opened ── run … ──▶ ended
 *        └───────────────────────── exit, a signal, kill() ──────────────────────────────────────▲
 *
 * When it has ended, every statement in progress has failed, with an unknown result. A process that does not
 * answer for long is killed. That is about its event loop, not its queries; while the engine opens, it blocks
 * the event loop.
 */
export class EngineProcess {
  /** Settles when the process is gone; never rejects. */
  readonly ended: Promise<EngineEnd>;
  readonly #arguments: EngineArguments;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #end: EngineEnd | undefined;
  #whyKilled: EngineEnd | undefined;
  /** The last part of what it wrote to stderr. */
  #stderr = '';
  #onStep: ((step: FromEngine) => void) | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #answeredMs = 0;

  constructor(options: EngineProcessOptions) {
    this.#arguments = options.arguments;
    this.#child = fork(fileURLToPath(options.script), [], {
      execArgv: [`--max-old-space-size=${limits.engineHeapMiB}`],
      env: {
        UV_THREADPOOL_SIZE: String(limits.engineThreads),
        ...allocatorEnvironment,
        ...options.environment,
      },
      serialization: 'advanced',
      // The last one is a pipe that ends with this process.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    });
    this.#child.on('message', (message: FromEngine) => this.#receive(message));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-limits.engineStderrLength);
    });
    this.ended = new Promise((resolve) => {
      const onEnd = (text: string) => {
        if (this.#end !== undefined) return;
        this.#end = this.#whyKilled ?? 'ended';
        clearInterval(this.#heartbeat);
        this.#fail(new StoreError(`the embedded engine ended: ${text}`, undefined, undefined));
        resolve(this.#end);
      };
      this.#child.once('error', (error) => onEnd(errorText(error)));
      // `close` rather than `exit`: by then all its messages have been read.
      this.#child.once('close', (code, signal) => onEnd(signal ?? `exit code ${code}`));
      // Its messages have been read by now, and nothing can be sent from now on.
      this.#child.once('disconnect', () => this.kill('ended'));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stderr(): string {
    return this.#stderr.trim();
  }

  /**
   * Returns when nobody else has the directory.
   * @throws StoreError if it ends instead
   */
  async locked(): Promise<void> {
    this.#send({ kind: 'lock', arguments: this.#arguments });
    await this.#step('locked');
  }

  /** Reads the tables. @throws StoreError if it ends instead */
  async open(): Promise<void> {
    this.#send({ kind: 'open' });
    await this.#step('opened');
    this.#answeredMs = performance.now();
    this.#heartbeat = setInterval(() => this.#beat(), limits.engineHeartbeatMs);
    this.#heartbeat.unref();
  }

  /**
   * Runs a statement on one of its connections, which runs one at a time.
   * @returns all of its output
   * @throws StoreError with the engine's code; without one if the process ends first
   */
  async run(connection: number, text: string): Promise<Uint8Array> {
    return await new Promise((resolve, reject) => {
      const id = this.#nextId;
      this.#nextId += 1;
      this.#waiting.set(id, { resolve, reject });
      if (this.#end === undefined) this.#send({ kind: 'run', id, connection, text });
      else this.#fail(new StoreError('the embedded engine has ended', undefined, undefined));
    });
  }

  /** Closes a connection that is no longer needed; nothing runs on it. */
  disconnect(connection: number): void {
    if (this.#end === undefined) this.#send({ kind: 'disconnect', connection });
  }

  /** Ends it, whatever it is doing. The reason that is given first counts. */
  kill(reason: EngineEnd): void {
    if (this.#end !== undefined) return;
    this.#whyKilled ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Lets it close its tables and exit; kills it if that takes too long. */
  async close(): Promise<void> {
    this.#whyKilled ??= 'closed';
    this.#send({ kind: 'close' });
    const late = setTimeout(() => this.kill('closed'), limits.engineCloseMs);
    await this.ended;
    clearTimeout(late);
  }

  #send(message: ToEngine): void {
    // A closed channel belongs to a process that ends; the end itself is what gets reported.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromEngine): void {
    this.#answeredMs = performance.now();
    if (message.kind === 'output') this.#take(message.id)?.resolve(message.bytes);
    else if (message.kind === 'error') this.#take(message.id)?.reject(engineError(message.message));
    else if (message.kind !== 'pong') this.#onStep?.(message);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #beat(): void {
    if (performance.now() - this.#answeredMs > limits.engineSilenceMs) this.kill('unresponsive');
    else this.#send({ kind: 'ping' });
  }

  #step(wanted: 'locked' | 'opened'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onStep = (step) => {
        if (step.kind === wanted) resolve();
        else if (step.kind === 'failed') reject(engineError(step.message));
      };
      void this.ended.then(() => {
        const text = `the embedded engine ended before it was open: ${this.stderr}`;
        reject(new StoreError(text, undefined, undefined));
      });
    });
  }

  #fail(error: StoreError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const engineError = (message: string): StoreError => toStoreError(new Error(message));

/**
 * The embedded ClickHouse engine (chDB), in a process of its own that is replaced when it ends or has to be
 * ended.
 *
 *     opening ── opened ──▶ running ── it ended, or was killed ──▶ away ── after a pause ──▶ opening
 *        └───────────────── it ended ────────────────────────────▶ away
 *     close() in any state: closed, for good
 *
 * Why a process of its own: the engine checks its time limits and KILL QUERY only between blocks. Measured
 * with 1,000 rows of 1,000 characters and `(a{1,100}){1,10}b`, which takes 46 ms a row: neither was noticed
 * within 12 s, and no block size helps (256 rows take 12 s of one core). Regular expressions and functions
 * over large arrays (6 s) behave like this; sorts, joins, windows, aggregation and recursion end within a
 * third of a second. A process can be killed. It also isolates the service from faults of the engine and from
 * its signal handlers.
 *
 * To its users it behaves like a server that restarts: statements in progress fail without a ClickHouse code,
 * and their result is unknown. Inserts stay exact through their tokens; tokens that a kill left without rows
 * are revoked before the tables are read (`token-repair.ts`).
 */
import { errorText } from '../../errors.ts';
import { backoffMs, sleep } from '../../lib/backoff.ts';
import { liveGauge } from '../../lib/live-gauge.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { residentBytes } from '../../lib/resident-memory.ts';
import { limits } from '../../limits/limits.ts';
import { StoreError } from '../store-error.ts';
import { type EngineEnd, EngineProcess, type EngineProcessOptions } from './engine-process.ts';

export interface EngineOptions extends EngineProcessOptions {
  /** Puts the directory in order, before its tables are read. Nobody else uses it meanwhile. */
  readonly prepare: () => Promise<void>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #stopping = new AbortController();
  /** Undefined while it is away or opening. */
  #running: EngineProcess | undefined;
  /** The one that opens. */
  #opening: EngineProcess | undefined;
  #keeping: Promise<void> | undefined;
  #nextConnection = 0;

  private constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * Returns when the tables are read.
   * @throws StoreError if the engine cannot open
   */
  static async open(options: EngineOptions): Promise<Engine> {
    const engine = new Engine(options);
    const first = await engine.#start();
    engine.#keeping = engine.#keep(first);
    engine.#exportMemory();
    return engine;
  }

  get pid(): number | undefined {
    return (this.#running ?? this.#opening)?.pid;
  }

  /** The default metrics of the process are those of the service alone. */
  #exportMemory(): void {
    liveGauge(
      {
        name: 'millrace_engine_resident_memory_bytes',
        help: 'Resident memory of the process of the embedded engine; 0 while it is not there. Linux only.',
        registers: [this.#options.metrics.registry],
      },
      () => (this.pid === undefined ? 0 : (residentBytes(this.pid) ?? 0)),
    );
  }

  /** A separate connection, which survives restarts of the engine. */
  connect(): EngineConnection {
    this.#nextConnection += 1;
    const connection = this.#nextConnection;
    return {
      run: async (text) => {
        if (this.#running === undefined) {
          throw new StoreError('the embedded engine is starting again', undefined, undefined);
        }
        return await this.#running.run(connection, text);
      },
      close: async () => this.#running?.disconnect(connection),
    };
  }

  /** Ends the running process with all its statements. A new one is started. */
  replace(reason: Exclude<EngineEnd, 'closed'>): void {
    this.#running?.kill(reason);
  }

  /** Bounded: an engine that does not close in time is killed. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#opening?.kill('closed');
    await this.#running?.close();
    await this.#keeping;
  }

  async #keep(first: EngineProcess): Promise<void> {
    const { signal } = this.#stopping;
    const { metrics, log } = this.#options;
    let current: EngineProcess | undefined = first;
    for (let failures = 0; !signal.aborted; ) {
      if (current !== undefined) {
        const startedMs = performance.now();
        const reason = await current.ended;
        this.#running = undefined;
        if (signal.aborted) return;
        const ranMs = Math.round(performance.now() - startedMs);
        metrics.engineRestarts.inc({ reason });
        log.error(
          { reason, ranMs, stderr: current.stderr },
          'the embedded engine ended; it is being restarted',
        );
        // One that was ended for a query is sound.
        failures = reason === 'stuck_query' || ranMs >= limits.engineStableMs ? 0 : failures + 1;
      }
      if (failures > 1) {
        await sleep(backoffMs(failures - 2, limits.engineBackoffMinMs, limits.engineBackoffMaxMs), signal);
      }
      if (!signal.aborted) current = await this.#restart();
      if (current === undefined) failures += 1;
    }
  }

  async #restart(): Promise<EngineProcess | undefined> {
    const startedMs = performance.now();
    try {
      const started = await this.#start();
      this.#options.log.info(
        { openedMs: Math.round(performance.now() - startedMs) },
        'the embedded engine is running',
      );
      return started;
    } catch (error) {
      if (!this.#stopping.signal.aborted) {
        this.#options.metrics.engineRestarts.inc({ reason: 'not_opened' });
        this.#options.log.error({ err: error }, `the embedded engine did not open: ${errorText(error)}`);
      }
      return undefined;
    }
  }

  async #start(): Promise<EngineProcess> {
    const process = new EngineProcess(this.#options);
    this.#opening = process;
    try {
      await process.locked();
      await this.#options.prepare();
      await process.open();
      this.#running = process;
      return process;
    } catch (error) {
      process.kill('ended');
      await process.ended;
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }
}

export interface EngineConnection {
  /**
   * Runs a statement, whose whole output is made before it answers.
   * @throws StoreError
   */
  run(text: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

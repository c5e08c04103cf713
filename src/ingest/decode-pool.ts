import { Piscina } from 'piscina';
import { DecodeOutcomes } from '../decode/outcomes.ts';
import type { DecodeResult, DecodeTask } from '../decode/task.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';

export interface DecodePoolOptions {
  /** The built worker, `workers/decode.js`. */
  readonly worker: URL;
  readonly threads: number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface Waiting {
  readonly task: DecodeTask;
  done(result: DecodeResult): void;
  fail(error: unknown): void;
}

/**
 * Decoding in worker threads.
 *
 * A free worker takes a request at once. While all are busy, requests queue up to a bound, and the next free
 * worker takes as many of them as one task as the bounds on a batch allow: the cost of crossing threads is
 * paid once for many small requests, and no request waits for others to arrive.
 */
export class DecodePool {
  readonly outcomes = new DecodeOutcomes();
  readonly #pool: Piscina<{ tasks: DecodeTask[] }, DecodeResult[]>;
  readonly #threads: number;
  readonly #metrics: Metrics;
  readonly #queue: Waiting[] = [];
  #busy = 0;
  #sequence = 0;

  constructor(options: DecodePoolOptions) {
    this.#threads = options.threads;
    this.#metrics = options.metrics;
    this.#pool = new Piscina({
      filename: options.worker.href,
      name: 'decode',
      minThreads: options.threads,
      maxThreads: options.threads,
      workerData: { outcomes: this.outcomes.shared },
    });
    // A worker that dies outside of a task is replaced; tasks of a dead worker are rejected by `run`.
    this.#pool.on('error', (error) => options.log.error({ err: error }, 'a decoding worker failed'));
  }

  /**
   * Decodes one body. The body's memory moves to the worker and is gone afterwards.
   * @returns the result, and the number under which its outcome is to be reported
   * @throws AppError `overloaded`
   */
  async decode(task: Omit<DecodeTask, 'sequence'>): Promise<{ result: DecodeResult; sequence: number }> {
    if (this.#queue.length >= limits.maxQueuedDecodes) {
      throw new AppError('overloaded', `${limits.maxQueuedDecodes} requests wait to be decoded already`);
    }
    this.#sequence += 1;
    const sequence = this.#sequence;
    const result = await new Promise<DecodeResult>((done, fail) => {
      // The copy comes last: adding to an object that begins as a copy takes V8 two microseconds.
      this.#queue.push({ task: { sequence, ...task }, done, fail });
      this.#dispatch();
    });
    return { result, sequence };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #dispatch(): void {
    while (this.#busy < this.#threads && this.#queue.length > 0) {
      this.#busy += 1;
      void this.#runBatch(this.#takeBatch());
    }
    this.#metrics.decodeQueue.set(this.#queue.length);
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { task } of this.#queue) {
      bytes += task.body.byteLength;
      if (count === limits.maxDecodeBatchRequests || (count > 0 && bytes > limits.maxDecodeBatchBytes)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** Never rejects: each waiting request gets its own result or failure. */
  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const tasks = batch.map(({ task }) => task);
      // A body has its memory to itself, so it can move instead of being copied.
      const transferList = tasks.map((task) => task.body.buffer as ArrayBuffer);
      const results = await this.#pool.run({ tasks }, { transferList });
      for (const [index, waiting] of batch.entries()) {
        const result = results[index];
        if (result === undefined) throw new Error('BUG: the decoding worker lost a task');
        waiting.done(result);
      }
    } catch (error) {
      for (const waiting of batch) waiting.fail(error);
    }
    this.#busy -= 1;
    this.#dispatch();
  }
}

import { Piscina } from 'piscina';
import { inlineBounds, shortBounds } from '../decode/decode-bounds.ts';
import type { Decoder } from '../decode/decoder.ts';
import { overflowColumns } from '../decode/events/overflow.ts';
import { DecodeOutcomes } from '../decode/outcomes.ts';
import type {
  DecodeBatch,
  DecodeReply,
  DecodeResult,
  DecodeTask,
  OverflowReply,
  OverflowTask,
} from '../decode/task.ts';
import { AppError } from '../errors.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { RecentCosts } from '../lib/recent-costs.ts';
import { limits } from '../limits/limits.ts';
import type { TableBlock } from '../model/block.ts';
import { DecodeScheduler, type TaskLength } from './decode-scheduler.ts';
import {
  blockBytes,
  isShort,
  isSmall,
  type NewTask,
  numbered,
  takeBatch,
  workingBytes,
} from './decode-tasks.ts';

export interface DecodePoolOptions {
  /** The built worker, `workers/decode.js`. */
  readonly worker: URL;
  /** Workers for all bodies. There is one more, for short bodies while all of these decode long ones. */
  readonly threads: number;
  /**
   * Makes the decoder for small bodies, which runs in this thread. Without it every body goes to a worker.
   */
  readonly inline?: (outcomes: DecodeOutcomes) => Pick<Decoder, 'decode'>;
  /** Called for each body that is decoded in this thread. */
  readonly onInline?: () => void;
  /** Milliseconds of worker time that each tenant has used. */
  readonly costs: Pick<RecentCosts, 'of' | 'add'>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface HeldResult {
  readonly result: DecodeResult;
  /** Called when the blocks are no longer needed. */
  readonly release: () => void;
}

/** A decoded body, and the number under which its outcome is reported. */
export interface Decoded extends HeldResult {
  readonly sequence: number;
}

type Pool = Piscina<DecodeBatch | OverflowTask, readonly DecodeReply[] | OverflowReply>;

interface Waiting {
  readonly task: DecodeTask;
  /** @param outcome a result, or the body of a task that turned out to be long */
  done(outcome: HeldResult | Uint8Array): void;
  fail(error: unknown): void;
}

/** A task that occupies a worker for a long time. */
interface LongJob {
  /**
   * Runs the job and settles its promise. Never rejects.
   * @returns the worker time that it took
   */
  run(): Promise<number>;
  fail(error: unknown): void;
  /** About the memory that it takes while it runs. */
  readonly bytes: number;
}

/**
 * The task with a body that fills its memory, which can then be transferred to a worker. Others are views
 * of memory that is shared: with other texts in Buffer's pool, and that of all empty bodies. Node.js
 * refuses to transfer the pool from version 21 on, and transferring other shared memory would take it
 * from those who share it.
 */
const withOwnMemory = (task: NewTask): NewTask =>
  task.body.byteLength === task.body.buffer.byteLength && task.body.byteLength > 0
    ? task
    : { ...task, body: new Uint8Array(task.body) };

/**
 * Decodes bodies: small ones in this thread, all others in worker threads.
 *
 * Decoding a small body costs this thread less than sending it to a worker and back. If it is refused
 * here, a worker tries it again: the worker has larger bounds, or reports the error. A free worker gets a
 * request at once. While all workers are busy, requests wait in a bounded queue and `DecodeScheduler`
 * decides which is next.
 *
 * - Short bodies: the next free worker takes a batch as large as the bounds allow: the bodies of one tenant
 *   first, then those of the next ones. Many small requests so share the cost of crossing threads, and no
 *   request waits for others to arrive. After a time slice the worker returns the bodies that it has not
 *   started. Whether a body is short is guessed from its length; it is decoded within bounds that keep it
 *   short, and a body that exceeds them becomes a long one.
 * - Long bodies are decoded one at a time.
 */
export class DecodePool {
  readonly outcomes = new DecodeOutcomes();
  readonly #pool: Pool;
  readonly #spare: Pool;
  readonly #inline: Pick<Decoder, 'decode'> | undefined;
  readonly #onInline: (() => void) | undefined;
  readonly #costs: DecodePoolOptions['costs'];
  readonly #metrics: Metrics;
  readonly #turns: DecodeScheduler<Waiting, LongJob>;
  #sequence = 0;

  constructor(options: DecodePoolOptions) {
    this.#inline = options.inline?.(this.outcomes);
    this.#onInline = options.onInline;
    this.#costs = options.costs;
    this.#metrics = options.metrics;
    this.#turns = new DecodeScheduler(options.threads, options.costs);
    this.#pool = this.#poolOf(options, options.threads);
    this.#spare = this.#poolOf(options, 1);
  }

  #poolOf({ worker, log }: DecodePoolOptions, threads: number): Pool {
    const pool: Pool = new Piscina({
      filename: worker.href,
      name: 'decode',
      minThreads: threads,
      maxThreads: threads,
      // Nobody reads Piscina's histograms, which cost some microseconds per task.
      recordTiming: false,
      workerData: { outcomes: this.outcomes.shared },
    });
    // A worker that dies between tasks is replaced. If it dies during a task, `run` rejects.
    pool.on('error', (error) => log.error({ err: error }, 'a decoding worker failed'));
    return pool;
  }

  /**
   * Decodes one body: a small one at once. Otherwise the memory of the body moves to a worker and
   * can no longer be used, unless the body is a part of it.
   * @throws AppError `overloaded`
   */
  decode(task: NewTask): Decoded | Promise<Decoded> {
    return this.#decodeInline(task) ?? this.#decodeInWorker(task);
  }

  /** Undefined if a worker has to decode or refuse the body. */
  #decodeInline(task: NewTask): Decoded | undefined {
    if (this.#inline === undefined || !isSmall(task)) return undefined;
    this.#onInline?.();
    const sequence = this.#nextSequence();
    const result = this.#inline.decode(numbered(task, sequence, limits.maxInlineDecodedBytes, inlineBounds));
    return result.ok ? { result, sequence, release: () => {} } : undefined;
  }

  async #decodeInWorker(given: NewTask): Promise<Decoded> {
    const { maxShortBodyBytes } = limits;
    const task = withOwnMemory(given);
    const sequence = this.#nextSequence();
    if (!isShort(task)) {
      const long = await this.#decodeLong(numbered(task, sequence, task.maxDecodedBytes, task.bounds));
      return { ...long, sequence };
    }
    const outcome = await this.#decodeShort(numbered(task, sequence, maxShortBodyBytes, shortBounds));
    if (!(outcome instanceof Uint8Array)) return { ...outcome, sequence };
    // The worker may remember series of the first attempt, which is not committed. The second one
    // needs its own number.
    const again = this.#nextSequence();
    const long = numbered(task, again, task.maxDecodedBytes, task.bounds, outcome);
    return { ...(await this.#decodeLong(long)), sequence: again };
  }

  /** @returns the body, if it turned out to be long */
  #decodeShort(task: DecodeTask): Promise<HeldResult | Uint8Array> {
    return new Promise((resolve, fail) => {
      this.#enqueue(this.#turns.short, task.tenant, { task, done: resolve, fail });
    });
  }

  #decodeLong(task: DecodeTask): Promise<HeldResult> {
    return this.#runLong(this.#turns.long, task.tenant, workingBytes(task), async () => {
      const transferList = [task.body.buffer as ArrayBuffer];
      const replies = await this.#pool.run({ tasks: [task] }, { transferList, name: 'decode' });
      const [reply] = replies as readonly DecodeReply[];
      if (reply?.result === undefined) throw new Error('BUG: the decoding worker lost a task');
      return [this.#hold(reply.result), reply.costMs];
    });
  }

  /** Moves these columns of an events block into its map. */
  async overflow(
    tenant: string,
    blocks: readonly TableBlock[],
    columns: ReadonlySet<string>,
  ): Promise<TableBlock[]> {
    return await Promise.all(
      blocks.map(async (block): Promise<TableBlock> => {
        if (block.bytes.byteLength <= limits.maxInlineOverflowBytes) return overflowColumns(block, columns);
        const bytes = 2 * block.bytes.byteLength;
        return await this.#runLong(this.#turns.overflow, tenant, bytes, async () => {
          const reply = await this.#pool.run({ block, columns }, { name: 'overflow' });
          const { block: fitting, costMs } = reply as OverflowReply;
          return [fitting, costMs];
        });
      }),
    );
  }

  /** @param work returns the worker's result and the time that it took */
  #runLong<Result>(
    queue: FairQueue<LongJob>,
    tenant: string,
    bytes: number,
    work: () => Promise<readonly [Result, number]>,
  ): Promise<Result> {
    return new Promise((resolve, fail) => {
      const run = async (): Promise<number> => {
        try {
          const [result, costMs] = await work();
          resolve(result);
          return costMs;
        } catch (error) {
          fail(error);
          return 0;
        }
      };
      this.#enqueue(queue, tenant, { run, fail, bytes });
    });
  }

  #enqueue<Item extends { fail(error: unknown): void }>(
    queue: FairQueue<Item>,
    tenant: string,
    item: Item,
  ): void {
    const gone = queue.push(tenant, item);
    gone?.fail(new AppError('overloaded', `${limits.maxQueuedDecodes} requests already wait to be decoded`));
    this.#dispatch();
  }

  #hold(result: DecodeResult): HeldResult {
    const bytes = blockBytes(result);
    this.#turns.hold(bytes);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#turns.release(bytes);
      this.#dispatch();
    };
    return { result, release };
  }

  #nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#spare.close()]);
  }

  #dispatch(): void {
    const turns = this.#turns;
    for (let length = turns.next(); length !== undefined; length = turns.next()) void this.#begin(length);
    this.#metrics.decodeQueue.set(turns.size);
  }

  async #begin(length: TaskLength): Promise<void> {
    const pool = this.#turns.begin(length) ? this.#spare : this.#pool;
    await (length === 'short' ? this.#runBatch(pool, takeBatch(this.#turns.short)) : this.#runNextLong());
    this.#turns.end(length);
    this.#dispatch();
  }

  /** Never rejects: each waiting request gets its own result or error. */
  async #runBatch(pool: Pool, batch: readonly Waiting[]): Promise<void> {
    try {
      const tasks = batch.map(({ task }) => task);
      // Each body owns its memory, so it can be transferred instead of copied.
      const transferList = tasks.map((task) => task.body.buffer as ArrayBuffer);
      const replies = await pool.run({ tasks }, { transferList, name: 'decode' });
      this.#settle(batch, replies as readonly DecodeReply[]);
    } catch (error) {
      for (const waiting of batch) waiting.fail(error);
    }
  }

  #settle(batch: readonly Waiting[], replies: readonly DecodeReply[]): void {
    const left = new Map<string, Waiting[]>();
    for (const [index, waiting] of batch.entries()) {
      const { task, done, fail } = waiting;
      const { costMs, result, unfinished } = replies[index] ?? { costMs: 0 };
      this.#costs.add(task.tenant, costMs);
      if (result !== undefined) done(this.#hold(result));
      else if (unfinished === undefined) fail(new Error('BUG: the decoding worker lost a task'));
      else if (unfinished.isTooLong) done(unfinished.body);
      else {
        const again = { task: { ...task, body: unfinished.body }, done, fail };
        left.set(task.tenant, [...(left.get(task.tenant) ?? []), again]);
      }
    }
    for (const [tenant, again] of left) this.#turns.short.putBack(tenant, again);
  }

  async #runNextLong(): Promise<void> {
    const { overflow, long } = this.#turns;
    const queue = overflow.size > 0 ? overflow : long;
    const tenant = queue.next();
    const job = queue.shift();
    if (tenant === undefined || job === undefined) return;
    this.#turns.hold(job.bytes);
    this.#costs.add(tenant, await job.run());
    this.#turns.release(job.bytes);
  }
}

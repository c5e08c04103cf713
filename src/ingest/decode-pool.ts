import { Piscina } from 'piscina';
import { inlineBounds, shortBounds } from '../decode/decode-bounds.ts';
import type { Decoder } from '../decode/decoder.ts';
import { DecodeOutcomes } from '../decode/outcomes.ts';
import { overflowColumns } from '../decode/overflow.ts';
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
  /** Besides these there is one more, for short bodies while all of these are busy with long ones. */
  readonly threads: number;
  /** Makes the decoder of small bodies, which works in this thread. Without it all bodies go to the workers. */
  readonly inline?: (outcomes: DecodeOutcomes) => Pick<Decoder, 'decode'>;
  /** Called for each that is decoded there. */
  readonly onInline?: () => void;
  /** Milliseconds that workers have spent on each tenant. */
  readonly costs: Pick<RecentCosts, 'of' | 'add'>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface HeldResult {
  readonly result: DecodeResult;
  /** Called when its blocks are needed no more. */
  readonly release: () => void;
}

/** A result, and the number under which its outcome is to be reported. */
export interface Decoded extends HeldResult {
  readonly sequence: number;
}

type Pool = Piscina<DecodeBatch | OverflowTask, readonly DecodeReply[] | OverflowReply>;

interface Waiting {
  readonly task: DecodeTask;
  /** @param outcome a result, or the body of a task that is long after all */
  done(outcome: HeldResult | Uint8Array): void;
  fail(error: unknown): void;
}

/** Something that takes a worker for long. */
interface LongJob {
  /** Works, and tells whoever waits. @returns the time it took the worker; never rejects */
  run(): Promise<number>;
  fail(error: unknown): void;
  /** What it takes while it runs, about. */
  readonly bytes: number;
}

/**
 * Decoding in worker threads, and of small bodies in this one.
 *
 * A small body costs this thread less than the way to a worker and back. What is refused here goes to a worker all
 * the same, which has more room for it, or says what is wrong. A free worker takes a request at once. While all are busy,
 * requests queue up to a bound, and `DecodeScheduler` says whose turn it is.
 *
 * - Short bodies: the next free worker takes as many as one task as the bounds on a batch allow, those of one tenant and,
 *   if that leaves room, of the next ones: the cost of crossing threads is paid once for many small requests, and no
 *   request waits for others to arrive. After a slice of time it gives back what it has not begun. Whether a body is short
 *   is presumed, by its length, and it is decoded within bounds that keep it so; one that goes beyond them becomes long.
 * - Long ones are decoded one by one.
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
      // Nobody reads its histograms, which cost some microseconds a task.
      recordTiming: false,
      workerData: { outcomes: this.outcomes.shared },
    });
    // A worker that dies outside of a task is replaced; tasks of a dead worker are rejected by `run`.
    pool.on('error', (error) => log.error({ err: error }, 'a decoding worker failed'));
    return pool;
  }

  /**
   * Decodes one body: at once if it is small; otherwise its memory moves to a worker and is gone afterwards.
   * @throws AppError `overloaded`
   */
  decode(task: NewTask): Decoded | Promise<Decoded> {
    return this.#decodeInline(task) ?? this.#decodeInWorker(task);
  }

  /** Undefined for what is for a worker to decode or to refuse. */
  #decodeInline(task: NewTask): Decoded | undefined {
    if (this.#inline === undefined || !isSmall(task)) return undefined;
    this.#onInline?.();
    const sequence = this.#nextSequence();
    const result = this.#inline.decode(numbered(task, sequence, limits.maxInlineDecodedBytes, inlineBounds));
    return result.ok ? { result, sequence, release: () => {} } : undefined;
  }

  async #decodeInWorker(task: NewTask): Promise<Decoded> {
    const { maxShortBodyBytes } = limits;
    const sequence = this.#nextSequence();
    if (!isShort(task)) {
      const long = await this.#decodeLong(numbered(task, sequence, task.maxDecodedBytes, task.bounds));
      return { ...long, sequence };
    }
    const outcome = await this.#decodeShort(numbered(task, sequence, maxShortBodyBytes, shortBounds));
    if (!(outcome instanceof Uint8Array)) return { ...outcome, sequence };
    // What the worker remembers of the first attempt belongs to a task that has come to nothing.
    const again = this.#nextSequence();
    const long = numbered(task, again, task.maxDecodedBytes, task.bounds, outcome);
    return { ...(await this.#decodeLong(long)), sequence: again };
  }

  /** @returns the body of a task that is long after all */
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

  /** The block of an events dataset, with these columns in its map. */
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

  /** @param work what a worker makes, and the time that it took */
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
    gone?.fail(new AppError('overloaded', `${limits.maxQueuedDecodes} requests wait to be decoded already`));
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

  /** Never rejects: each waiting request gets its own result or failure. */
  async #runBatch(pool: Pool, batch: readonly Waiting[]): Promise<void> {
    try {
      const tasks = batch.map(({ task }) => task);
      // A body has its memory to itself, so it can move instead of being copied.
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

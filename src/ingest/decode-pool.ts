import { Piscina } from 'piscina';
import type { Decoder } from '../decode/decoder.ts';
import { DecodeOutcomes } from '../decode/outcomes.ts';
import { overflowColumns } from '../decode/overflow.ts';
import type { BodyFormat, DecodeBatch, DecodeResult, DecodeTask, OverflowTask } from '../decode/task.ts';
import { AppError } from '../errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';

export interface DecodePoolOptions {
  /** The built worker, `workers/decode.js`. */
  readonly worker: URL;
  readonly threads: number;
  /** Makes the decoder of small bodies, which works in this thread. Without it all bodies go to the workers. */
  readonly inline?: (outcomes: DecodeOutcomes) => Pick<Decoder, 'decode'>;
  /** Called for each body that is decoded in this thread. */
  readonly onInline?: () => void;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A result, and the number under which its outcome is to be reported. */
export interface Decoded {
  readonly result: DecodeResult;
  readonly sequence: number;
}

interface Waiting {
  readonly task: DecodeTask;
  done(result: DecodeResult): void;
  fail(error: unknown): void;
}

/** What costs no more than its size says: what is compressed with gzip can be a thousand times as large. */
const inlineFormats: ReadonlySet<BodyFormat> = new Set([
  'json',
  'ndjson',
  'remote-write-1',
  'remote-write-2',
]);
const isSmall = ({ body, format, encoding }: Omit<DecodeTask, 'sequence'>): boolean =>
  body.byteLength <= limits.maxInlineBodyBytes &&
  (encoding === 'identity' || encoding === 'snappy') &&
  inlineFormats.has(format);

/** Each by its name: a copy takes V8 a microsecond. */
const numbered = (
  task: Omit<DecodeTask, 'sequence'>,
  sequence: number,
  maxInflatedBytes: number | undefined,
): { readonly [Name in keyof Required<DecodeTask>]: DecodeTask[Name] } => ({
  tenant: task.tenant,
  dataset: task.dataset,
  format: task.format,
  encoding: task.encoding,
  receivedMicros: task.receivedMicros,
  body: task.body,
  maxDecodedBytes: task.maxDecodedBytes,
  events: task.events,
  maxEventBytes: task.maxEventBytes,
  maxInflatedBytes,
  sequence,
});

/**
 * Decoding in worker threads, and of small bodies in this one.
 *
 * A small body costs this thread less than the way to a worker and back. What is refused here goes to a worker all
 * the same, which has more room for it, or says what is wrong.
 *
 * A free worker takes a request at once. While all are busy, requests queue up to a bound, and the next free
 * worker takes as many of them as one task as the bounds on a batch allow: the cost of crossing threads is
 * paid once for many small requests, and no request waits for others to arrive. Tenants take turns (`FairQueue`), by
 * bytes: the turn of one is a task full at most, or one large body.
 */
export class DecodePool {
  readonly outcomes = new DecodeOutcomes();
  readonly #pool: Piscina<DecodeBatch | OverflowTask, readonly DecodeResult[] | TableBlock>;
  readonly #threads: number;
  readonly #inline: Pick<Decoder, 'decode'> | undefined;
  readonly #onInline: (() => void) | undefined;
  readonly #metrics: Metrics;
  readonly #queue = new FairQueue<Waiting>(limits.maxQueuedDecodes);
  #busy = 0;
  #sequence = 0;

  constructor(options: DecodePoolOptions) {
    this.#threads = options.threads;
    this.#inline = options.inline?.(this.outcomes);
    this.#onInline = options.onInline;
    this.#metrics = options.metrics;
    this.#pool = new Piscina({
      filename: options.worker.href,
      name: 'decode',
      minThreads: options.threads,
      maxThreads: options.threads,
      // Nobody reads its histograms, which cost some microseconds a task.
      recordTiming: false,
      workerData: { outcomes: this.outcomes.shared },
    });
    // A worker that dies outside of a task is replaced; tasks of a dead worker are rejected by `run`.
    this.#pool.on('error', (error) => options.log.error({ err: error }, 'a decoding worker failed'));
  }

  /**
   * Decodes one body: at once if it is small; otherwise its memory moves to a worker and is gone afterwards.
   * @throws AppError `overloaded`
   */
  decode(task: Omit<DecodeTask, 'sequence'>): Decoded | Promise<Decoded> {
    return this.#decodeInline(task) ?? this.#decodeInWorker(task);
  }

  /** Undefined for what is for a worker to decode or to refuse. */
  #decodeInline(task: Omit<DecodeTask, 'sequence'>): Decoded | undefined {
    if (this.#inline === undefined || !isSmall(task)) return undefined;
    this.#onInline?.();
    const sequence = this.#nextSequence();
    const result = this.#inline.decode(numbered(task, sequence, limits.maxInlineInflatedBytes));
    return result.ok ? { result, sequence } : undefined;
  }

  async #decodeInWorker(task: Omit<DecodeTask, 'sequence'>): Promise<Decoded> {
    const sequence = this.#nextSequence();
    const result = await new Promise<DecodeResult>((done, fail) => {
      const waiting = { task: numbered(task, sequence, task.maxInflatedBytes), done, fail };
      const gone = this.#queue.push(task.tenant, waiting);
      gone?.fail(
        new AppError('overloaded', `${limits.maxQueuedDecodes} requests wait to be decoded already`),
      );
      this.#dispatch();
    });
    return { result, sequence };
  }

  /** The block of an events dataset, with these columns in its map. */
  async overflow(blocks: readonly TableBlock[], columns: ReadonlySet<string>): Promise<TableBlock[]> {
    return await Promise.all(
      blocks.map(async (block): Promise<TableBlock> => {
        if (block.bytes.byteLength <= limits.maxInlineOverflowBytes) return overflowColumns(block, columns);
        return (await this.#pool.run({ block, columns }, { name: 'overflow' })) as TableBlock;
      }),
    );
  }

  #nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #dispatch(): void {
    while (this.#busy < this.#threads && this.#queue.size > 0) {
      this.#busy += 1;
      void this.#runBatch(this.#takeBatch());
    }
    this.#metrics.decodeQueue.set(this.#queue.size);
  }

  /** What goes to a worker as one task: the turn of a tenant and, if that leaves room, those of the next ones. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    let count = 0;
    const fits = ({ task }: Waiting): boolean => {
      bytes += task.body.byteLength;
      if (count === limits.maxDecodeBatchRequests || (count > 0 && bytes > limits.maxDecodeBatchBytes))
        return false;
      count += 1;
      return true;
    };
    for (let turn = this.#queue.shiftWhile(fits); turn.length > 0; turn = this.#queue.shiftWhile(fits)) {
      batch.push(...turn);
    }
    return batch;
  }

  /** Never rejects: each waiting request gets its own result or failure. */
  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const tasks = batch.map(({ task }) => task);
      // A body has its memory to itself, so it can move instead of being copied.
      const transferList = tasks.map((task) => task.body.buffer as ArrayBuffer);
      const results = (await this.#pool.run({ tasks }, { transferList, name: 'decode' })) as DecodeResult[];
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

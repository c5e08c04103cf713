import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { errorText } from '../errors.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { threadCpuMs } from '../lib/thread-cpu.ts';
import { limits } from '../limits/limits.ts';
import type {
  CatalogAnswer,
  CatalogQuestion,
  TranslationReply,
  TranslationTask,
  TranslatorReady,
  TranslatorStart,
} from '../sql/translation/translation-messages.ts';
import { TranslationDeadline } from './translation-deadline.ts';

export interface TranslationThreadOptions {
  /** The built worker, `workers/translate.js`. */
  readonly worker: URL;
  /** The version of this program, for `version()`. */
  readonly version: string;
  /** CPU time that one translation may take. */
  readonly maxCpuMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'> & Pick<Timers, 'after'>;
}

/**
 * Answers a question that a thread asks during a translation. `post` sends a part of the answer; it returns
 * false if the thread no longer waits for it.
 */
export type AnswerCatalog = (
  question: CatalogQuestion,
  post: (part: CatalogAnswer) => boolean,
) => Promise<void>;

/**
 * A translation thread, from its start to its end.
 *
 *     starting ──▶ idle ◀──▶ busy
 *         └─────────┴───┬──────┘
 *                     ended        by `end`, by a translation that exceeds a bound, or by a failure
 *
 * It takes one task at a time. A task that exceeds its CPU time, the heap or the stack ends the thread, and
 * its reply says so. Each thread has a Piscina pool of its own, so that it is known which thread runs which
 * task. An idle thread does not keep the process alive.
 */
export class TranslationThread {
  readonly #options: TranslationThreadOptions;
  readonly #pool: Piscina<TranslatorStart<MessagePort> | TranslationTask, TranslatorReady | TranslationReply>;
  readonly #port: MessagePort;
  readonly #remotePort: MessagePort;
  #state: 'starting' | 'idle' | 'busy' | 'ended' = 'starting';
  #threadId: number | undefined;
  #answerCatalog: AnswerCatalog | undefined;
  /** The limit that the current task exceeded. */
  #exceeded: string | undefined;
  #unanswered: Error | undefined;
  #fail: (error: Error) => void = () => {};
  #exited: Promise<void> | undefined;

  constructor(options: TranslationThreadOptions) {
    this.#options = options;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#remotePort = port2;
    this.#pool = new Piscina({
      filename: options.worker.href,
      name: 'translate',
      // The first task starts the thread. Piscina must not replace it after it has ended.
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      resourceLimits: {
        stackSizeMb: limits.translationStackMiB,
        maxOldGenerationSizeMb: limits.translationHeapMiB,
      },
    });
    // An error outside of tasks, for example while starting.
    this.#pool.on('error', (error) => {
      this.#fail(error instanceof Error ? error : new Error(errorText(error)));
      void this.end();
    });
  }

  get isStarting(): boolean {
    return this.#state === 'starting';
  }

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  /** @throws Error if the thread cannot be started */
  async start(): Promise<void> {
    const { version, clock } = this.#options;
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    const stopTimer = clock.after(limits.translationStartTimeoutMs, () =>
      this.#fail(new Error(`it is not ready after ${limits.translationStartTimeoutMs} ms`)),
    );
    try {
      const start = { port: this.#remotePort, version };
      const ready = this.#pool.run(start, { name: 'start', transferList: [this.#remotePort] });
      const { threadId } = (await Promise.race([ready, failed])) as TranslatorReady;
      this.#threadId = threadId;
      this.#port.on('message', (question: CatalogQuestion) => this.#onQuestion(question));
      this.#port.unref();
      if (this.#state === 'starting') this.#state = 'idle';
    } catch (thrown) {
      void this.end();
      throw new Error(`a translation thread cannot be started: ${errorText(thrown)}`, { cause: thrown });
    } finally {
      stopTimer();
    }
  }

  /**
   * Runs a task; the thread must be idle. The reply `broken` means that the task ended the thread, and says
   * why.
   * @throws Error if the thread failed for another reason, or `end` was called
   */
  async run(task: TranslationTask, answerCatalog: AnswerCatalog): Promise<TranslationReply> {
    if (this.#state !== 'idle') throw new Error(`BUG: the thread is ${this.#state}`);
    const { maxCpuMs, clock } = this.#options;
    this.#state = 'busy';
    this.#answerCatalog = answerCatalog;
    this.#exceeded = undefined;
    const deadline = new TranslationDeadline({
      clock,
      maxCpuMs,
      readCpuMs: () => (this.#threadId === undefined ? undefined : threadCpuMs(this.#threadId)),
      onExceeded: (reason) => {
        this.#exceeded = reason;
        void this.end();
      },
    });
    try {
      return (await this.#pool.run(task)) as TranslationReply;
    } catch (thrown) {
      if (this.#unanswered !== undefined) throw this.#unanswered;
      const reason = this.#exceeded ?? this.#causeOfDeath(thrown);
      if (reason === undefined) throw thrown;
      void this.end();
      return { kind: 'broken', reason, externalBytes: 0 };
    } finally {
      deadline.stop();
      this.#answerCatalog = undefined;
      if (this.#state === 'busy') this.#state = 'idle';
    }
  }

  /** Ends the thread, also while it is busy. Fulfils when it no longer runs. */
  end(): Promise<void> {
    this.#state = 'ended';
    this.#exited ??= this.#pool.destroy().finally(() => this.#port.close());
    return this.#exited;
  }

  /** Undefined if the thread still runs, or was ended by `end`. */
  #causeOfDeath(thrown: unknown): string | undefined {
    return this.#state !== 'ended' && this.#pool.threads.length === 0 ? errorText(thrown) : undefined;
  }

  #onQuestion(question: CatalogQuestion): void {
    const answerCatalog = this.#answerCatalog;
    const post = (part: CatalogAnswer): boolean => {
      if (this.#answerCatalog !== answerCatalog) return false;
      this.#port.postMessage(part);
      return true;
    };
    // After an error the thread would wait forever for the rest of the answer, so it is ended.
    answerCatalog?.(question, post).catch((thrown: unknown) => {
      this.#unanswered = new Error(`the catalog did not answer: ${errorText(thrown)}`, { cause: thrown });
      void this.end();
    });
  }
}

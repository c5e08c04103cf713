import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Logger } from '../lib/log.ts';
import { NestedFairQueue } from '../lib/nested-fair-queue.ts';
import { limits } from '../limits/limits.ts';
import type { TranslationReply, TranslationTask } from '../sql/translation/translation-messages.ts';
import {
  type AnswerCatalog,
  TranslationThread,
  type TranslationThreadOptions,
} from './translation-thread.ts';

export interface TranslationPoolOptions extends TranslationThreadOptions {
  /** At least two; at least three if several tenants share them. */
  readonly threads: number;
  /** Whether several tenants share them. */
  readonly shared: boolean;
  readonly log: Logger;
}

/** A query to translate, and the identity that asks. */
export interface TranslationRequest {
  readonly task: TranslationTask;
  /** Identifies the user or key within the tenant of the task. */
  readonly identity: string;
  readonly answerCatalog: AnswerCatalog;
  /** Ends the wait for a thread. It does not stop a translation that has begun. */
  readonly signal?: CancelSignal | undefined;
}

interface Waiting {
  readonly request: TranslationRequest;
  resolve(reply: AnsweredReply): void;
  reject(error: unknown): void;
}

/** The reply of a thread that can be used again. */
export type AnsweredReply = Exclude<TranslationReply, { readonly kind: 'broken' | 'failed' }>;

/**
 * Translation threads, and the queue of queries for them.
 *
 * Tenants take turns, and so do the identities within a tenant (`NestedFairQueue`). If there are several
 * tenants, one tenant never has all threads, and one identity never has all threads of its tenant. An
 * identity whose query exceeded the bounds of a thread is penalized for a minute: it comes after all others,
 * and all penalized identities together never have all threads.
 *
 * A thread is started if there is work and no idle thread, and replaced after it was ended. A thread that was
 * ended may still run for a while. Its replacement does not wait for it, unless as many ended threads still
 * run as the pool may have.
 */
export class TranslationPool {
  readonly #options: TranslationPoolOptions;
  readonly #threads = new Set<TranslationThread>();
  /** Threads that were told to end and still run. */
  readonly #ending = new Set<TranslationThread>();
  readonly #waiting = new NestedFairQueue<Waiting>(limits.maxQueuedQueries);
  /** The number of busy threads by tenant, by identity, and for all penalized identities. */
  readonly #busy = new Map<string, number>();
  readonly #penalized: LRUCache<string, true>;
  /** Threads that one tenant may have at the same time. */
  readonly #maxOfTenant: number;
  #closed = false;

  constructor(options: TranslationPoolOptions) {
    this.#options = options;
    this.#maxOfTenant = options.shared ? options.threads - 1 : options.threads;
    if (this.#maxOfTenant < 2) throw new Error('BUG: one identity could hold all threads of its tenant');
    this.#penalized = new LRUCache({
      max: limits.maxPenalizedIdentities,
      ttl: limits.translationPenaltyMs,
      perf: { now: () => options.clock.monotonicMs() },
    });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * @throws AppError `sql_too_complex`, `overloaded`, `shutting_down`; after the signal `query_cancelled`, or
   *   the reason of the signal
   */
  run(request: TranslationRequest): Promise<AnsweredReply> {
    if (this.#closed) return Promise.reject(shuttingDown());
    const { task, identity, signal } = request;
    if (signal?.aborted === true) return Promise.reject(cancelled(signal));
    return new Promise((resolve, reject) => {
      const settle = () => signal?.removeEventListener('abort', onAbort);
      const waiting: Waiting = {
        request,
        resolve: (reply) => {
          settle();
          resolve(reply);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      const onAbort = () => {
        this.#waiting.remove(task.tenant, identity, waiting);
        if (signal !== undefined) reject(cancelled(signal));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const gone = this.#waiting.push(task.tenant, identity, waiting);
      gone?.reject(new AppError('overloaded', 'too many queries are waiting'));
      this.#dispatch();
    });
  }

  /** Ends all threads at once, also busy ones. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting.drain()) waiting.reject(shuttingDown());
    await Promise.all([...this.#threads, ...this.#ending].map((thread) => thread.end()));
  }

  #dispatch(): void {
    for (const thread of this.#threads) {
      if (thread.hasEnded) this.#threads.delete(thread);
      if (!thread.isIdle) continue;
      const waiting = this.#next();
      if (waiting === undefined) return;
      void this.#work(thread, waiting);
    }
    if (this.#waiting.size > 0) this.#startOne();
  }

  #next(): Waiting | undefined {
    const mayGo = (isPenalized: boolean) => (tenant: string, identity: string) =>
      this.#penalized.has(identityKey(tenant, identity)) === isPenalized &&
      this.#sharesOf(tenant, identity, isPenalized).every(([key, max]) => (this.#busy.get(key) ?? 0) < max);
    return this.#waiting.shift(mayGo(false)) ?? this.#waiting.shift(mayGo(true));
  }

  /** The counts in `#busy` to which a translation belongs, with the most threads that each may have. */
  #sharesOf(
    tenant: string,
    identity: string,
    isPenalized: boolean,
  ): ReadonlyArray<readonly [key: string, max: number]> {
    const ofOne = [
      [tenant, this.#maxOfTenant],
      [identityKey(tenant, identity), this.#maxOfTenant - 1],
    ] as const;
    return isPenalized ? [...ofOne, [allPenalized, this.#options.threads - 1]] : ofOne;
  }

  async #work(thread: TranslationThread, { request, resolve, reject }: Waiting): Promise<void> {
    const { task, identity, answerCatalog } = request;
    const key = identityKey(task.tenant, identity);
    const shares = this.#sharesOf(task.tenant, identity, this.#penalized.has(key));
    for (const [each] of shares) this.#busy.set(each, (this.#busy.get(each) ?? 0) + 1);
    try {
      const reply = await thread.run(task, answerCatalog);
      if (reply.kind === 'failed') throw new Error(`the translation failed: ${reply.reason}`);
      if (reply.kind === 'broken') {
        this.#penalized.set(key, true);
        const { reason } = reply;
        this.#options.log.warn(
          { reason, tenant: task.tenant, bytes: Buffer.byteLength(task.text) },
          'a translation thread was replaced after a query exceeded its bounds',
        );
        this.#replace(thread);
        throw tooComplex(reason);
      }
      if (reply.externalBytes > limits.maxTranslationExternalBytes) this.#replace(thread);
      resolve(reply);
    } catch (thrown) {
      reject(this.#closed ? shuttingDown() : thrown);
    }
    for (const [each] of shares) this.#giveBack(each);
    this.#dispatch();
  }

  #giveBack(key: string): void {
    const count = this.#busy.get(key) ?? 0;
    if (count > 1) this.#busy.set(key, count - 1);
    else this.#busy.delete(key);
  }

  #replace(thread: TranslationThread): void {
    this.#threads.delete(thread);
    this.#ending.add(thread);
    void thread.end().then(() => {
      this.#ending.delete(thread);
      this.#dispatch();
    });
    this.#startOne();
  }

  /** Starts one thread at a time; waiting queries take the first idle one. */
  #startOne(): void {
    const { threads } = this.#options;
    const isFull = this.#threads.size >= threads || this.#threads.size + this.#ending.size >= 2 * threads;
    if (this.#closed || isFull || [...this.#threads].some((each) => each.isStarting)) return;
    const thread = new TranslationThread(this.#options);
    this.#threads.add(thread);
    void thread.start().then(
      () => this.#dispatch(),
      (error: unknown) => this.#onStartFailed(thread, error),
    );
  }

  /** If there are other threads, they do the work. Otherwise all waiting queries fail. */
  #onStartFailed(thread: TranslationThread, error: unknown): void {
    this.#threads.delete(thread);
    if (this.#closed) return;
    this.#options.log.error({ err: error }, 'a translation thread did not start');
    if (this.#threads.size > 0) return;
    for (const waiting of this.#waiting.drain()) waiting.reject(error);
  }
}

/** A key that no tenant and no identity has. */
const allPenalized = '';

const identityKey = (tenant: string, identity: string): string => `${tenant}/${identity}`;

const shuttingDown = (): AppError => new AppError('shutting_down', 'the service is shutting down');

const cancelled = ({ reason }: CancelSignal): AppError =>
  reason instanceof AppError ? reason : new AppError('query_cancelled', 'the client closed the connection');

const tooComplex = (reason: string): AppError =>
  new AppError(
    'sql_too_complex',
    `The query is too complex to be translated (${reason}): ask for fewer columns, relations or expressions at once`,
  );

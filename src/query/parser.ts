import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits.ts';
import type { Query } from '../sql/ast.ts';
import type { ParseReply, ParseTask } from '../sql/parse-task.ts';

/**
 * PostgreSQL's parser in a thread of its own.
 *
 * Some inputs overflow its stack, and after some of these its instance hangs or fails everything. So it gets a
 * large stack, a time limit, and is replaced after any failure that is not an error in the query. The thread is
 * started by the first query and takes one query at a time; parsing takes some 50 microseconds, and of the widest
 * queries 0.3 seconds, so that tenants take turns.
 */
export class SqlParser {
  readonly #url: URL;
  readonly #log: Logger;
  readonly #waiting = new FairQueue<Job>(limits.maxQueuedQueries);
  #thread: Thread | undefined;
  #busy = false;
  #closed = false;

  /** @param url of the compiled `workers/parse.ts` */
  constructor(url: URL, log: Logger) {
    this.#url = url;
    this.#log = log;
  }

  /**
   * @param tenant whose query it is
   * @throws AppError `sql_syntax`, `sql_unsupported`, `sql_too_large` for the query; `overloaded`,
   * `shutting_down` for the service
   */
  parse(text: string, tenant: string): Promise<Query> {
    if (this.#closed) return Promise.reject(new AppError('shutting_down', 'the service is shutting down'));
    // It would be refused in there too; this saves copying it.
    if (text.length > limits.maxQueryTextBytes) {
      const message = `The query has more than ${limits.maxQueryTextBytes} bytes`;
      return Promise.reject(new AppError('sql_too_large', message));
    }
    return new Promise((resolve, reject) => {
      const gone = this.#waiting.push(tenant, { text, resolve, reject });
      gone?.reject(new AppError('overloaded', 'too many queries are waiting'));
      void this.#work();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.end();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      const { resolve, reject, text } = job;
      await this.#parse(text).then(resolve, reject);
    }
    this.#busy = false;
  }

  async #parse(text: string): Promise<Query> {
    const thread = this.#thread ?? new Thread(this.#url);
    this.#thread = thread;
    const reply = await thread.ask(text).catch((thrown: unknown) => {
      this.#thread = undefined;
      throw thrown;
    });
    if (reply.kind === 'parsed') return reply.query;
    if (reply.kind === 'refused') {
      throw new AppError(reply.code, reply.message, reply.details && { details: reply.details });
    }
    this.#thread = undefined;
    await thread.end();
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    const reason = reply.kind === 'broken' ? reply.message : 'unexpected reply';
    this.#log.warn({ reason, bytes: text.length }, 'the SQL parser was replaced after a query broke it');
    throw new AppError('sql_too_large', 'The query is too complex to be parsed');
  }
}

interface Job {
  readonly text: string;
  readonly resolve: (query: Query) => void;
  readonly reject: (error: Error) => void;
}

/** One life of the thread. Once started it answers every question, if only that it is broken. */
class Thread {
  readonly #worker: Worker;
  readonly #ready: Promise<ParseReply>;
  #answer: ((reply: ParseReply) => void) | undefined;

  constructor(url: URL) {
    this.#worker = new Worker(url, {
      resourceLimits: {
        stackSizeMb: limits.sqlParserStackMiB,
        maxOldGenerationSizeMb: limits.sqlParserHeapMiB,
      },
    });
    this.#ready = this.#next();
    this.#worker.on('message', (reply: ParseReply) => this.#answer?.(reply));
    this.#worker.on('error', (error) => this.#answer?.({ kind: 'broken', message: error.message }));
    this.#worker.on('exit', (code) =>
      this.#answer?.({ kind: 'broken', message: `the thread ended (${code})` }),
    );
  }

  /** @throws Error if the thread cannot be started */
  async ask(text: string): Promise<ParseReply> {
    this.#worker.ref();
    try {
      const ready = await this.#ready;
      if (ready.kind === 'broken') throw new Error(`the SQL parser cannot be started: ${ready.message}`);
      return await this.#askWithin(text, limits.sqlParserTimeoutMs);
    } finally {
      // While it waits, it does not keep a process alive that has nothing else to do.
      this.#worker.unref();
    }
  }

  async #askWithin(text: string, timeoutMs: number): Promise<ParseReply> {
    const reply = this.#next();
    const timer = setTimeout(
      () => this.#answer?.({ kind: 'broken', message: `no answer within ${timeoutMs} ms` }),
      timeoutMs,
    );
    this.#worker.postMessage({ text } satisfies ParseTask);
    try {
      return await reply;
    } finally {
      clearTimeout(timer);
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): Promise<ParseReply> {
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }
}

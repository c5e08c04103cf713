import { AppError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

interface Job {
  /** Runs the work and settles its promise. Never rejects. */
  readonly run: () => Promise<void>;
  readonly refuse: (error: AppError) => void;
}

/**
 * Runs asynchronous work one at a time, or a few at a time: parties take turns, and each party's work begins
 * in its order (`FairQueue`).
 */
export class FairExecutor {
  readonly #waiting: FairQueue<Job>;
  readonly #refusal: string;
  readonly #maxWaitMs: number | undefined;
  readonly #parallel: number;
  #running = 0;

  /**
   * @param maxWaiting waiting work of all parties together
   * @param refusal the message for work that is refused because the queue is full or slow
   * @param maxWaitMs work that has not begun after this time is refused; undefined: it waits on
   * @param parallel how much runs at a time
   */
  constructor(maxWaiting: number, refusal: string, maxWaitMs?: number, parallel = 1) {
    this.#parallel = parallel;
    this.#waiting = new FairQueue(maxWaiting);
    this.#refusal = refusal;
    this.#maxWaitMs = maxWaitMs;
  }

  /** @throws AppError `overloaded`, and what the work throws */
  run<T>(party: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const job: Job = {
        run: () => {
          clearTimeout(timer);
          return work().then(resolve, reject);
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      if (this.#maxWaitMs !== undefined) {
        timer = setTimeout(() => {
          this.#waiting.remove(party, job);
          this.#refuse(job);
        }, this.#maxWaitMs);
        timer.unref();
      }
      this.#refuse(this.#waiting.push(party, job));
      void this.#work();
    });
  }

  #refuse(job: Job | undefined): void {
    job?.refuse(new AppError('overloaded', this.#refusal));
  }

  async #work(): Promise<void> {
    if (this.#running >= this.#parallel) return;
    this.#running += 1;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) await job.run();
    this.#running -= 1;
  }
}

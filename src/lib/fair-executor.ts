import { AppError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

interface Job {
  /** Runs the work and settles its promise. Never rejects. */
  readonly run: () => Promise<void>;
  readonly refuse: (error: AppError) => void;
}

/**
 * Runs asynchronous work one at a time: parties take turns, and each party's work keeps its
 * order (`FairQueue`).
 */
export class FairExecutor {
  readonly #waiting: FairQueue<Job>;
  readonly #refusal: string;
  #busy = false;

  /**
   * @param maxWaiting waiting work of all parties together
   * @param refusal the message for work that is refused because the queue is full
   */
  constructor(maxWaiting: number, refusal: string) {
    this.#waiting = new FairQueue(maxWaiting);
    this.#refusal = refusal;
  }

  /** @throws AppError `overloaded`, and what the work throws */
  run<T>(party: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => work().then(resolve, reject);
      const gone = this.#waiting.push(party, { run, refuse: reject });
      gone?.refuse(new AppError('overloaded', this.#refusal));
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) await job.run();
    this.#busy = false;
  }
}

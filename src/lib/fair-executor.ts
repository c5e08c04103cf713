import { AppError } from '../errors.ts';
import { FairQueue } from './fair-queue.ts';

interface Job {
  /** Works, and tells whoever waits. Never rejects. */
  readonly run: () => Promise<void>;
  readonly refuse: (error: AppError) => void;
}

/** Runs works one after another, parties in turn, each party's in its order (`FairQueue`). */
export class FairExecutor {
  readonly #waiting: FairQueue<Job>;
  readonly #refusal: string;
  #busy = false;

  /**
   * @param maxWaiting works that wait for their turn, of all parties together
   * @param refusal what those are told for whom there is no room
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

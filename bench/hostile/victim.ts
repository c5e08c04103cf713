import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { VictimOptions, VictimReport } from './victim-thread.ts';

/** Talks to the thread of the victim. */
export class VictimProbe {
  readonly #worker: Worker;

  constructor(options: VictimOptions) {
    this.#worker = new Worker(new URL('./victim-thread.js', import.meta.url), { workerData: options });
  }

  /** What the victim has seen since the last report. */
  async report(): Promise<VictimReport> {
    const reply = once(this.#worker, 'message');
    this.#worker.postMessage('report');
    const [report] = await reply;
    return report as VictimReport;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

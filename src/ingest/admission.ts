import { AppError } from '../errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { Reservation } from './request.ts';

/**
 * Bounds the memory of requests under way: a body's bytes are reserved before they are read and given back
 * when the request has ended, so that a slow disk or store turns into 503 and never into a growing heap.
 */
export class Admission {
  readonly #metrics: Metrics;
  #bytes = 0;
  #closed = false;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** @throws AppError `overloaded`, `shutting_down` */
  reserve(bodyBytes: number): Reservation {
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    if (this.#bytes + bodyBytes > limits.maxInflightBodyBytes) {
      throw new AppError(
        'overloaded',
        `${this.#bytes} bytes of other requests are under way; at most ${limits.maxInflightBodyBytes} are allowed`,
      );
    }
    this.#add(bodyBytes);
    let held = true;
    return {
      release: () => {
        if (held) this.#add(-bodyBytes);
        held = false;
      },
    };
  }

  close(): void {
    this.#closed = true;
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#metrics.inflightBodyBytes.set(this.#bytes);
  }
}

import type { Metrics } from '../lib/metrics.ts';
import type { Tally } from '../lib/tallies.ts';

/** The counters of one route. Each is looked up by its labels once, which costs more than counting. */
export class RouteMetrics {
  readonly #metrics: Metrics;
  readonly #route: string;
  /** By method and status. */
  readonly #requests = new Map<string, Tally>();
  #last: { readonly method: string; readonly status: number; readonly requests: Tally } | undefined;
  readonly #duration: { observe(seconds: number): void };
  readonly #bodyBytes: { inc(bytes: number): void };

  /** @param route a pattern from the route table, never a path that a client sent */
  constructor(metrics: Metrics, route: string) {
    this.#metrics = metrics;
    this.#route = route;
    this.#duration = metrics.httpDuration.series({ route });
    this.#bodyBytes = metrics.httpRequestBytes.labels({ route });
  }

  count(method: string, status: number, durationSeconds: number, bodyBytes: number): void {
    // Most requests of a route are like the one before.
    if (this.#last?.status !== status || this.#last.method !== method) {
      this.#last = { method, status, requests: this.#requestsOf(method, status) };
    }
    this.#last.requests.inc();
    this.#duration.observe(durationSeconds);
    if (bodyBytes > 0) this.#bodyBytes.inc(bodyBytes);
  }

  #requestsOf(method: string, status: number): Tally {
    const key = `${method} ${status}`;
    let requests = this.#requests.get(key);
    if (requests === undefined) {
      requests = this.#metrics.httpRequests.labels({ route: this.#route, method, status });
      this.#requests.set(key, requests);
    }
    return requests;
  }
}

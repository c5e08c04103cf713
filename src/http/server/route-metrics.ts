import type { CounterSeries } from '../../lib/fast-metrics.ts';
import type { Metrics } from '../../lib/metrics.ts';

/**
 * The counters of one route. They are kept here because looking one up by its labels costs more than
 * counting.
 */
export class RouteMetrics {
  readonly #metrics: Metrics;
  readonly #route: string;
  #last: { readonly method: string; readonly status: number; readonly requests: CounterSeries } | undefined;
  readonly #duration: { observe(seconds: number): void };
  readonly #bodyBytes: { inc(bytes: number): void };

  /** @param route a pattern from the route table, never a path that a client sent */
  constructor(metrics: Metrics, route: string) {
    this.#metrics = metrics;
    this.#route = route;
    this.#duration = metrics.httpDuration.series({ route });
    this.#bodyBytes = metrics.httpRequestBytes.series({ route });
  }

  count(method: string, status: number, durationSeconds: number, bodyBytes: number): void {
    // Most requests of a route have the same method and status as the one before.
    if (this.#last?.status !== status || this.#last.method !== method) {
      const requests = this.#metrics.httpRequests.series({ route: this.#route, method, status });
      this.#last = { method, status, requests };
    }
    this.#last.requests.inc();
    this.#duration.observe(durationSeconds);
    if (bodyBytes > 0) this.#bodyBytes.inc(bodyBytes);
  }
}

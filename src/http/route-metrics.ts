import type { Metrics } from '../lib/metrics.ts';

/** The counters of one route. Each is looked up by its labels once, which costs more than counting. */
export class RouteMetrics {
  readonly #metrics: Metrics;
  readonly #route: string;
  /** By method and status. */
  readonly #requests = new Map<string, { inc(): void }>();
  readonly #duration: { observe(seconds: number): void };
  readonly #bodyBytes: { inc(bytes: number): void };

  /** @param route a pattern from the route table, never a path that a client sent */
  constructor(metrics: Metrics, route: string) {
    this.#metrics = metrics;
    this.#route = route;
    this.#duration = metrics.httpDuration.labels(route);
    this.#bodyBytes = metrics.httpRequestBytes.labels(route);
  }

  count(method: string, status: number, durationSeconds: number, bodyBytes: number): void {
    const key = `${method} ${status}`;
    let requests = this.#requests.get(key);
    if (requests === undefined) {
      requests = this.#metrics.httpRequests.labels(this.#route, method, String(status));
      this.#requests.set(key, requests);
    }
    requests.inc();
    this.#duration.observe(durationSeconds);
    if (bodyBytes > 0) this.#bodyBytes.inc(bodyBytes);
  }
}

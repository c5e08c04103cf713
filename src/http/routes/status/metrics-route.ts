import type { Clock, Timers } from '../../../lib/clock.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { limits } from '../../../limits/limits.ts';
import type { Reply } from '../../server/reply.ts';
import { textContent } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';

export interface MetricsRouteOptions {
  readonly registry: Pick<Metrics['registry'], 'metrics' | 'contentType'>;
  readonly clock: Pick<Clock, 'monotonicMs'> & Pick<Timers, 'after'>;
  /**
   * Whether scrapers need credentials. Even if they do not, no label or value comes from a client, unless the
   * operator has enabled the names of datasets as labels.
   */
  readonly needsCredentials: boolean;
}

/** The metrics of the service, for Prometheus. */
export function metricsRoute({ registry, clock, needsCredentials }: MetricsRouteOptions): Route {
  const text = new MetricsText(() => registry.metrics(), clock);
  const handler = async (): Promise<Reply> => ({
    status: 200,
    contentType: registry.contentType,
    body: [await text.next()],
  });
  const row = {
    method: 'GET',
    path: '/metrics',
    reference: {
      group: 'Status',
      summary: 'Show the metrics of the service, for Prometheus',
      details:
        'With `MILLRACE_METRICS_AUTH=required` it needs credentials; `MILLRACE_METRICS_ADDR` gives it an address of its own.',
      replies: [{ status: 200, description: 'Metrics.', content: textContent }],
      errors: [],
    },
    handler,
  } as const;
  if (!needsCredentials) return { ...row, permission: 'public' };
  return { ...row, permission: 'service.read', dataset: 'none', tenant: 'none' };
}

/**
 * Writes the text of the metrics, which takes milliseconds of the event loop. All requests that wait share
 * one text, and there is at most one per `metricsIntervalMs`. A request never gets a text that was begun
 * before it arrived.
 */
export class MetricsText {
  readonly #write: () => Promise<string>;
  readonly #clock: MetricsRouteOptions['clock'];
  #beganMs = Number.NEGATIVE_INFINITY;
  #next: Promise<Uint8Array> | undefined;

  constructor(write: () => Promise<string>, clock: MetricsRouteOptions['clock']) {
    this.#write = write;
    this.#clock = clock;
  }

  next(): Promise<Uint8Array> {
    this.#next ??= this.#make();
    return this.#next;
  }

  async #make(): Promise<Uint8Array> {
    const waitMs = Math.max(0, this.#beganMs + limits.metricsIntervalMs - this.#clock.monotonicMs());
    await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
    // Requests from here on wait for the next text.
    this.#next = undefined;
    this.#beganMs = this.#clock.monotonicMs();
    return Buffer.from(await this.#write());
  }
}

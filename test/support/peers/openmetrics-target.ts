import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A scrape target with exemplars: a counter with a new exemplar, `trace-<value>`, in each scrape. */
export class OpenMetricsTarget {
  readonly address: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<OpenMetricsTarget> {
    let scrapes = 0;
    const server = createServer((_, reply) => {
      scrapes += 1;
      const lines = [
        '# HELP demo_requests What was asked for.',
        '# TYPE demo_requests counter',
        `demo_requests_total{path="/"} ${scrapes} # {trace_id="trace-${scrapes}"} ${scrapes} ${Date.now() / 1000}`,
        '# EOF',
      ];
      reply.setHeader('content-type', 'application/openmetrics-text; version=1.0.0; charset=utf-8');
      reply.end(`${lines.join('\n')}\n`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OpenMetricsTarget(server);
  }

  async dispose(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

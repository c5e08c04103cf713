import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One alert of a webhook's body. */
export interface ReceivedAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One notification, as it arrived. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly status: 'firing' | 'resolved'; readonly alerts: readonly ReceivedAlert[] };
}

/** A real HTTP server that takes notifications, as an operator would write one. */
export class WebhookReceiver {
  readonly #server: Server;
  readonly received: Received[] = [];
  /** The status of its replies; undefined: it closes the connection without one. */
  status: number | undefined = 200;

  private constructor() {
    this.#server = createServer((request, reply) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { headers } = request;
        const body = JSON.parse(Buffer.concat(parts).toString()) as Received['body'];
        this.received.push({ id: String(headers['webhook-id']), headers, body });
        if (this.status === undefined) request.socket.destroy();
        else reply.writeHead(this.status).end();
      });
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((listening) => receiver.#server.listen(0, '127.0.0.1', listening));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** What arrived about alerts of this name, in order. */
  about(alertname: string): readonly Received[] {
    return this.received.filter(({ body }) =>
      body.alerts.some(({ labels }) => labels['alertname'] === alertname),
    );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

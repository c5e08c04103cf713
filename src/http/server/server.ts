import type { Gate } from '../../access/gate.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Networks } from '../../lib/ip-address.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { maxOpenFiles } from '../../lib/open-files.ts';
import type { TlsFiles } from '../../lib/tls-files.ts';
import { limits } from '../../limits/limits.ts';
import type { CorsOrigins } from './cors.ts';
import { earlyReply } from './early-reply.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import { createListener, type HttpServerSetting } from './libraries.ts';
import type { HttpAddress, ListenerOptions, ServerRequest } from './listener.ts';
import type { Route } from './route.ts';
import { RouteMetrics } from './route-metrics.ts';
import { Router } from './router.ts';

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly gate: Gate;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly audit: AuditLog;
  readonly clock: Clock;
  /** Where browsers reach the service; undefined: what their requests say. */
  readonly publicOrigin?: string | undefined;
  /** Whose pages may call the API, beside those of the service; undefined: nobody's. */
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Networks of the proxies that are believed whom they ask for; undefined: there are none. */
  readonly trustedProxies?: Networks | undefined;
  /** Called for each request. */
  readonly onRequest?: () => void;
}

export interface HttpServer {
  /**
   * Takes connections.
   * @param port 0 takes a free one
   * @returns the address with the port that was taken
   * @throws Error when the address cannot be had
   */
  listen(host: string, port: number): Promise<HttpAddress>;
  /** From now on requests are for these routes; until then they get `starting`. To be called once. */
  serve(options: HttpServerOptions): void;
  /**
   * Takes no more connections, lets requests under way finish for up to `graceMs`, then closes every
   * connection. A request that comes meanwhile on an open connection gets `shutting_down`.
   */
  close(graceMs: number): Promise<void>;
  /**
   * New connections get this certificate; those that are open go on.
   * @throws Error when it cannot be used; then the one before stays
   */
  useCertificate(files: TlsFiles): Promise<void>;
}

export interface CreateServerOptions {
  /** Which HTTP library serves; what is found to load if it is not said. */
  readonly library?: HttpServerSetting | undefined;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly maxConnections?: number;
}

/** The HTTP server: what it does with requests, on whichever HTTP library. */
export function createHttpServer(options: CreateServerOptions = {}): HttpServer {
  const { library = 'auto', tls, maxConnections = defaultMaxConnections() } = options;
  const underWay = new UnderWay();
  let closed: Promise<void> | undefined;
  let handle = (request: ServerRequest): void => {
    const { reply, connection } = earlyReply(request);
    request.send(reply, { headOnly: request.method === 'HEAD', connection }, nobodyAsks);
  };
  let onUnreadable: ListenerOptions['onUnreadable'] = () => {};
  const listener = createListener(library, {
    maxConnections,
    tls,
    onRequest: (request) => handle(request),
    onUnreadable: (error) => onUnreadable(error),
  });

  const contextOf = (options: HttpServerOptions): ExchangeContext => ({
    router: new Router(options.routes),
    gate: options.gate,
    metrics: options.metrics,
    metricsOf: createMetricsOf(options.metrics, options.routes),
    log: options.log,
    audit: options.audit,
    checksChunks: listener.checksChunks,
    clock: options.clock,
    publicOrigin: options.publicOrigin,
    corsOrigins: options.corsOrigins,
    trustedProxies: options.trustedProxies,
    isClosing: () => closed !== undefined,
    onEnd: () => underWay.end(),
  });

  async function close(graceMs: number): Promise<void> {
    listener.stopListening();
    await underWay.settled(graceMs);
    listener.closeConnections();
  }

  return {
    listen: (host, port) => listener.listen(host, port),
    serve: (options) => {
      const context = contextOf(options);
      onUnreadable = ({ code }) => options.metrics.rejects.inc({ code });
      handle = (request) => {
        underWay.begin();
        options.onRequest?.();
        void new Exchange(context, request).run();
      };
    },
    close: (graceMs) => {
      closed ??= close(graceMs);
      return closed;
    },
    useCertificate: (files) => listener.useCertificate(files),
  };
}

const defaultMaxConnections = (): number =>
  Math.min(limits.maxConnections, Math.floor(maxOpenFiles() * limits.maxConnectionsShare));

/** An early reply is sent at once, and counted nowhere. */
const nobodyAsks = { onSent: () => {}, onBroken: () => {} };

/** Counts requests under way. */
class UnderWay {
  #count = 0;
  #onNone: (() => void) | undefined;

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onNone?.();
  }

  /** Fulfils when there are none, or after a while. */
  async settled(withinMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Label values come from the route table only: what no route answers is counted as `unmatched`. */
function createMetricsOf(metrics: Metrics, routes: readonly Route[]): ExchangeContext['metricsOf'] {
  const unmatched = new RouteMetrics(metrics, 'unmatched');
  const byRoute = new Map(routes.map((route) => [route, new RouteMetrics(metrics, route.path)]));
  return (route) => (route === undefined ? unmatched : (byRoute.get(route) ?? unmatched));
}

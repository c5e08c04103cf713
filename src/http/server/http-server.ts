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
  /** The origin at which browsers reach the service; if undefined, it is derived from each request. */
  readonly publicOrigin?: string | undefined;
  /** Other origins whose pages may call the API; undefined if there are none. */
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Networks of proxies whose forwarding headers are used; undefined if there are none. */
  readonly trustedProxies?: Networks | undefined;
  /** Called for each request. */
  readonly onRequest?: () => void;
}

export interface HttpServer {
  /**
   * Accepts connections from now on.
   * @param port 0 chooses a free port
   * @returns the address with the actual port
   * @throws Error if the address cannot be used
   */
  listen(host: string, port: number): Promise<HttpAddress>;
  /** Serves these routes from now on; until then requests get `starting`. May be called once. */
  serve(options: HttpServerOptions): void;
  /**
   * Accepts no further connections, lets running requests finish for up to `graceMs`, then closes all
   * connections. New requests on open connections get `shutting_down`.
   */
  close(graceMs: number): Promise<void>;
  /**
   * New connections get this certificate; open ones keep theirs.
   * @throws Error if it cannot be used; then the current one stays
   */
  useCertificate(files: TlsFiles): Promise<void>;
}

export interface CreateServerOptions {
  /** The setting for the HTTP library; `auto` unless given. */
  readonly library?: HttpServerSetting | undefined;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly maxConnections?: number;
}

/** Creates the HTTP server on either HTTP library. */
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

/** Early replies are not counted. */
const nobodyAsks = { onSent: () => {}, onBroken: () => {} };

/** Counts running requests. */
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

  /** Fulfils when no request is running, or after `withinMs`. */
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

/** Label values come only from the route table; requests without a route are counted as `unmatched`. */
function createMetricsOf(metrics: Metrics, routes: readonly Route[]): ExchangeContext['metricsOf'] {
  const unmatched = new RouteMetrics(metrics, 'unmatched');
  const byRoute = new Map(routes.map((route) => [route, new RouteMetrics(metrics, route.path)]));
  return (route) => (route === undefined ? unmatched : (byRoute.get(route) ?? unmatched));
}

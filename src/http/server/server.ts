import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js';
import type { Gate } from '../../access/gate.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import { AppError } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Networks } from '../../lib/ip-address.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { maxOpenFiles } from '../../lib/open-files.ts';
import { limits } from '../../limits/limits.ts';
import type { CorsOrigins } from './cors.ts';
import { earlyReply } from './early-reply.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import { problemReply } from './reply.ts';
import type { Route } from './route.ts';
import { RouteMetrics } from './route-metrics.ts';
import { Router } from './router.ts';
import { send } from './send.ts';

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
}

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/** `listen` of uWebSockets.js with all that it takes; its type definitions leave this form out. */
interface ListenWithOptions {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): void;
}

/** Settings of uWebSockets.js that its type definitions leave out. `silent`: replies do not name it. */
interface Configurable {
  _cfg(setting: 'silent'): void;
}

/**
 * `LIBUS_LISTEN_EXCLUSIVE_PORT`: without it, some platforms let a second server take part of a port's
 * connections.
 */
const exclusivePort = 1;

/**
 * The HTTP server, over HTTP/1.1. Connections are bounded for all clients together: uWebSockets.js does not
 * say whose connection it is that ends.
 *
 * What uWebSockets.js does by itself: it answers a malformed request line (and HTTP/1.0) with 505, a length
 * with a coding, or chunks that are none, with 400, headers beyond its bound with 431, each a page with its
 * name, and closes. Behind a malformed header or the 98th it takes nothing more, without an answer. It closes
 * a connection that sends nothing for ten seconds between or inside requests (a body must keep up 16 KiB/s),
 * and one that sends a request before the reply to the last. Its bound on headers is not held where they come
 * in one piece, and it looks at no duplicates: `readHeaders` does.
 */
export function createHttpServer(maxConnections = defaultMaxConnections()): HttpServer {
  (uWS as unknown as Configurable)._cfg('silent');
  const app = uWS.App() as TemplatedApp & ListenWithOptions;
  let connections = 0;
  // Called with 1 for a new connection, and with -1 for one that has ended.
  const countConnection = (res: HttpResponse, change: unknown): void => {
    connections += Number(change);
    if (change === 1 && connections > maxConnections) refuseConnection(res, maxConnections);
  };
  app.filter(countConnection);
  const underWay = new UnderWay();
  let listenSocket: us_listen_socket | undefined;
  let closed: Promise<void> | undefined;
  let handle = (res: HttpResponse, req: HttpRequest): void => {
    const { reply, connection } = earlyReply(req);
    send(res, reply, { headOnly: req.getCaseSensitiveMethod() === 'HEAD', connection }, nobodyAsks);
  };
  app.any('/*', (res, req) => handle(res, req));

  const contextOf = (options: HttpServerOptions): ExchangeContext => ({
    router: new Router(options.routes),
    gate: options.gate,
    metrics: options.metrics,
    metricsOf: createMetricsOf(options.metrics, options.routes),
    log: options.log,
    audit: options.audit,
    clock: options.clock,
    publicOrigin: options.publicOrigin,
    corsOrigins: options.corsOrigins,
    trustedProxies: options.trustedProxies,
    isClosing: () => closed !== undefined,
    onEnd: () => underWay.end(),
  });

  async function close(graceMs: number): Promise<void> {
    if (listenSocket !== undefined) uWS.us_listen_socket_close(listenSocket);
    await underWay.settled(graceMs);
    app.close();
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        app.listen(host, port, exclusivePort, (socket) => {
          if (socket === false) {
            reject(new Error(`cannot listen on ${host}:${port}: it is in use, not local or not permitted`));
            return;
          }
          listenSocket = socket;
          resolve({ host, port: uWS.us_socket_local_port(socket) });
        });
      }),
    serve: (options) => {
      const context = contextOf(options);
      handle = (res, req) => {
        underWay.begin();
        options.onRequest?.();
        void new Exchange(context, res, req).run(req);
      };
    },
    close: (graceMs) => {
      closed ??= close(graceMs);
      return closed;
    },
  };
}

function refuseConnection(res: HttpResponse, maxConnections: number): void {
  const error = new AppError('overloaded', `there are ${maxConnections} connections; no more are allowed`);
  send(res, problemReply(error), { headOnly: false, connection: 'close' }, nobodyAsks);
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

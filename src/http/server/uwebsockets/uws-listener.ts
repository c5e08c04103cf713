import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { TlsFiles } from '../../../lib/tls-files.ts';
import type { HttpAddress, HttpListener, ListenerOptions } from '../listener.ts';
import { tooManyConnections } from '../reply.ts';
import type { UwsModule } from './load.ts';
import { send } from './send.ts';
import { UwsRequest } from './uws-request.ts';

/** The form of `listen` with options, which the type definitions of uWebSockets.js do not have. */
interface ListenWithOptions {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): void;
}

type App = TemplatedApp & ListenWithOptions;

/** A setting that the type definitions of uWebSockets.js do not have. `silent`: replies do not name it. */
interface Configurable {
  _cfg(setting: 'silent'): void;
}

/**
 * `LIBUS_LISTEN_EXCLUSIVE_PORT`: without it, some platforms let a second server take part of a port's
 * connections.
 */
const exclusivePort = 1;

/**
 * The listener on uWebSockets.js, for HTTP/1.1. The number of connections is limited for all clients
 * together, not for each: uWebSockets.js does not report whose connection was closed.
 *
 * uWebSockets.js itself does the following:
 *
 * - It answers a malformed request line and HTTP/1.0 with 505, a length together with a coding and malformed
 *   chunks with 400, and headers beyond its bound with 431. Each reply is a page with its name, and closes
 *   the connection.
 * - After a malformed header or the 98th header it ignores the connection, without an answer.
 * - It closes a connection that sends nothing for ten seconds, between or within requests. A body must arrive
 *   at 16 KiB/s. It also closes a connection that sends a request before the last reply.
 * - It reads and drops the rest of a refused body for up to ten seconds, so that the connection is not reset
 *   before the client has read the reply.
 * - It does not enforce its bound on headers if they arrive in one piece, and does not check for duplicates.
 *   `readHeaders` does both.
 *
 * The certificate cannot be changed while it runs. uWebSockets.js cannot listen again on an address with open
 * connections, and changing a certificate by server name frees memory that open connections still use.
 */
export class UwsListener implements HttpListener {
  readonly checksChunks = false;
  readonly #uws: UwsModule;
  readonly #options: ListenerOptions;
  readonly #app: App;
  #connections = 0;
  #socket: us_listen_socket | undefined;

  constructor(uws: UwsModule, options: ListenerOptions) {
    this.#uws = uws;
    this.#options = options;
    (uws as unknown as Configurable)._cfg('silent');
    this.#app = this.#createApp(options.tls);
  }

  listen(host: string, port: number): Promise<HttpAddress> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, exclusivePort, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}: it is in use, not local or not permitted`));
          return;
        }
        this.#socket = socket;
        resolve({ host, port: this.#uws.us_socket_local_port(socket) });
      });
    });
  }

  stopListening(): void {
    if (this.#socket !== undefined) this.#uws.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }

  closeConnections(): void {
    this.#app.close();
  }

  async useCertificate(): Promise<void> {
    throw new Error('uWebSockets.js takes a new certificate after a restart, and node:http while it runs');
  }

  #createApp(tls: TlsFiles | undefined): App {
    const app = (
      tls === undefined
        ? this.#uws.App()
        : this.#uws.SSLApp({ cert_file_name: tls.certificate, key_file_name: tls.key })
    ) as App;
    const secure = tls !== undefined;
    const { onRequest, maxConnections } = this.#options;
    // Called with 1 for a new connection, and with -1 for one that has ended.
    const countConnection = (res: HttpResponse, change: unknown): void => {
      this.#connections += Number(change);
      if (change === 1 && this.#connections > maxConnections) refuse(res, maxConnections, secure);
    };
    app.filter(countConnection);
    app.any('/*', (res, req) => onRequest(new UwsRequest(res, req, secure)));
    return app;
  }
}

function refuse(res: HttpResponse, maxConnections: number, secure: boolean): void {
  const options = { headOnly: false, connection: 'close' } as const;
  send(res, tooManyConnections(maxConnections), options, secure, { onSent: () => {}, onBroken: () => {} });
}

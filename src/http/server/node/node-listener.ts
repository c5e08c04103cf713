import { readFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, Server, type Socket } from 'node:net';
import { AppError } from '../../../errors.ts';
import type { TlsFiles } from '../../../lib/tls-files.ts';
import { limits } from '../../../limits/limits.ts';
import type { HttpAddress, HttpListener, ListenerOptions } from '../listener.ts';
import { commonHeaders, problemReply, type Reply, reasonPhrase, tooManyConnections } from '../reply.ts';
import { NodeConnection } from './node-connection.ts';
import { NodeRequest } from './node-request.ts';

/** Bounds that `node:http` enforces itself. */
const serverOptions: ServerOptions = {
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: limits.httpIdleMs,
  keepAliveTimeout: limits.httpIdleMs,
  // A request may take as long as its body needs; `NodeConnection` enforces a minimum speed.
  requestTimeout: 0,
  connectionsCheckingInterval: limits.httpCheckIntervalMs,
  noDelay: true,
  insecureHTTPParser: false,
  // `readHeaders` checks it, without creating an object of all headers.
  requireHostHeader: false,
};

/**
 * The listener on `node:http`, for systems where uWebSockets.js has no binary. In addition to HTTP/1.1 it
 * accepts HTTP/1.0, chunk extensions, trailers (which are ignored) and pipelined requests.
 *
 * `node:http` itself parses strictly, and closes a connection that sends nothing for ten seconds or takes as
 * long for its headers. What it cannot parse is answered here, with 400 or 431.
 */
export class NodeListener implements HttpListener {
  readonly checksChunks = true;
  readonly #options: ListenerOptions;
  readonly #server: HttpServer | HttpsServer;
  /** All open sockets. During a TLS handshake a socket has no `NodeConnection` yet. */
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, NodeConnection>();
  readonly #checking: NodeJS.Timeout;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { tls } = options;
    const server =
      tls === undefined
        ? createHttpServer(serverOptions)
        : createHttpsServer({ ...serverOptions, ...readTls(tls), handshakeTimeout: limits.httpIdleMs });
    this.#server = server;
    // No limit on their number: a header that is dropped could be a second `Host`. Their bytes are bounded.
    server.maxHeadersCount = 0;
    const isSecure = tls !== undefined;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.#sockets.size > options.maxConnections) this.#refuseConnection(socket, isSecure);
      else if (!isSecure) this.#opened(socket, false);
    });
    if (isSecure) server.on('secureConnection', (socket: Socket) => this.#opened(socket, true));
    server.on('request', (message, response) => this.#arrived(message, response, false));
    server.on('checkContinue', (message, response) => this.#arrived(message, response, true));
    server.on('connect', (message: IncomingMessage) => {
      this.#unreadable(message.socket, new AppError('bad_framing', 'this server is not a proxy'));
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      this.#clientError(error, socket as Socket),
    );
    this.#checking = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#connections.values()) connection.check(nowMs);
    }, limits.httpCheckIntervalMs);
    this.#checking.unref();
  }

  listen(host: string, port: number): Promise<HttpAddress> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once('error', (error) => {
        const reason = 'it is in use, not local or not permitted';
        reject(new Error(`cannot listen on ${host}:${port}: ${reason}`, { cause: error }));
      });
      server.listen({ host, port, exclusive: true }, () => {
        resolve({ host, port: (server.address() as AddressInfo).port });
      });
    });
  }

  stopListening(): void {
    // Not with `close` of `node:http`: it also closes idle connections, on which a request may be arriving.
    if (this.#server.listening) Server.prototype.close.call(this.#server);
  }

  closeConnections(): void {
    clearInterval(this.#checking);
    for (const socket of this.#sockets) socket.destroy();
    // Stops the timer of `node:http`. The callback ignores the error that the server is not listening.
    this.#server.close(() => {});
  }

  async useCertificate(files: TlsFiles): Promise<void> {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(readTls(files));
  }

  #opened(socket: Socket, isSecure: boolean): void {
    const connection = new NodeConnection(socket, isSecure, this.#options.onRequest);
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      connection.closed();
    });
  }

  #refuseConnection(socket: Socket, isSecure: boolean): void {
    // With TLS, a reply would need a handshake first.
    if (isSecure) socket.destroy();
    else socket.end(asText(tooManyConnections(this.#options.maxConnections), false), () => socket.destroy());
  }

  #arrived(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const connection = this.#connections.get(message.socket);
    connection?.arrived(new NodeRequest(connection, message, response, awaitsContinue));
  }

  #clientError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
    if (!code.startsWith('HPE_')) {
      socket.destroy();
      return;
    }
    this.#unreadable(socket, errorOf(code));
  }

  #unreadable(socket: Socket, error: AppError): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable) socket.destroy();
    else if (connection.unreadable(asText(problemReply(error), connection.isSecure), performance.now())) {
      this.#options.onUnreadable(error);
    }
  }
}

/** For requests with a method that `node:http` does not know; they never reach the routes. */
const allow = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @param code the error code of the parser */
function errorOf(code: string): AppError {
  if (code === 'HPE_INVALID_METHOD') {
    return new AppError('method_not_allowed', `this service takes ${allow.join(', ')}`, {
      details: { allow },
    });
  }
  if (code !== 'HPE_HEADER_OVERFLOW') {
    return new AppError('bad_framing', `this is not an HTTP/1.1 request (${code})`);
  }
  return new AppError(
    'headers_too_large',
    `the request line and the headers have more than ${limits.maxHeaderBytes} bytes`,
  );
}

const readTls = ({ certificate, key }: TlsFiles) => ({
  cert: readFileSync(certificate),
  key: readFileSync(key),
});

/** A reply as text, for input that `node:http` could not parse as a request. */
function asText(reply: Reply, secure: boolean): string {
  const body = typeof reply.body === 'string' ? reply.body : '';
  const headers = [
    ...commonHeaders(reply, secure),
    ...['Content-Type', reply.contentType ?? 'text/plain'],
    ...(reply.headers ?? []).flat(),
    ...['Content-Length', String(Buffer.byteLength(body)), 'Connection', 'close'],
  ];
  const lines = headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}\r\n`] : [],
  );
  return `HTTP/1.1 ${reply.status} ${reasonPhrase(reply.status)}\r\n${lines.join('')}\r\n${body}`;
}

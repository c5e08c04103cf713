import type { AppError } from '../../errors.ts';
import type { TlsFiles } from '../../lib/tls-files.ts';
import type { Reply } from './reply.ts';

/**
 * The interface to an HTTP library. There are two implementations: uWebSockets.js, and `node:http` for
 * systems where that has no binary. They parse and write messages and enforce the bounds of connections.
 * Everything else (permissions, accepted bodies, replies) is decided outside and is the same with both.
 */
export interface HttpListener {
  /**
   * Whether the library checks chunked bodies strictly, so that the connection can be used for another
   * request afterwards. A library that accepts `3;x` or `g` as a size may see a different end of the body
   * than a proxy does.
   */
  readonly checksChunks: boolean;
  /**
   * Accepts connections from now on.
   * @param port 0 chooses a free port
   * @returns the address with the actual port
   * @throws Error if the address cannot be used
   */
  listen(host: string, port: number): Promise<HttpAddress>;
  /** Accepts no further connections; open ones stay open. */
  stopListening(): void;
  /** Closes every connection at once. */
  closeConnections(): void;
  /**
   * New connections get this certificate; those that are open keep theirs.
   * @throws Error when it cannot be used, or not before a restart; then the one before stays
   */
  useCertificate(files: TlsFiles): Promise<void>;
}

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

export interface ListenerOptions {
  /** The most open connections; a further one gets `overloaded` and is closed. */
  readonly maxConnections: number;
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /**
   * Called for each request. On one connection, the next request follows when the last reply has been sent.
   */
  onRequest(request: ServerRequest): void;
  /** Called when the library could not parse a request and has refused it. */
  onUnreadable(error: AppError): void;
}

export type CreateListener = (options: ListenerOptions) => HttpListener;

/**
 * One request and the means to reply to it. The head (method, path, query string and headers) can be read
 * only until `onRequest` returns. `onAborted` and `onData` must be called before that too.
 */
export interface ServerRequest {
  /** As the client wrote it. */
  readonly method: string;
  /** Up to the question mark, not decoded. */
  readonly path: string;
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** A request of HTTP/1.0 needs no `Host`. */
  readonly isHttp10: boolean;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
  /** The first header of this name, empty when absent. @param name in lower case */
  header(name: string): string;
  /** Calls `visit` for each header in the order in which they were sent; names are in lower case. */
  forEachHeader(visit: (name: string, value: string) => void): void;
  /** The address of the other end of the connection. Known until the reply is sent or the client leaves. */
  peerAddress(): string;
  /** `handler` is called once if the client leaves before the reply is sent. Nothing may be sent after it. */
  onAborted(handler: () => void): void;
  /**
   * Reads the body.
   * @param declaredBytes from Content-Length; undefined for a chunked body
   * @param handler gets each piece. It must copy the piece before it returns: the memory belongs to the
   *   library
   */
  onData(declaredBytes: number | undefined, handler: (chunk: Uint8Array, isLast: boolean) => void): void;
  /** Stops reading from the connection; `resume` before anything is sent. */
  pause(): void;
  resume(): void;
  /** Sends `100 Continue` if the client waits for it before it sends the body. */
  askForBody(): void;
  /** Whether the client still waits for `100 Continue`, so that no body will arrive. */
  readonly awaitsContinue: boolean;
  /**
   * Sends the reply; may be called once. A text is sent in one piece. Bytes are sent as fast as the client
   * reads them, and are never copied into a send queue. A stream is read as fast as the client reads.
   * @returns for a stream, an object to tell that the client has left
   */
  send(reply: Reply, options: SendOptions, outcome: SendOutcome): Sending | undefined;
  /** Closes the connection, also in the middle of a reply. */
  abort(): void;
}

export interface SendOptions {
  /** Headers only, as HEAD asks. */
  readonly headOnly: boolean;
  /**
   * `keep`: the connection stays open. `close`: it is closed after the reply. `cut`: it is closed after the
   * reply, and bytes that have already arrived are not processed; only for text bodies and within
   * `onRequest`.
   */
  readonly connection: 'keep' | 'close' | 'cut';
}

/** Exactly one of these is called, once; neither if the client leaves before. */
export interface SendOutcome {
  /** The last byte was given to the operating system. */
  onSent(): void;
  /**
   * The stream failed after a part of the body was sent. The caller must close the connection, so that the
   * client notices.
   */
  onBroken(error: unknown): void;
}

/** A body that is being sent. */
export interface Sending {
  /** The client has left: stops sending and ends the stream. */
  leave(): void;
}

import type { AppError } from '../../errors.ts';
import type { TlsFiles } from '../../lib/tls-files.ts';
import type { Reply } from './reply.ts';

/**
 * What the rest of this folder needs of an HTTP library. There are two: uWebSockets.js, and `node:http` where
 * that has no binary. They parse and write messages, hold the connections to their bounds, and decide
 * nothing: who may do what, which body is taken and what is answered is the same with both.
 */
export interface HttpListener {
  /**
   * Whether a body in chunks is held to its grammar, so that the connection can carry another request
   * behind it. A library that takes `3;x` or `g` for a size may have seen another end of the body than a
   * proxy in front.
   */
  readonly checksChunks: boolean;
  /**
   * Takes connections.
   * @param port 0 takes a free one
   * @returns the address with the port that was taken
   * @throws Error when the address cannot be had
   */
  listen(host: string, port: number): Promise<HttpAddress>;
  /** Takes no more connections; those that are open stay. */
  stopListening(): void;
  /** Closes every connection, whatever it is doing. */
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
  /** Open connections; a further one is told `overloaded` and closed. */
  readonly maxConnections: number;
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** Called with each request, and with the next one of a connection when the reply to the last is out. */
  onRequest(request: ServerRequest): void;
  /** Called for what the library could not read as a request, and has refused. */
  onUnreadable(error: AppError): void;
}

export type CreateListener = (options: ListenerOptions) => HttpListener;

/**
 * One request and the way to reply to it. The head (method, path, query string and headers) may be read until
 * `onRequest` returns, and what is called for the body must be called by then, too.
 */
export interface ServerRequest {
  /** As the client wrote it. */
  readonly method: string;
  /** Up to the question mark, as it came. */
  readonly path: string;
  /** What follows the question mark; empty when there is none. */
  readonly queryString: string;
  /** A request of HTTP/1.0 needs no `Host`. */
  readonly isHttp10: boolean;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
  /** The first header of this name, empty when absent. @param name in small letters */
  header(name: string): string;
  /** Calls `visit` for each header in the order in which they came; names are in small letters. */
  forEachHeader(visit: (name: string, value: string) => void): void;
  /** Of the other end of the connection, as text. Known until the reply is out or the client has left. */
  peerAddress(): string;
  /** Called once when the client leaves before the reply is out. Then nothing may be sent any more. */
  onAborted(handler: () => void): void;
  /**
   * Reads the body.
   * @param declaredBytes from Content-Length; undefined for a body in chunks
   * @param handler gets each piece, whose memory is the library's: it must be copied before the call returns
   */
  onData(declaredBytes: number | undefined, handler: (chunk: Uint8Array, isLast: boolean) => void): void;
  /** Stops reading from the connection; `resume` before anything is sent. */
  pause(): void;
  resume(): void;
  /** The body is wanted: a client that waits for `100 Continue` is told to send it. */
  askForBody(): void;
  /** Whether the client still waits for `100 Continue`, so that no body is to be expected. */
  readonly awaitsContinue: boolean;
  /**
   * Sends the reply. To be called once. A text goes out in one piece; bytes go as fast as the client takes
   * them, and are never copied into a send queue; a stream is asked for more as fast as the client takes it.
   * @returns what is to be told if the client leaves meanwhile
   */
  send(reply: Reply, options: SendOptions, outcome: SendOutcome): Sending | undefined;
  /** Closes the connection, also in the middle of a reply. */
  abort(): void;
}

export interface SendOptions {
  /** Headers only, as HEAD asks. */
  readonly headOnly: boolean;
  /**
   * What becomes of the connection: it stays, or closes when the reply is out. `cut`, for a text body and
   * from within `onRequest` alone: it closes before anything more that has arrived is looked at.
   */
  readonly connection: 'keep' | 'close' | 'cut';
}

/** One of these is called, once; none if the client leaves before. */
export interface SendOutcome {
  /** The last byte was handed to the system. */
  onSent(): void;
  /**
   * The body broke off after a part of it was sent. The connection must be closed, so that the client sees
   * it.
   */
  onBroken(error: unknown): void;
}

/** A body on its way. */
export interface Sending {
  /** The client has left: nothing more is sent, and the body is told. */
  leave(): void;
}

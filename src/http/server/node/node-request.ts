import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sending, SendOptions, SendOutcome, ServerRequest } from '../listener.ts';
import { type BodyStream, bodyLength, commonHeaders, isStream, type Reply, reasonPhrase } from '../reply.ts';

const nothing = new Uint8Array(0);

/** What a request needs from its connection. */
export interface RequestConnection {
  readonly peerAddress: string;
  readonly isSecure: boolean;
  /** Whether the current reply is the last on this connection. */
  readonly isEnding: boolean;
  /** From now on the body of this request is read or dropped. */
  receives(request: NodeRequest): void;
  /** The reply was passed to the operating system. */
  replied(request: NodeRequest): void;
  /** Accepts no further request on this connection. */
  end(): void;
  /** Whether all written bytes have left this process. */
  hasWritten(): boolean;
  /** While blocked, the connection is closed if the client reads nothing for `httpIdleMs`. */
  isBlocked(blocked: boolean): void;
}

/** A request of `node:http`. */
export class NodeRequest implements ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly isHttp10: boolean;
  readonly isSecure: boolean;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly #connection: RequestConnection;
  #awaitsContinue: boolean;
  #onAborted: (() => void) | undefined;
  #paused = false;

  /** @param awaitsContinue whether the client has sent `Expect: 100-continue` */
  constructor(
    connection: RequestConnection,
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ) {
    this.#connection = connection;
    this.message = message;
    this.response = response;
    this.#awaitsContinue = awaitsContinue;
    this.method = message.method ?? '';
    const target = decodeText(message.url ?? '');
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.queryString = mark < 0 ? '' : target.slice(mark + 1);
    this.isHttp10 = message.httpVersionMajor === 1 && message.httpVersionMinor === 0;
    this.isSecure = connection.isSecure;
  }

  get awaitsContinue(): boolean {
    return this.#awaitsContinue;
  }

  /** Whether reading is paused here, so that the client is not at fault if no bytes arrive. */
  get isPaused(): boolean {
    return this.#paused;
  }

  // `headers` of `node:http` would create an object of all headers.
  header(name: string): string {
    const { rawHeaders } = this.message;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const candidate = rawHeaders[index] ?? '';
      if (candidate.length === name.length && candidate.toLowerCase() === name) {
        return decodeText(rawHeaders[index + 1] ?? '');
      }
    }
    return '';
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.message;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      visit((rawHeaders[index] ?? '').toLowerCase(), decodeText(rawHeaders[index + 1] ?? ''));
    }
  }

  peerAddress(): string {
    return this.#connection.peerAddress;
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler;
  }

  /** The connection was closed before the reply was sent. */
  aborted(): void {
    this.#onAborted?.();
  }

  onData(declaredBytes: number | undefined, handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    const { message } = this;
    let receivedBytes = 0;
    this.#connection.receives(this);
    message.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      handler(chunk, receivedBytes === declaredBytes);
    });
    if (declaredBytes === undefined) message.once('end', () => handler(nothing, true));
  }

  pause(): void {
    this.#paused = true;
    this.message.pause();
  }

  resume(): void {
    this.#paused = false;
    this.message.resume();
  }

  askForBody(): void {
    if (!this.#awaitsContinue) return;
    this.#awaitsContinue = false;
    this.response.writeContinue();
  }

  send(reply: Reply, options: SendOptions, outcome: SendOutcome): Sending | undefined {
    const { response, isSecure } = this;
    const closes = options.connection !== 'keep' || this.#connection.isEnding;
    if (closes) this.#connection.end();
    const sent = () => {
      this.#connection.replied(this);
      outcome.onSent();
    };
    const { body } = reply;
    const hasBody = reply.contentType !== undefined;
    response.writeHead(reply.status, reasonPhrase(reply.status), headersOf(reply, isSecure, closes));
    if (isStream(body)) return this.#sendStream(body, sent, outcome);
    if (!hasBody || options.headOnly || bodyLength(body) === 0) response.end();
    else if (typeof body === 'string') response.end(body);
    else {
      this.#sendParts(body, sent);
      return undefined;
    }
    this.#whenOut(sent);
    return undefined;
  }

  abort(): void {
    this.message.socket.destroy();
  }

  /** Calls `sent` when the operating system has accepted the whole reply. */
  #whenOut(sent: () => void): void {
    const { response } = this;
    if (this.#connection.hasWritten()) {
      sent();
      return;
    }
    this.#connection.isBlocked(true);
    response.once('finish', sent);
  }

  /** Calls `go` when the client has read what was written. */
  #whenTaken(go: () => void): void {
    this.#connection.isBlocked(true);
    this.response.once('drain', () => {
      this.#connection.isBlocked(false);
      go();
    });
  }

  #sendParts(parts: readonly Uint8Array[], sent: () => void): void {
    const { response } = this;
    const last = parts.length - 1;
    let next = 0;
    const advance = (): void => {
      while (next < last) {
        const part = parts[next] ?? nothing;
        next += 1;
        if (!response.write(part)) {
          this.#whenTaken(advance);
          return;
        }
      }
      response.end(parts[last]);
      this.#whenOut(sent);
    };
    response.cork();
    advance();
    response.uncork();
  }

  #sendStream(body: BodyStream, sent: () => void, outcome: SendOutcome): Sending {
    const { response } = this;
    let left = false;
    let wake = (): void => {};
    const run = async (): Promise<void> => {
      try {
        for await (const part of body) {
          if (left) return;
          if (part.byteLength === 0 || response.write(part)) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
            this.#whenTaken(resolve);
          });
          if (left) return;
        }
      } catch (error) {
        if (!left) outcome.onBroken(error);
        return;
      }
      if (left) return;
      response.end();
      this.#whenOut(sent);
    };
    void run();
    return {
      leave: () => {
        left = true;
        wake();
      },
    };
  }
}

/**
 * Names and values alternate, which `node:http` writes as they are. It adds `Date` and `Keep-Alive`.
 */
function headersOf(reply: Reply, secure: boolean, closes: boolean): string[] {
  const headers = [...commonHeaders(reply, secure)];
  if (reply.contentType !== undefined) headers.push('Content-Type', reply.contentType);
  for (const [name, value] of reply.headers ?? []) headers.push(name, value);
  // 204 has no length (RFC 9110 section 8.6).
  if (reply.status !== 204 && !isStream(reply.body)) {
    const bytes = reply.contentType === undefined ? 0 : bodyLength(reply.body);
    headers.push('Content-Length', String(bytes));
  }
  if (closes) headers.push('Connection', 'close');
  return headers;
}

const beyondAscii = /[\x80-\xff]/;

/** `node:http` decodes each byte as one character, but text that is not ASCII is usually UTF-8. */
const decodeText = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;

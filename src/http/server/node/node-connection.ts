import type { Socket } from 'node:net';
import { limits } from '../../../limits/limits.ts';
import type { NodeRequest, RequestConnection } from './node-request.ts';

/**
 * A connection of `node:http` and its requests, which are served one after another.
 *
 *     idle ── request ──▶ current ── reply sent ──▶ idle, or current with the next waiting request
 *
 * A request that arrives before the last reply was sent (pipelining) waits, so that a connection has one
 * running request at a time. While a request waits, the connection is not read. So all waiting requests came
 * in one piece. More than `maxPipelinedRequests` of them close the connection, since each takes some KiB.
 *
 * `ending`: the current reply is the last one, and further requests are ignored. `broken`: the client sent
 * something that is not a request. Earlier requests are answered, and the connection closes after the last
 * reply. `lingering`: there was no earlier request, so the malformed one itself was answered. Further bytes
 * are read and dropped, within bounds: if a connection is closed with unread bytes, the kernel resets it and
 * the client loses the answer.
 *
 * `check` is called every `httpCheckIntervalMs`. It closes a connection whose body arrives too slowly, by the
 * same rule as uWebSockets.js: in each ten seconds, `minBodyBytesPerSecond` on average.
 */
export class NodeConnection implements RequestConnection {
  readonly peerAddress: string;
  readonly isSecure: boolean;
  readonly #socket: Socket;
  readonly #onRequest: (request: NodeRequest) => void;
  #current: NodeRequest | undefined;
  /** The last request whose reply was passed to `node:http`, which may still be writing it. */
  #previous: NodeRequest | undefined;
  readonly #waiting: NodeRequest[] = [];
  #ending = false;
  #isBroken = false;
  #blocked = false;
  #lingering: { readonly untilMs: number; readonly beginBytes: number } | undefined;
  /** The request whose body is being read or dropped. */
  #receiving: NodeRequest | undefined;
  /** Start of the period in which enough of the body must arrive, and the bytes received before it. */
  #windowBeginMs = 0;
  #windowBeginBytes = 0;
  #windowOf: NodeRequest | undefined;

  constructor(socket: Socket, isSecure: boolean, onRequest: (request: NodeRequest) => void) {
    this.#socket = socket;
    this.isSecure = isSecure;
    this.#onRequest = onRequest;
    this.peerAddress = socket.remoteAddress ?? '';
  }

  get isEnding(): boolean {
    return this.#ending || (this.#isBroken && this.#waiting.length === 0);
  }

  arrived(request: NodeRequest): void {
    if (this.#ending || this.#isBroken) return;
    const previous = this.#previous;
    const isWriting = previous !== undefined && !previous.response.writableFinished;
    if (this.#current === undefined && !isWriting) {
      this.#begin(request);
      return;
    }
    this.#waiting.push(request);
    if (this.#waiting.length > limits.maxPipelinedRequests) {
      this.#socket.destroy();
      return;
    }
    this.#socket.pause();
    if (this.#current === undefined && this.#waiting.length === 1) this.#continueBehind(previous);
  }

  receives(request: NodeRequest): void {
    this.#receiving = request;
  }

  replied(request: NodeRequest): void {
    // `node:http` has already set its own timeout for the next request.
    this.#blocked = false;
    this.#current = undefined;
    this.#previous = request;
    if (!request.message.complete) this.#receiving = request;
    if (this.#waiting.length > 0) this.#continueBehind(request);
  }

  end(): void {
    this.#ending = true;
    this.#waiting.length = 0;
  }

  hasWritten(): boolean {
    return this.#socket.writableLength === 0;
  }

  isBlocked(blocked: boolean): void {
    if (blocked === this.#blocked) return;
    this.#blocked = blocked;
    this.#socket.setTimeout(blocked ? limits.httpIdleMs : 0);
  }

  /**
   * The client sent something that is not a request, or not a valid body of the current request.
   * @param answer the whole reply, which is sent unless another reply comes first
   * @returns whether the answer was sent
   */
  unreadable(answer: string, nowMs: number): boolean {
    if (this.#ending || this.#isBroken) return false;
    this.#isBroken = true;
    const current = this.#current;
    const previous = this.#previous;
    const isWritten =
      previous === undefined || (previous.message.complete && previous.response.writableFinished);
    if (this.#waiting.length > 0) return false;
    if (current === undefined ? isWritten : !current.message.complete && !current.response.headersSent) {
      this.#lingering = { untilMs: nowMs + limits.maxLingeringMs, beginBytes: this.#socket.bytesRead };
      this.#socket.end(answer);
      this.closed();
      return true;
    }
    if (current?.message.complete === true) {
      // It came after a request whose reply is not complete yet; that reply is sent first.
      if (current.response.headersSent) current.response.once('finish', () => this.#socket.destroySoon());
    } else this.#socket.destroy();
    return false;
  }

  /** Called when the connection is closed or about to close. */
  closed(): void {
    this.#waiting.length = 0;
    const current = this.#current;
    this.#current = undefined;
    current?.aborted();
  }

  check(nowMs: number): void {
    if (this.#lingering !== undefined) {
      const { untilMs, beginBytes } = this.#lingering;
      if (nowMs >= untilMs || this.#socket.bytesRead - beginBytes > limits.maxLingeringBodyBytes) {
        this.#socket.destroy();
      }
      return;
    }
    const request = this.#receiving;
    if (request === undefined) return;
    if (request.message.complete) {
      this.#receiving = undefined;
      this.#windowOf = undefined;
      return;
    }
    const bytes = this.#socket.bytesRead;
    const minBytes = (limits.minBodyBytesPerSecond * limits.httpIdleMs) / 1000;
    if (this.#windowOf !== request || request.isPaused || bytes - this.#windowBeginBytes >= minBytes) {
      this.#windowOf = request;
      this.#windowBeginMs = nowMs;
      this.#windowBeginBytes = bytes;
    } else if (nowMs - this.#windowBeginMs >= limits.httpIdleMs) {
      this.#socket.destroy();
    }
  }

  #begin(request: NodeRequest): void {
    this.#current = request;
    this.#onRequest(request);
  }

  /** Begins the next waiting request when the previous reply is written. */
  #continueBehind(previous: NodeRequest | undefined): void {
    const go = (): void => {
      const next = this.#ending ? undefined : this.#waiting.shift();
      if (this.#waiting.length === 0) this.#socket.resume();
      if (next !== undefined) this.#begin(next);
    };
    if (previous === undefined || previous.response.writableFinished) go();
    else previous.response.once('finish', go);
  }
}

import type { Socket } from 'node:net';
import { limits } from '../../../limits/limits.ts';
import type { NodeRequest, RequestConnection } from './node-request.ts';

/**
 * A connection of `node:http`, and the requests that come by it one after another.
 *
 *     idle ── request ──▶ current ── reply out ──▶ idle, or current with the next waiting request
 *
 * A request that comes before the reply to the last is out waits (pipelining): it is handed on when its turn
 * comes, so that a client has one at a time under way. The connection is not read from while one waits. So
 * what waits came in one piece; more than `maxPipelinedRequests` in a piece end the connection, since each is
 * an object of some KiB.
 *
 * `ending`: the reply under way is the last. What has arrived behind it is not looked at. `broken`: what came
 * was no request. Requests before it are answered, and the last reply ends the connection. `lingering`: there
 * was none before it, so that itself was answered, and what the client still sends is thrown away within
 * bounds, since the kernel resets a connection that is closed with unread bytes, and the answer is lost.
 *
 * `check`, called every `httpCheckIntervalMs`, closes a connection whose body comes too slowly, by the rule
 * of uWebSockets.js: in ten seconds there must be as much as `minBodyBytesPerSecond` makes of them.
 */
export class NodeConnection implements RequestConnection {
  readonly peerAddress: string;
  readonly isSecure: boolean;
  readonly #socket: Socket;
  readonly #onRequest: (request: NodeRequest) => void;
  #current: NodeRequest | undefined;
  /** The last one whose reply was handed over; `node:http` may still be writing it. */
  #previous: NodeRequest | undefined;
  readonly #waiting: NodeRequest[] = [];
  #ending = false;
  #isBroken = false;
  #blocked = false;
  #lingering: { readonly untilMs: number; readonly beginBytes: number } | undefined;
  /** The one whose body is being read or thrown away. */
  #receiving: NodeRequest | undefined;
  /** Begin of the time in which enough of the body must come, and what had come by then. */
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
    // `node:http` has set its own time-out by now, for the next request.
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
   * What came is no request, or no body of the request before it.
   * @param answer status line, headers and body, if nothing has been answered to it yet
   * @returns whether it was sent
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
      // It came behind a request whose reply is under way, or to come.
      if (current.response.headersSent) current.response.once('finish', () => this.#socket.destroySoon());
    } else this.#socket.destroy();
    return false;
  }

  /** The connection has ended, or does so now. */
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

  /** The next one that waits has its turn when the reply before it is written. */
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

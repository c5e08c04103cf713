import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Sending, SendOptions, SendOutcome, ServerRequest } from '../listener.ts';
import type { Reply } from '../reply.ts';
import { send } from './send.ts';

/**
 * A request of uWebSockets.js. Its `HttpRequest` is valid only while the handler runs, its `HttpResponse`
 * until the reply is sent or the client has left.
 */
export class UwsRequest implements ServerRequest {
  /** uWebSockets.js sends `100 Continue` by itself. */
  readonly awaitsContinue = false;
  readonly isHttp10 = false;
  readonly isSecure: boolean;
  readonly #req: HttpRequest;
  readonly #res: HttpResponse;

  constructor(res: HttpResponse, req: HttpRequest, isSecure: boolean) {
    this.#res = res;
    this.#req = req;
    this.isSecure = isSecure;
  }

  get method(): string {
    return this.#req.getCaseSensitiveMethod();
  }

  get path(): string {
    return this.#req.getUrl();
  }

  get queryString(): string {
    return this.#req.getQuery() ?? '';
  }

  header(name: string): string {
    return this.#req.getHeader(name);
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    this.#req.forEach(visit);
  }

  peerAddress(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  onAborted(handler: () => void): void {
    this.#res.onAborted(handler);
  }

  onData(_declaredBytes: number | undefined, handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#res.onData((chunk, isLast) => handler(new Uint8Array(chunk), isLast));
  }

  pause(): void {
    this.#res.pause();
  }

  resume(): void {
    this.#res.resume();
  }

  askForBody(): void {}

  send(reply: Reply, options: SendOptions, outcome: SendOutcome): Sending | undefined {
    return send(this.#res, reply, options, this.isSecure, outcome);
  }

  abort(): void {
    this.#res.close();
  }
}

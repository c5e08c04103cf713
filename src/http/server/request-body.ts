import { AppError } from '../../errors.ts';
import type { Reservation, Reserve } from '../../ingest/ingest-request.ts';
import type { ServerRequest } from './listener.ts';

/** First buffer of a body whose length was not declared. It doubles as the body grows. */
const firstBufferBytes = 64 * 1024;
const emptyBytes = new Uint8Array(0);

export interface BodyBounds {
  readonly maxBytes: number;
  /** Reserves memory before the body is read; in several portions if its length was not declared. */
  readonly reserve?: Reserve | undefined;
}

/**
 * Collects one request body.
 *
 *     held ── accept ──▶ reading ── last chunk ──▶ complete
 *       └───────┬───────────┘
 *             stop ──▶ stopped      (refused, or the client left; further bytes are discarded)
 *
 * While `held`, the request is not authorized yet. The socket is paused, so the body takes no more memory
 * than what came with the headers. After `accept` the body goes into one buffer of its declared length, or
 * into one that doubles up to the bound. The memory of a piece belongs to the HTTP library, so each piece is
 * copied once.
 */
export class BodyReader {
  readonly #request: Pick<ServerRequest, 'onData' | 'pause' | 'resume' | 'askForBody'>;
  readonly #declaredBytes: number | undefined;
  #bounds: BodyBounds | undefined;
  #stopped = false;
  #complete = false;
  #buffer: Uint8Array = emptyBytes;
  #receivedBytes = 0;
  #reservedBytes = 0;
  readonly #reservations: Reservation[] = [];
  #settle: (() => void) | undefined;
  #error: unknown;
  /** After `stop`: how many more bytes may arrive before `#onDiscarded` is called. */
  #discardableBytes = Number.POSITIVE_INFINITY;
  #onDiscarded: (() => void) | undefined;

  /**
   * Must be called before `onRequest` returns; otherwise pieces are lost.
   * @param declaredBytes from Content-Length; undefined for a chunked body
   */
  constructor(
    request: Pick<ServerRequest, 'onData' | 'pause' | 'resume' | 'askForBody'>,
    declaredBytes: number | undefined,
  ) {
    this.#request = request;
    this.#declaredBytes = declaredBytes;
    request.onData(declaredBytes, (chunk, isLast) => this.#onData(chunk, isLast));
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** True while more of the body may come. */
  get isOpen(): boolean {
    return !this.#complete;
  }

  /** Stops reading from the socket; `resume` before anything is sent. */
  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }

  /**
   * Reads the body to its end.
   * @returns the body, in memory that belongs to the caller; undefined if it was stopped
   * @throws AppError `body_too_large`, or what `reserve` throws
   */
  accept(bounds: BodyBounds): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#bounds = bounds;
      this.#checkSize(this.#receivedBytes);
      this.#reserveUpTo(this.#declaredBytes ?? this.#buffer.length);
      this.#settle = () => {
        this.#settle = undefined;
        if (this.#error === undefined) resolve(this.#received());
        else reject(this.#error);
      };
      if (this.#complete || this.#stopped) this.#settle();
      else this.#request.askForBody();
    });
  }

  #received(): Uint8Array | undefined {
    if (this.#stopped) return undefined;
    return this.#receivedBytes === this.#buffer.length
      ? this.#buffer
      : this.#buffer.subarray(0, this.#receivedBytes);
  }

  /** Drops the body; further bytes are ignored. */
  stop(): void {
    this.#stopped = true;
    this.#buffer = emptyBytes;
    this.#settle?.();
    this.#onDiscarded?.();
  }

  /**
   * Waits for the last byte of a stopped body, but for at most this many bytes and this long. It also ends
   * when `stop` is called again.
   */
  async discarded(maxBytes: number, maxWaitMs: number): Promise<void> {
    this.#discardableBytes = maxBytes - this.#receivedBytes;
    if (this.#complete || this.#discardableBytes <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, maxWaitMs);
      this.#onDiscarded = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #discard(bytes: number, isLast: boolean): void {
    this.#complete = isLast;
    this.#discardableBytes -= bytes;
    if (isLast || this.#discardableBytes <= 0) this.#onDiscarded?.();
  }

  /** Releases the reserved memory. */
  release(): void {
    for (const reservation of this.#reservations.splice(0)) reservation.release();
  }

  #onData(chunk: Uint8Array, isLast: boolean): void {
    if (this.#stopped) {
      this.#discard(chunk.byteLength, isLast);
      return;
    }
    try {
      this.#append(chunk, isLast);
    } catch (error) {
      this.#stopped = true;
      this.#complete = isLast;
      this.#error = error;
      this.#settle?.();
      return;
    }
    if (!isLast) return;
    this.#complete = true;
    this.#settle?.();
  }

  #append(chunk: Uint8Array, isLast: boolean): void {
    const neededBytes = this.#receivedBytes + chunk.byteLength;
    this.#checkSize(neededBytes);
    if (isLast && this.#receivedBytes === 0) {
      this.#reserveUpTo(neededBytes);
      // Not with `slice`, which first fills the memory with zeros.
      this.#buffer = Buffer.allocUnsafeSlow(neededBytes);
    } else if (neededBytes > this.#buffer.length) this.#grow(neededBytes);
    this.#buffer.set(chunk, this.#receivedBytes);
    this.#receivedBytes = neededBytes;
  }

  #grow(neededBytes: number): void {
    let capacityBytes = neededBytes;
    if (this.#bounds !== undefined) {
      const doubledBytes = Math.max(neededBytes, firstBufferBytes, 2 * this.#buffer.length);
      capacityBytes = this.#declaredBytes ?? Math.min(doubledBytes, this.#bounds.maxBytes);
    }
    this.#reserveUpTo(capacityBytes);
    // Not from Buffer's pool: the body's memory may be transferred to another thread.
    const larger = Buffer.allocUnsafeSlow(capacityBytes);
    larger.set(this.#buffer.subarray(0, this.#receivedBytes));
    this.#buffer = larger;
  }

  #reserveUpTo(bytes: number): void {
    if (this.#bounds?.reserve === undefined || bytes <= this.#reservedBytes) return;
    this.#reservations.push(this.#bounds.reserve(bytes - this.#reservedBytes));
    this.#reservedBytes = bytes;
  }

  #checkSize(bytes: number): void {
    if (this.#bounds !== undefined && bytes > this.#bounds.maxBytes)
      throw bodyTooLarge(this.#bounds.maxBytes);
  }
}

export const bodyTooLarge = (maxBytes: number): AppError =>
  new AppError('body_too_large', `this route takes bodies up to ${maxBytes} bytes`, {
    details: { maxBytes },
  });

import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { Cancellation, type CancelSignal } from '../lib/cancellation.ts';
import { limits } from '../limits/limits.ts';
import { type Frame, MessageFramer } from './protocol/message-framer.ts';

/**
 * The bytes of one client: whole messages in, with back-pressure both ways. While nobody waits for a message,
 * no more than `pgMaxInboxBytes` and one read of the socket are kept.
 *
 *     plain ── upgrade ──▶ encrypted
 *       └───────┬───────────┘
 *             closed, by the client, by `close`, or by an error of the socket
 */
export class Connection {
  /** The address of the client, as the socket has it. */
  readonly address: string;
  readonly #framer = new MessageFramer();
  readonly #closed = new Cancellation();
  #socket: Socket;
  /** Somebody waits for more bytes. */
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.address = socket.remoteAddress ?? '';
    socket.setNoDelay(true);
    socket.setKeepAlive(true, limits.pgKeepAliveMs);
    this.#listen(socket);
  }

  get isEncrypted(): boolean {
    return this.#socket instanceof TLSSocket;
  }

  /** Aborted when the client is gone. */
  get closed(): CancelSignal {
    return this.#closed;
  }

  /** Whether bytes have come that nobody has asked for. */
  get hasPending(): boolean {
    return this.#framer.size > 0;
  }

  /** The next start-up packet; undefined when the client is gone. @throws WireError */
  startup(): Promise<Buffer | undefined> {
    return this.#read(() => this.#framer.startup(limits.pgMaxStartupBytes));
  }

  /**
   * The next message; undefined when the client is gone. What it had sent ahead is dropped then: nobody takes
   * the replies, and it may be much work.
   * @param onLong see `MessageFramer.next`
   * @throws WireError, and what `onLong` throws
   */
  message(maxBytes: number, onLong?: (bytes: number) => void): Promise<Frame | undefined> {
    return this.#read(() => (this.#closed.aborted ? undefined : this.#framer.next(maxBytes, onLong)));
  }

  /** Resolves when the socket takes more, or is closed. */
  async write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0 || this.#closed.aborted) return;
    if (this.#socket.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#socket.off('drain', done);
        this.#closed.removeEventListener('abort', done);
        resolve();
      };
      this.#socket.once('drain', done);
      this.#closed.addEventListener('abort', done);
      if (this.#closed.aborted) done();
    });
  }

  /** Goes on over TLS. Nothing may be pending. */
  upgrade(secureContext: SecureContext): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners('data');
    plain.removeAllListeners('end');
    plain.pause();
    const encrypted = new TLSSocket(plain, { isServer: true, secureContext });
    this.#socket = encrypted;
    return new Promise((resolve) => {
      encrypted.once('secure', resolve);
      this.#closed.addEventListener('abort', resolve);
      this.#listen(encrypted);
    });
  }

  /** No more messages: whoever waits for one gets none. What is written is still sent. */
  interrupt(): void {
    this.#ended = true;
    this.#wakeUp();
  }

  /** Ends the connection when what was written has been sent. */
  close(): void {
    if (this.#closed.aborted) return;
    this.#socket.end();
    // A client that does not close its side keeps the socket for no longer than this.
    setTimeout(() => this.#socket.destroy(), limits.pgCloseTimeoutMs).unref();
  }

  /** Ends it now. */
  destroy(): void {
    this.#socket.destroy();
  }

  async #read<T>(take: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const taken = take();
      if (taken !== undefined) return taken;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#socket.resume();
      });
    }
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#framer.push(chunk);
      if (this.#wake === undefined && this.#framer.size > limits.pgMaxInboxBytes) socket.pause();
      this.#wakeUp();
    });
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    // 'close' follows; a client that leaves is no news.
    socket.on('error', () => this.#end());
  }

  #end(): void {
    this.#ended = true;
    this.#closed.cancel();
    this.#wakeUp();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

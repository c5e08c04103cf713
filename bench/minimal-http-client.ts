import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

interface Waiting {
  resolve(body: Uint8Array): void;
  reject(error: Error): void;
}

/**
 * Posts JSON over one connection, one request at a time, to a server whose replies have a Content-Length. It
 * does as little as possible in the measuring process: Node.js' client takes 0.2 to 0.3 ms per request.
 */
export class MinimalHttpClient {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | undefined;

  constructor(url: string, authorization: string) {
    const { host, hostname, port, pathname } = new URL(url);
    this.#head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#settle(error));
    this.#socket.on('close', () => this.#settle(new Error('the connection was closed')));
  }

  /**
   * @returns the body of the reply
   * @throws Error on any status but 200, and if the connection breaks
   */
  post(body: string): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(`${this.#head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.byteLength === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headBytes = this.#received.indexOf(headEnd);
    if (headBytes < 0) return;
    const head = this.#received.toString('latin1', 0, headBytes);
    const bodyStart = headBytes + headEnd.byteLength;
    const end = bodyStart + Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (this.#received.byteLength < end) return;
    const body = this.#received.subarray(bodyStart, end);
    this.#received = this.#received.subarray(end);
    if (head.startsWith('HTTP/1.1 200 ')) this.#settle(body);
    else this.#settle(new Error(`${head.slice(0, head.indexOf('\r'))}: ${body.toString('utf8')}`));
  }

  #settle(outcome: Uint8Array | Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (outcome instanceof Error) waiting?.reject(outcome);
    else waiting?.resolve(outcome);
  }
}

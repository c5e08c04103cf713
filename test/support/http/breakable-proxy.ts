import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Passes connections on to a local port, until it is broken: then it cuts them, and new ones too. */
export class BreakableProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isBroken = false;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      if (this.#isBroken) {
        client.destroy();
        return;
      }
      const upstream = connect(port, '127.0.0.1');
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.pipe(other);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
      }
    });
  }

  /** @param port where connections go to */
  static async start(port: number): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  break(): void {
    this.#isBroken = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isBroken = false;
  }

  async stop(): Promise<void> {
    this.break();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

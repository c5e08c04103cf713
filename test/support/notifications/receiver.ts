import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server on the loopback interface that keeps what it gets, and answers as it is told. */
export interface Receiver {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Of the next requests. */
  answer: (reply: ServerResponse, request: IncomingMessage) => void;
  close(): Promise<void>;
}

/** @param port a free one, unless given */
export async function startReceiver(port = 0): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const server = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    receiver.received.push({ path: request.url ?? '', headers: request.headers, body });
    receiver.answer(reply, request);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (reply) => reply.end('ok'),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return receiver;
}

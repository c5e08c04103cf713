import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createListener } from '../../../src/http/server/libraries.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';
import { library } from './http-harness.ts';

const maxPartBytes = 1024 * 1024;
const replyBytes = 600 * 1024 * 1024;
/** The byte at offset n of a reply is n modulo this prime, so that a part that is lost or doubled shows. */
const period = 251;
const pattern = Buffer.from(Array.from({ length: maxPartBytes + period }, (_, index) => index % period));
const patternAt = (offset: number, length: number) =>
  pattern.subarray(offset % period, (offset % period) + length);

test(`a long reply arrives whole, wherever the system takes no more (seed ${testSeed})`, async () => {
  const random = seededRandom(testSeed);
  async function* body(): AsyncGenerator<Uint8Array, void> {
    for (let sent = 0; sent < replyBytes; ) {
      const bytes = Math.min(replyBytes - sent, random.integer(1, maxPartBytes));
      yield patternAt(sent, bytes);
      sent += bytes;
      // Now the client has read what there was, and now it has not.
      if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const broken: unknown[] = [];
  const listener = createListener(library.library, {
    maxConnections: 10,
    tls: undefined,
    onUnreadable: (error) => broken.push(error),
    onRequest: (request) => {
      request.onAborted(() => broken.push('the client has left'));
      const reply = { status: 200, contentType: 'text/plain', body: body() };
      const options = { headOnly: false, connection: 'keep' } as const;
      request.send(reply, options, { onSent: () => {}, onBroken: (error) => broken.push(error) });
    },
  });
  const { port } = await listener.listen('127.0.0.1', 0);
  try {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port }, resolve).on('error', reject);
    });
    let received = 0;
    let differs = -1;
    for await (const chunk of reply) {
      for (let at = 0; at < chunk.length && differs < 0; at += maxPartBytes) {
        const piece = chunk.subarray(at, at + maxPartBytes);
        if (!piece.equals(patternAt(received + at, piece.length))) differs = received + at;
      }
      received += chunk.length;
    }
    expect({ received, differs, broken }).toEqual({ received: replyBytes, differs: -1, broken: [] });
  } finally {
    listener.closeConnections();
    listener.stopListening();
  }
});

import type { HttpResponse } from 'uWebSockets.js';
import type { Sending, SendOutcome } from '../listener.ts';
import type { BodyStream } from '../reply.ts';

/**
 * How much is written at a time. With the length of its chunk it must fit the 16 KiB in which
 * uWebSockets.js collects what a `cork` writes: of a longer write it sends the length first, and if the
 * system does not take that, versions before its commit 6b7f354 (April 2026) drop the rest, so that the
 * client sees a broken chunk.
 */
const maxWriteBytes = 15 * 1024;

/**
 * Sends a body that is made while it is sent, chunked, as fast as the client takes it. Status and headers are
 * written already.
 *
 * uWebSockets.js keeps what the system does not take, in memory and without a bound, and tells of it
 * by `write` alone: true if nothing is kept. So after a false nothing is written until the socket
 * takes more, and then a single byte, until that gives true. What is kept is two writes at most, and a
 * few bytes: the first that the system does not take is sent after `write` gave its answer.
 */
export function sendStream(
  res: HttpResponse,
  body: BodyStream,
  closeConnection: boolean,
  outcome: SendOutcome,
): Sending {
  let left = false;
  let full = false;
  let wake = (): void => {};
  res.onWritable(() => {
    wake();
    return true;
  });

  const write = async (part: Uint8Array): Promise<void> => {
    for (let offset = 0; offset < part.byteLength && !left; ) {
      const piece = part.subarray(offset, offset + (full ? 1 : maxWriteBytes));
      res.cork(() => {
        full = !res.write(piece);
      });
      offset += piece.byteLength;
      if (!full) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const run = async (): Promise<void> => {
    try {
      for await (const part of body) {
        await write(part);
        if (left) return;
      }
    } catch (error) {
      if (!left) outcome.onBroken(error);
      return;
    }
    if (left) return;
    res.cork(() => res.end(undefined, closeConnection));
    outcome.onSent();
  };
  void run();
  return {
    leave: () => {
      left = true;
      wake();
    },
  };
}

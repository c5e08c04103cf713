import type { HttpResponse } from 'uWebSockets.js';
import type { Sending, SendOutcome } from '../listener.ts';
import type { BodyStream } from '../reply.ts';

/**
 * The most bytes of one write. Together with the length of its chunk they must fit the 16 KiB in which
 * uWebSockets.js collects the output of a `cork`. Of a longer write it sends the length first. If the
 * operating system does not accept that, versions before its commit 6b7f354 (April 2026) drop the rest, and
 * the client sees a broken chunk.
 */
const maxWriteBytes = 15 * 1024;

/**
 * Sends a streamed body, chunked, as fast as the client reads it. Status and headers are already written.
 *
 * uWebSockets.js keeps bytes that the operating system does not accept in memory, without a bound. Only the
 * result of `write` shows it: true if nothing is kept. So after a false, nothing is written until the socket
 * is writable; then single bytes, until `write` returns true. At most two writes and a few bytes are kept:
 * the first write that the system does not accept is sent only after `write` has returned.
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

import type { HttpResponse } from 'uWebSockets.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sendStream } from '../../../../../src/http/server/uwebsockets/send-stream.ts';

/** What uWebSockets.js collects within a `cork`. */
const corkBytes = 16 * 1024;

/**
 * Behaves as uWebSockets.js does before its commit 6b7f354: of a write that does not fit the cork, the length
 * of the chunk goes out first, and where the system does not take that, the rest is dropped.
 */
class DroppingResponse {
  readonly taken: Buffer[] = [];
  ended = false;
  #corked = 0;
  readonly #answers: boolean[];
  #onWritable = (): boolean => true;

  constructor(answers: readonly boolean[]) {
    this.#answers = [...answers];
  }

  cork(callback: () => void): void {
    this.#corked = 0;
    callback();
  }

  write(piece: Uint8Array): boolean {
    this.#corked += `\r\n${piece.byteLength.toString(16)}\r\n`.length + piece.byteLength;
    const isTaken = this.#answers.shift() ?? true;
    if (isTaken || this.#corked <= corkBytes) this.taken.push(Buffer.from(piece));
    if (!isTaken) setImmediate(() => this.#onWritable());
    return isTaken;
  }

  onWritable(handler: () => boolean): void {
    this.#onWritable = handler;
  }

  end(): void {
    this.ended = true;
  }
}

it('sends a stream whole and in order, whichever write the system does not take', async () => {
  const parts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 100_000, size: 'max' }), { maxLength: 4 });
  const answers = fc.array(fc.boolean(), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(parts, answers, async (body, taken) => {
      const res = new DroppingResponse(taken);
      async function* stream(): AsyncGenerator<Uint8Array, void> {
        yield* body;
      }
      await new Promise<void>((onSent, onBroken) => {
        sendStream(res as unknown as HttpResponse, stream(), false, { onSent, onBroken });
      });
      expect(res.ended).toBe(true);
      expect(Buffer.concat(res.taken).equals(Buffer.concat(body))).toBe(true);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

import type { HttpResponse } from 'uWebSockets.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { send } from '../../../../../src/http/server/uwebsockets/send.ts';

/** Takes as many bytes at a time as it is told, as a slow client does. */
class SlowResponse {
  readonly taken: Buffer[] = [];
  readonly #windows: number[];
  #onWritable: ((offset: number) => boolean) | undefined;
  #responded = false;

  constructor(windows: readonly number[]) {
    this.#windows = [...windows];
  }

  get offset(): number {
    return this.taken.reduce((total, part) => total + part.length, 0);
  }

  cork(callback: () => void): void {
    callback();
  }

  writeStatus(): this {
    return this;
  }

  writeHeader(): this {
    return this;
  }

  tryEnd(part: Uint8Array, totalBytes: number): [boolean, boolean] {
    if (this.#responded) throw new Error('used after the reply was complete');
    const window = this.#windows[0] ?? Number.POSITIVE_INFINITY;
    const accepted = part.subarray(0, window);
    this.taken.push(Buffer.from(accepted));
    if (this.#windows.length > 0) this.#windows[0] = window - accepted.length;
    this.#responded = this.offset === totalBytes;
    return [accepted.length === part.length, this.#responded];
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#onWritable = handler;
  }

  /** The client has read what it was sent. */
  drain(): void {
    this.#windows.shift();
    this.#onWritable?.(this.offset);
  }
}

describe('send', () => {
  it('sends parts whole and in order to a client of any speed, and says once that it is done', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 });
    const windows = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 });
    fc.assert(
      fc.property(
        parts.filter((list) => list.some((part) => part.length > 0)),
        windows,
        (body, speeds) => {
          const res = new SlowResponse(speeds);
          let sent = 0;
          send(
            res as unknown as HttpResponse,
            { status: 200, contentType: 'application/json', body },
            { headOnly: false, connection: 'keep' },
            false,
            {
              onSent: () => {
                sent += 1;
                expect(res.offset).toBe(Buffer.concat(body).length);
              },
              onBroken: (error) => {
                throw error;
              },
            },
          );
          for (let round = 0; round <= speeds.length && sent === 0; round += 1) res.drain();
          expect(sent).toBe(1);
          expect(Buffer.concat(res.taken).equals(Buffer.concat(body))).toBe(true);
        },
      ),
    );
  });
});

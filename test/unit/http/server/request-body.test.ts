import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { type BodyBounds, BodyReader } from '../../../../src/http/server/request-body.ts';

/** Hands out pieces as an HTTP library does: their memory is gone when the callback has returned. */
class FakeSocket {
  #onData: (chunk: Uint8Array, isLast: boolean) => void = () => {};
  paused = false;

  onData(_: number | undefined, handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#onData = handler;
  }

  askForBody(): void {}

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  deliver(bytes: Uint8Array, isLast: boolean): void {
    const chunk = Uint8Array.from(bytes);
    this.#onData(chunk, isLast);
    chunk.fill(0xee);
  }
}

function setup(declaredBytes: number | undefined) {
  const socket = new FakeSocket();
  const reader = new BodyReader(socket, declaredBytes);
  return { socket, reader };
}

/** Bounds that keep what was reserved. */
function accounting(maxBytes: number, roomBytes = Number.POSITIVE_INFINITY) {
  const account = { open: 0, totalBytes: 0 };
  const bounds: BodyBounds = {
    maxBytes,
    reserve: (bytes) => {
      if (account.totalBytes + bytes > roomBytes) throw new AppError('overloaded', 'no room');
      account.open += 1;
      account.totalBytes += bytes;
      return {
        release: () => {
          account.open -= 1;
        },
      };
    },
  };
  return { account, bounds };
}

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 100_000 }), { minLength: 1, maxLength: 8 });

describe('BodyReader', () => {
  it('gives back what was sent, however it was cut and whenever it was accepted', async () => {
    await fc.assert(
      fc.asyncProperty(
        chunks,
        fc.boolean(),
        fc.nat(8),
        fc.boolean(),
        async (sent, chunked, early, emptyLast) => {
          const whole = Buffer.concat(sent);
          const { socket, reader } = setup(chunked ? undefined : whole.length);
          const { account, bounds } = accounting(whole.length);
          const acceptAt = Math.min(early, sent.length);
          const deliver = (from: number, to: number): void => {
            for (const [offset, part] of sent.slice(from, to).entries()) {
              // A chunked body may say with an empty chunk that it is over.
              const isLast = from + offset === sent.length - 1;
              socket.deliver(part, isLast && !emptyLast);
              if (isLast && emptyLast) socket.deliver(new Uint8Array(0), true);
            }
          };
          deliver(0, acceptAt);
          const accepted = reader.accept(bounds);
          deliver(acceptAt, sent.length);
          const body = await accepted;
          expect(Buffer.compare(body ?? new Uint8Array(0), whole)).toBe(0);
          expect(reader.receivedBytes).toBe(whole.length);
          expect(reader.isOpen).toBe(false);
          expect(account.totalBytes).toBeGreaterThanOrEqual(whole.length);
          reader.release();
          expect(account.open).toBe(0);
        },
      ),
    );
  });

  it('reserves the declared length once, before a byte came', () => {
    const { reader } = setup(1000);
    const { account, bounds } = accounting(1000);
    void reader.accept(bounds);
    expect(account).toEqual({ open: 1, totalBytes: 1000 });
    reader.stop();
  });

  it('reserves for a chunked body as it grows, and fails when there is no room', async () => {
    const { socket, reader } = setup(undefined);
    const { account, bounds } = accounting(10 * 1024 * 1024, 200_000);
    const accepted = reader.accept(bounds);
    socket.deliver(new Uint8Array(60_000), false);
    expect(account.totalBytes).toBe(65_536);
    socket.deliver(new Uint8Array(60_000), false);
    expect(account.totalBytes).toBe(131_072);
    socket.deliver(new Uint8Array(60_000), false);
    await expect(accepted).rejects.toMatchObject({ code: 'overloaded' });
    socket.deliver(new Uint8Array(60_000), true); // ignored
    reader.release();
    expect(account).toEqual({ open: 0, totalBytes: 131_072 });
  });

  it('fails a chunked body at the byte that is too many', async () => {
    for (const [bytes, fits] of [
      [1000, true],
      [1001, false],
    ] as const) {
      const { socket, reader } = setup(undefined);
      const accepted = reader.accept({ maxBytes: 1000 });
      socket.deliver(new Uint8Array(500), false);
      socket.deliver(new Uint8Array(bytes - 500), true);
      if (fits) expect((await accepted)?.length).toBe(1000);
      else await expect(accepted).rejects.toMatchObject({ code: 'body_too_large' });
    }
  });

  it('fails a body that came too large while it was held', async () => {
    const { socket, reader } = setup(undefined);
    socket.deliver(new Uint8Array(1001), true);
    await expect(reader.accept({ maxBytes: 1000 })).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('ends with nothing when it is stopped, before or after it was accepted', async () => {
    const before = setup(10);
    before.reader.stop();
    expect(await before.reader.accept({ maxBytes: 10 })).toBeUndefined();
    const after = setup(10);
    const accepted = after.reader.accept({ maxBytes: 10 });
    after.socket.deliver(new Uint8Array(5), false);
    after.reader.stop();
    expect(await accepted).toBeUndefined();
  });

  it('owns the memory of a body that came in one piece', async () => {
    const { socket, reader } = setup(3);
    const accepted = reader.accept({ maxBytes: 10 });
    socket.deliver(Uint8Array.of(1, 2, 3), true);
    const body = await accepted;
    expect(body?.buffer.byteLength).toBe(3);
  });
});

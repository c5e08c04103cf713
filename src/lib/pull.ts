import { finished, type Readable } from 'node:stream';

/**
 * What comes out of a stream, up to its end or to where it broke: an iterator of Node.js drops what had come when it
 * breaks and was not taken yet. Whoever stops early destroys the stream.
 * @param aheadBytes come before they are asked for; one piece more than that at most
 * @throws what broke the stream, behind all that came before
 */
export async function* pull(stream: Readable, aheadBytes: number): AsyncGenerator<Buffer, void> {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let end: { readonly failure: Error | null | undefined } | undefined;
  let wake = (): void => {};
  finished(stream, (failure) => {
    end = { failure };
    wake();
  });
  stream.on('data', (chunk: Buffer) => {
    waiting.push(chunk);
    waitingBytes += chunk.byteLength;
    if (waitingBytes >= aheadBytes) stream.pause();
    wake();
  });
  try {
    for (;;) {
      for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
        waitingBytes -= chunk.byteLength;
        yield chunk;
      }
      if (end !== undefined) {
        if (end.failure != null) throw end.failure;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        stream.resume();
      });
    }
  } finally {
    stream.destroy();
  }
}

import { finished, type Readable } from 'node:stream';

/**
 * The chunks of a stream, read ahead of their consumer. If the stream breaks, the consumer still gets all
 * chunks that came before: an iterator of Node.js drops those that were not consumed yet. A consumer that
 * stops early destroys the stream.
 * @param aheadBytes how much is read ahead; at most one chunk more than that
 * @throws what broke the stream, after all chunks that came before
 */
export async function* readAhead(stream: Readable, aheadBytes: number): AsyncGenerator<Buffer, void> {
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

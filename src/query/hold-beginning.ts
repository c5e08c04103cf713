import type { ResultChunk } from '../clickhouse/store.ts';

/**
 * The same result, whose first chunk is held back until it is the whole result or has more bytes than these.
 * So an error up to there comes before any output, and whoever has the first chunk knows whether it is all.
 * There is at least one chunk.
 * @param chunks of a result; one with `isLast` is the last that is asked for
 */
export async function* holdBeginning(
  chunks: AsyncIterable<ResultChunk>,
  maxBytes: number,
): AsyncGenerator<ResultChunk, void> {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let isHeld = true;
  for await (const chunk of chunks) {
    if (!isHeld) {
      yield chunk;
      continue;
    }
    held.push(...chunk.parts);
    if (chunk.isLast) break;
    for (const { byteLength } of chunk.parts) heldBytes += byteLength;
    if (heldBytes <= maxBytes) continue;
    isHeld = false;
    yield { parts: held, isLast: false };
  }
  if (isHeld) yield { parts: held, isLast: true };
}

import type { ResultChunk } from '../clickhouse/store.ts';

/**
 * Collects the beginning of a result into one first chunk: the whole result, or more than `maxBytes` of it.
 * An early error is thrown before any output, and the first chunk tells whether it is the whole result. There
 * is always at least one chunk.
 * @param chunks the result; after a chunk with `isLast`, no further one is requested
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

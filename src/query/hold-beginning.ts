import type { ResultChunk } from '../clickhouse/store.ts';

/**
 * Collects the beginning of a result into one first chunk: the whole result, or more than `maxBytes` of it.
 * An early error is thrown before any output, and the first chunk tells whether it is the whole result. There
 * is always at least one chunk.
 *
 * Most results are one chunk. A generator around the other one would cost each of them a microsecond or two,
 * so this is an iterator that hands on what follows the first chunk.
 * @param chunks the result; after a chunk with `isLast`, no further one is requested
 */
export function holdBeginning(
  chunks: AsyncIterable<ResultChunk>,
  maxBytes: number,
): AsyncIterableIterator<ResultChunk, undefined> {
  const source = chunks[Symbol.asyncIterator]();
  let hasBegun = false;
  let isWhole = false;

  async function beginning(): Promise<IteratorResult<ResultChunk, undefined>> {
    hasBegun = true;
    const held: Uint8Array[] = [];
    for (let heldBytes = 0; heldBytes <= maxBytes; ) {
      const { value, done } = await source.next();
      if (done !== true) {
        held.push(...value.parts);
        for (const { byteLength } of value.parts) heldBytes += byteLength;
      }
      isWhole = done === true || value.isLast;
      if (isWhole) break;
    }
    return { done: false, value: { parts: held, isLast: isWhole } };
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => {
      if (!hasBegun) return beginning();
      return isWhole ? Promise.resolve({ done: true, value: undefined }) : source.next();
    },
    return: async () => {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

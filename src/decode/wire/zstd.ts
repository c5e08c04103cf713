/**
 * zstd (RFC 8878) by Node's own zlib, which has it since 22.15. What that leaves to the caller: it gives what
 * there is of a body that was cut off, without an error, and it ignores what follows a frame.
 */
import zlib from 'node:zlib';

/** Its window may take as much memory as the body that it makes, and 8 MiB, which every decoder must take. */
const smallestMaxWindowLog = 23;
const largestMaxWindowLog = 27;

/** The part of Node's function that is used here; the typings of Node 20 have none of it. */
type ZstdDecompress = (
  input: Uint8Array,
  options: { readonly maxOutputLength: number; readonly params: Readonly<Record<number, number>> },
) => Buffer;

const zstdOfNode = zlib as typeof zlib & {
  readonly zstdDecompressSync?: ZstdDecompress;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
};

/** Whether this version of Node can decompress zstd. */
export const hasZstd = zstdOfNode.zstdDecompressSync !== undefined;

/**
 * The content of a body that is one frame.
 * @throws Error if it is not; RangeError with `ERR_BUFFER_TOO_LARGE` if it is larger than that
 */
export function decompressZstd(body: Uint8Array, maxDecodedBytes: number): Buffer {
  const { zstdDecompressSync, constants } = zstdOfNode;
  if (zstdDecompressSync === undefined || constants.ZSTD_d_windowLogMax === undefined) {
    throw new Error('BUG: this version of Node.js has no zstd');
  }
  const end = zstdFrameEnd(body);
  if (end === undefined) throw new Error('it is cut off, or no zstd');
  if (end < body.length) {
    throw new Error(`the frame ends at byte ${end} of ${body.length}: the rest is not part of it`);
  }
  const log = Math.ceil(Math.log2(Math.max(1, maxDecodedBytes)));
  const windowLog = Math.min(largestMaxWindowLog, Math.max(smallestMaxWindowLog, log));
  const params = { [constants.ZSTD_d_windowLogMax]: windowLog };
  return zstdDecompressSync(body, { maxOutputLength: maxDecodedBytes, params });
}

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * Where the frame that a body begins with ends, by the lengths of its blocks; undefined if it is
 * not there as a whole.
 */
export function zstdFrameEnd(body: Uint8Array): number | undefined {
  const descriptor = body[magic.length];
  if (descriptor === undefined || magic.compare(body, 0, magic.length) !== 0) return undefined;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  let at = magic.length + 1 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes + contentSizeBytes;
  for (let isLast = false; !isLast; ) {
    const [low, middle, high] = body.subarray(at, at + 3);
    if (low === undefined || middle === undefined || high === undefined) return undefined;
    const header = low | (middle << 8) | (high << 16);
    const isRun = ((header >> 1) & 3) === 1;
    isLast = (header & 1) === 1;
    at += 3 + (isRun ? 1 : header >> 3);
  }
  if ((descriptor & 4) !== 0) at += 4;
  return at <= body.length ? at : undefined;
}

/**
 * zstd (RFC 8878) by the reference implementation in WebAssembly: the same in every version of Node.js, of
 * which those before 22.15 have none of their own, and as fast as theirs. The thread keeps the memory that it
 * works in: as much as the largest body that came, compressed and not.
 */
import { decompress, isLoaded } from '@foxglove/wasm-zstd';

await isLoaded;

/** The most that a block may become (RFC 8878, section 3.1.1.2.4). */
const maxBlockBytes = 128 * 1024;

/** What the headers of a frame and of its blocks say. */
export interface ZstdFrame {
  /** Where it ends. */
  readonly end: number;
  /** What its content has at least and at most, bytes. */
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/**
 * The content of a body that is one frame.
 * @throws Error if it is not; RangeError with `ERR_BUFFER_TOO_LARGE` if it is larger than that
 */
export function decompressZstd(body: Uint8Array, maxDecodedBytes: number): Buffer {
  const frame = readZstdFrame(body);
  if (frame === undefined) throw new Error('it is cut off, or no zstd');
  const { end, leastBytes, mostBytes } = frame;
  if (end < body.length) {
    throw new Error(`the frame ends at byte ${end} of ${body.length}: the rest is not part of it`);
  }
  if (leastBytes > maxDecodedBytes) throw tooLarge();
  if (leastBytes > mostBytes) {
    throw new Error(`it declares ${leastBytes} bytes, and its blocks hold ${mostBytes} at most`);
  }
  try {
    return decompress(body, Math.min(mostBytes, maxDecodedBytes));
  } catch (error) {
    // Blocks of which nobody knows the length before: nothing else can be wrong with most of them.
    if (mostBytes > maxDecodedBytes) throw tooLarge();
    throw new Error('a block of it is damaged', { cause: error });
  }
}

/** In the form that zlib's errors have. */
const tooLarge = (): RangeError =>
  Object.assign(new RangeError('it is too large'), { code: 'ERR_BUFFER_TOO_LARGE' });

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * The frame that a body begins with, by its header and those of its blocks; undefined if it is not there as a
 * whole.
 */
export function readZstdFrame(body: Uint8Array): ZstdFrame | undefined {
  const descriptor = body[magic.length];
  if (descriptor === undefined || magic.compare(body, 0, magic.length) !== 0) return undefined;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeStart = magic.length + 1 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes;
  const declared = sizeBytes === 0 ? undefined : readSize(body.subarray(sizeStart, sizeStart + sizeBytes));
  let at = sizeStart + sizeBytes;
  let plainBytes = 0;
  let mostBytes = 0;
  for (let isLast = false; !isLast; ) {
    const [low, middle, high] = body.subarray(at, at + 3);
    if (low === undefined || middle === undefined || high === undefined) return undefined;
    const header = low | (middle << 8) | (high << 16);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    isLast = (header & 1) === 1;
    // A block as it is, a run of one byte, or a compressed one, which does not say what it becomes.
    if (type < 2) plainBytes += size;
    mostBytes += type < 2 ? size : maxBlockBytes;
    at += 3 + (type === 1 ? 1 : size);
  }
  if ((descriptor & 4) !== 0) at += 4;
  if (at > body.length) return undefined;
  return { end: at, leastBytes: Math.max(plainBytes, declared ?? 0), mostBytes };
}

/** The size of a frame's content: 1, 2, 4 or 8 bytes, of which those of two count from 256. */
function readSize(bytes: Uint8Array): number {
  const size = bytes.reduce((sum, byte, index) => sum + byte * 2 ** (8 * index), 0);
  return bytes.length === 2 ? size + 256 : size;
}

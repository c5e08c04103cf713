/** Content-Encoding: from the body as sent to the body that the decoders read. */
import { gunzipSync, type InputType, inflateSync } from 'node:zlib';
import { uncompressSync } from 'snappy';
import { AppError, errorText } from '../../errors.ts';
import type { BodyEncoding } from '../task.ts';
import { decompressZstd } from './zstd.ts';

/**
 * A snappy block expands at most this much: its densest element is a copy, which makes 64 bytes of 3
 * (https://github.com/google/snappy/blob/main/format_description.txt).
 */
const snappyMaxExpansion = 64 / 3;

/**
 * How a stream in snappy's framing format begins
 * (https://github.com/google/snappy/blob/main/framing_format.txt). No block does: read as one, it would copy
 * from 1.9 GB before its first byte.
 */
const framedSnappyStart = Buffer.from([0xff, 0x06, 0x00, 0x00, ...Buffer.from('sNaPpY')]);

/**
 * The decompressed body. The bound is enforced before the memory is taken.
 * @throws AppError `body_too_large`, `bad_encoding`
 */
export function decodeBody(body: Uint8Array, encoding: BodyEncoding, maxDecodedBytes: number): Buffer {
  switch (encoding) {
    case 'identity':
      if (body.length > maxDecodedBytes) throw tooLarge(`The body has ${body.length} bytes`, maxDecodedBytes);
      return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    case 'gzip':
      return inflate(gunzipSync, body, encoding, maxDecodedBytes);
    case 'deflate':
      return inflate(inflateSync, body, encoding, maxDecodedBytes);
    case 'snappy':
      return unsnappy(body, maxDecodedBytes);
    case 'zstd':
      return decompress(() => decompressZstd(body, maxDecodedBytes), encoding, maxDecodedBytes);
  }
}

/**
 * Bytes that deflate and zstd make of one, when senders compress telemetry; only those who know
 * no better need this.
 */
const typicalExpansion = 10;

/**
 * How long a body says that it is after decompression, or presumably is: nothing can be relied on but that it
 * is not decompressed here.
 */
export function presumedLength(body: Uint8Array, encoding: BodyEncoding): number {
  switch (encoding) {
    case 'identity':
      return body.length;
    case 'gzip': {
      // ISIZE (RFC 1952), less than the truth only for those who lie and for more than 4 GiB.
      const [first = 0, second = 0, third = 0, fourth = 0] = body.subarray(-4);
      return Math.max(body.length, first + 0x100 * second + 0x1_0000 * third + 0x100_0000 * fourth);
    }
    case 'snappy':
      return snappyLength(body) ?? body.length;
    case 'deflate':
    case 'zstd':
      return body.length * typicalExpansion;
  }
}

const tooLarge = (what: string, maxDecodedBytes: number): AppError =>
  new AppError('body_too_large', `${what}: at most ${maxDecodedBytes} bytes are allowed after decompression`);

/** What zlib returns with `info`: the output, and the engine that knows how much of the input it used. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

type Inflate = (input: InputType, options: { maxOutputLength: number; info: true }) => unknown;

function inflate(run: Inflate, body: Uint8Array, encoding: BodyEncoding, maxDecodedBytes: number): Buffer {
  // The typings do not know what `info` changes.
  const work = () => run(body, { maxOutputLength: maxDecodedBytes, info: true }) as Inflated;
  const inflated = decompress(work, encoding, maxDecodedBytes);
  // zlib stops at the end of the stream and ignores what follows: bytes that nobody would ever miss.
  const used = inflated.engine.bytesWritten;
  if (used !== body.length) {
    throw new AppError(
      'bad_encoding',
      `The ${encoding} stream ends at byte ${used} of ${body.length}: the rest is not part of it`,
    );
  }
  return inflated.buffer;
}

/** Says of a failure of zlib what it means. */
function decompress<Result>(work: () => Result, encoding: BodyEncoding, maxDecodedBytes: number): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(`The ${encoding} body is too large`, maxDecodedBytes);
    }
    throw new AppError('bad_encoding', `The body is not valid ${encoding}: ${errorText(error)}`, {
      cause: error,
    });
  }
}

/**
 * The length that a snappy block declares, when it may be decompressed.
 * @throws AppError `body_too_large`, `bad_encoding`
 */
export function declaredSnappyLength(body: Uint8Array, maxDecodedBytes: number): number {
  if (body[0] === 0xff && framedSnappyStart.equals(body.subarray(0, framedSnappyStart.length))) {
    throw new AppError(
      'bad_encoding',
      "The body is in snappy's framing format: send it in the block format, as Remote Write does",
    );
  }
  const declared = snappyLength(body);
  if (declared === undefined) {
    throw new AppError('bad_encoding', 'The body is not a snappy block: its length is missing or malformed');
  }
  if (declared > maxDecodedBytes) {
    throw tooLarge(`The snappy block declares ${declared} bytes`, maxDecodedBytes);
  }
  if (declared > body.length * snappyMaxExpansion) {
    throw new AppError(
      'bad_encoding',
      `The snappy block declares ${declared} bytes, which its ${body.length} bytes cannot hold`,
    );
  }
  return declared;
}

function unsnappy(body: Uint8Array, maxDecodedBytes: number): Buffer {
  declaredSnappyLength(body, maxDecodedBytes);
  try {
    // Copying the output into memory of Node's own is 20 times faster than mapping fresh pages for each
    // block.
    return uncompressSync(body, { copyOutputData: true, asBuffer: true }) as Buffer;
  } catch (error) {
    throw new AppError('bad_encoding', `The body is not a valid snappy block: ${errorText(error)}`, {
      cause: error,
    });
  }
}

/**
 * The decompressed length that a snappy block declares in its first bytes: a varint of 32 bits.
 * Undefined if it has none.
 */
function snappyLength(body: Uint8Array): number | undefined {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = body[index];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) {
      if (length <= 0xffff_ffff) return length;
      break;
    }
  }
  return undefined;
}

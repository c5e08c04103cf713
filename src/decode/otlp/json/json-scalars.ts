/**
 * Scalars of OTLP's JSON, which is protobuf's with hexadecimal ids (https://protobuf.dev/programming-
 * guides/json/).
 */
import { ascii, type JsonReader } from '../../wire/json-reader.ts';
import type { Bits } from '../../wire/protobuf-values.ts';
import type { ProtobufWriter } from '../../wire/protobuf-writer.ts';

/** A string as a JavaScript one; for the few that are not stored as they are. */
function readPlainString(reader: JsonReader): string {
  reader.openString('a string');
  return readStringRest(reader);
}

/** The same behind the opening quote. */
function readStringRest(reader: JsonReader): string {
  const start = reader.position;
  const close = reader.closeString();
  return reader.escaped
    ? reader.unescape(start, close).view().toString('utf8')
    : reader.bytes.toString('utf8', start, close);
}

/** Base64, with either alphabet, padded or not, as the bytes that it stands for. */
export function readBase64(reader: JsonReader): Buffer {
  const start = reader.position;
  const text = readPlainString(reader);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw reader.syntaxError('expected base64', start);
  return Buffer.from(text, 'base64');
}

export function readBool(reader: JsonReader): boolean {
  const first = reader.peek();
  if (first === ascii.lowerT) reader.readLiteral('true');
  else if (first === ascii.lowerF) reader.readLiteral('false');
  else throw reader.syntaxError('expected true or false');
  return first === ascii.lowerT;
}

/** A number, or a string with one, or with NaN, Infinity or -Infinity. */
export function readDouble(reader: JsonReader): number {
  if (reader.peek() === ascii.quote) return readQuotedDouble(reader);
  const start = reader.readNumber();
  if (!Number.isNaN(reader.number)) return reader.number;
  // An integer that a double holds but roughly, or more than it can hold.
  return Number(reader.bytes.toString('latin1', start, reader.position));
}

function readQuotedDouble(reader: JsonReader): number {
  const start = reader.position + 1;
  const text = readPlainString(reader);
  if (text === 'NaN') return Number.NaN;
  if (!/^-?(\d+(\.\d+)?([eE][+-]?\d+)?|Infinity)$/.test(text)) {
    throw reader.syntaxError('expected a number', start);
  }
  return Number(text);
}

function readNumberText(reader: JsonReader): string {
  if (reader.peek() === ascii.quote) return readPlainString(reader);
  const start = reader.readNumber();
  return reader.bytes.toString('latin1', start, reader.position);
}

/** A type of integers: its range, and how many digits fit it whatever they are. */
interface IntegerType {
  readonly min: bigint;
  readonly max: bigint;
  readonly digits: number;
  readonly what: string;
}

const integerType = (min: bigint, max: bigint, digits: number, what: string): IntegerType => ({
  min,
  max,
  digits,
  what,
});
const unsigned64 = integerType(0n, 2n ** 64n - 1n, 19, 'an unsigned integer of 64 bits');
const signed64 = integerType(-(2n ** 63n), 2n ** 63n - 1n, 18, 'an integer of 64 bits');
const unsigned32 = integerType(0n, 2n ** 32n - 1n, 9, 'an unsigned integer of 32 bits');
const signed32 = integerType(-(2n ** 31n), 2n ** 31n - 1n, 9, 'an integer of 32 bits');
const enumNumber = integerType(-(2n ** 31n), 2n ** 31n - 1n, 9, 'a number or the name of a value');

/** An unsigned integer of 64 bits, as a number or as a string. */
export const readUnsigned64 = (reader: JsonReader, into: Bits): void => readInteger(reader, into, unsigned64);

/** A signed integer of 64 bits, as a number or as a string. */
export const readSigned64 = (reader: JsonReader, into: Bits): void => readInteger(reader, into, signed64);

const small: Bits = { low: 0, high: 0 };

/** An unsigned integer of 32 bits, as a number or as a string. */
export function readUnsigned32(reader: JsonReader): number {
  readInteger(reader, small, unsigned32);
  return small.low >>> 0;
}

/** A signed integer of 32 bits, as a number or as a string. */
export function readSigned32(reader: JsonReader): number {
  readInteger(reader, small, signed32);
  return small.low;
}

/** An enum as its number, or by its name. */
export function readEnum(reader: JsonReader, names: ReadonlyMap<string, number>): number {
  if (reader.peek() === ascii.quote) {
    const start = reader.position;
    const known = names.get(readPlainString(reader));
    if (known !== undefined) return known;
    reader.position = start;
  }
  readInteger(reader, small, enumNumber);
  return small.low | 0;
}

const frontDigits = 10;
const powersOfTen = Float64Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);

function readInteger(
  reader: JsonReader,
  into: Bits,
  { min, max, digits: maxDigits, what }: IntegerType,
): void {
  const { bytes } = reader;
  const quoted = reader.peek() === ascii.quote;
  const start = quoted ? reader.position + 1 : reader.position;
  // Times have 19 digits: the first ten and the rest are both exact, in one pass over them.
  let at = start;
  let front = 0;
  let back = 0;
  const frontEnd = start + frontDigits;
  for (; at < frontEnd; at++) {
    const digit = (bytes[at] as number) - ascii.zero;
    if (!(digit >= 0 && digit <= 9)) break;
    front = front * 10 + digit;
  }
  if (at === frontEnd) {
    for (; ; at++) {
      const digit = (bytes[at] as number) - ascii.zero;
      if (!(digit >= 0 && digit <= 9)) break;
      back = back * 10 + digit;
    }
  }
  const digits = at - start;
  if (digits > 0 && digits <= maxDigits && endsNumber(bytes[at], quoted)) {
    if (!quoted && digits > 1 && bytes[start] === ascii.zero) {
      throw reader.syntaxError('a number must not begin with a zero', start);
    }
    setProduct(into, front, powersOfTen[Math.max(0, digits - frontDigits)] as number, back);
    reader.position = quoted ? at + 1 : at;
    return;
  }
  const value = exactInteger(readNumberText(reader));
  if (value === undefined || value < min || value > max) throw reader.syntaxError(`expected ${what}`, start);
  into.low = Number(BigInt.asIntN(32, value));
  into.high = Number(BigInt.asIntN(32, value >> 32n));
}

/** Whether a number ends here and has neither a fraction nor an exponent. */
const endsNumber = (byte: number | undefined, quoted: boolean): boolean =>
  quoted ? byte === ascii.quote : byte !== ascii.dot && byte !== ascii.lowerE && byte !== ascii.upperE;

/** `front * factor + back` in halves; `front` has up to ten digits, and `factor` is at most 10^9. */
function setProduct(into: Bits, front: number, factor: number, back: number): void {
  const frontHigh = Math.floor(front / 0x1_0000);
  const product = (front % 0x1_0000) * factor + back;
  // In units of 2^16.
  const upper = frontHigh * factor + Math.floor(product / 0x1_0000);
  into.low = ((upper % 0x1_0000) * 0x1_0000 + (product % 0x1_0000)) | 0;
  into.high = Math.floor(upper / 0x1_0000) | 0;
}

/** The integer that a JSON number is, also where it is written with a fraction of zeros or an exponent. */
function exactInteger(text: string): bigint | undefined {
  if (/^-?\d{1,40}$/.test(text)) return BigInt(text);
  const value = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isInteger(value) ? BigInt(value) : undefined;
}

/** The value of a hexadecimal digit in any case; -1 for other bytes. */
const hexValues = new Int8Array(256).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  hexValues[digit.charCodeAt(0)] = value;
  hexValues[digit.toUpperCase().charCodeAt(0)] = value;
}
/** Of a trace. */
const idBytesMax = 16;

/** The id of a trace or a span in hexadecimal digits: writes its length and its bytes. */
export function readId(reader: JsonReader, out: ProtobufWriter): void {
  reader.openString('an id in hexadecimal digits');
  out.reserve(idBytesMax + 1);
  const { bytes, position: start } = reader;
  const { buffer, length } = out;
  let at = start;
  let count = 0;
  for (; count < idBytesMax; at += 2) {
    const high = hexValues[bytes[at] as number] as number;
    const low = hexValues[bytes[at + 1] as number] as number;
    // At the end of the text both are undefined.
    if (!(high >= 0 && low >= 0)) break;
    count++;
    buffer[length + count] = (high << 4) | low;
  }
  if (bytes[at] === ascii.quote) {
    buffer[length] = count;
    out.length += count + 1;
    reader.position = at + 1;
    return;
  }
  const text = readStringRest(reader);
  if (!/^([0-9A-Fa-f]{2})*$/.test(text)) {
    throw reader.syntaxError('expected pairs of hexadecimal digits', start);
  }
  out.bytesWithLength(Buffer.from(text, 'hex'));
}

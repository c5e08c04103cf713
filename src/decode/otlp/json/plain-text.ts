/**
 * What nearly all of a request is made of, in its usual spelling: short strings without escapes, and
 * attributes that are short strings or small integers. Each is read and written in one go. Any other spelling
 * is left to the general readers, which also say what is wrong with it.
 */
import { ascii, type JsonReader } from '../../wire/json-reader.ts';
import { fieldTag } from '../../wire/protobuf-reader.ts';
import type { ProtobufWriter } from '../../wire/protobuf-writer.ts';

/** Lengths below this take one byte. */
const shortBytes = 0x80;
/** Integers of so many digits have less than 31 bits. */
const smallDigits = 9;
/** A pair of short texts with all that is around them. */
const shortPairBytes = 2 * shortBytes + 16;

/** 1 for bytes that stand for themselves in a string. */
const isPlain = new Uint8Array(256).fill(1, ascii.space);
isPlain[ascii.quote] = 0;
isPlain[ascii.backslash] = 0;

const keyOpening = Buffer.from('{"key":"');
const stringValueOpening = Buffer.from('{"stringValue":"');
const stringOpening = Buffer.from(',"value":{"stringValue":"');
const integerOpening = Buffer.from(',"value":{"intValue":');

const pairKey = fieldTag(1, 'bytes');
const pairValue = fieldTag(2, 'bytes');
const stringValue = fieldTag(1, 'bytes');
const intValue = fieldTag(3, 'varint');

/**
 * Reads the rest of a string whose opening quote was consumed, and writes its length and its bytes.
 * @returns false, with nothing read, if it is long or has escapes or anything else that is not plain
 */
export function copyShortString(reader: JsonReader, out: ProtobufWriter): boolean {
  out.reserve(shortBytes + 1);
  const { bytes, position } = reader;
  const { buffer, length } = out;
  let count = 0;
  for (; count < shortBytes; count++) {
    const byte = bytes[position + count] as number;
    // At the end of the text it is undefined.
    if (isPlain[byte] !== 1) break;
    buffer[length + 1 + count] = byte;
  }
  if (count < shortBytes && bytes[position + count] === ascii.quote) {
    buffer[length] = count;
    out.length = length + 1 + count;
    reader.position = position + count + 1;
    return true;
  }
  return false;
}

/**
 * Reads a value that is a string and writes it with its length.
 * @returns false, with nothing read, if it is not plain
 */
export function copyPlainValue(reader: JsonReader, out: ProtobufWriter): boolean {
  const { position } = reader;
  const start = out.length;
  if (reader.takeBytes(stringValueOpening)) {
    out.reserve(shortPairBytes);
    out.length = start + 1;
    out.tag(stringValue);
    const length = copyShortString(reader, out) ? out.length - start - 1 : shortBytes;
    if (length < shortBytes && reader.bytes[reader.position] === ascii.closeBrace) {
      reader.position++;
      out.buffer[start] = length;
      return true;
    }
  }
  reader.position = position;
  out.length = start;
  return false;
}

/**
 * Reads an attribute and writes it with its length.
 * @returns false, with nothing read, if it is not plain
 */
export function copyPlainAttribute(reader: JsonReader, out: ProtobufWriter): boolean {
  const { position } = reader;
  const start = out.length;
  if (copyPair(reader, out, start)) return true;
  reader.position = position;
  out.length = start;
  return false;
}

function copyPair(reader: JsonReader, out: ProtobufWriter, start: number): boolean {
  if (!reader.takeBytes(keyOpening)) return false;
  out.reserve(shortPairBytes);
  out.length = start + 1;
  out.tag(pairKey);
  if (!copyShortString(reader, out)) return false;
  out.tag(pairValue);
  const valueStart = out.length++;
  if (reader.takeBytes(stringOpening)) {
    out.tag(stringValue);
    if (!copyShortString(reader, out)) return false;
  } else if (!reader.takeBytes(integerOpening) || !copySmallInteger(reader, out)) return false;
  const { bytes, position } = reader;
  if (bytes[position] !== ascii.closeBrace || bytes[position + 1] !== ascii.closeBrace) return false;
  const length = out.length - start - 1;
  if (length >= shortBytes) return false;
  reader.position = position + 2;
  out.buffer[valueStart] = out.length - valueStart - 1;
  out.buffer[start] = length;
  return true;
}

/** An integer that is not negative, as a number or as a string. @returns false if it is another */
function copySmallInteger(reader: JsonReader, out: ProtobufWriter): boolean {
  const { bytes, position } = reader;
  const isQuoted = bytes[position] === ascii.quote;
  const start = isQuoted ? position + 1 : position;
  const stop = start + smallDigits;
  let value = 0;
  let at = start;
  for (; at < stop; at++) {
    const digit = (bytes[at] as number) - ascii.zero;
    // At the end of the text it is NaN.
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  if (at === start || (bytes[start] === ascii.zero && at > start + 1)) return false;
  if (isQuoted && bytes[at++] !== ascii.quote) return false;
  out.tag(intValue);
  out.varint(value);
  reader.position = at;
  return true;
}

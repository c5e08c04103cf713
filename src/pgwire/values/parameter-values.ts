import { limits } from '../../limits/limits.ts';
import type { ParameterValue } from '../../sql/parameters.ts';
import type { PostgresType } from '../../sql/postgres-types.ts';
import { postgresType } from '../../sql/postgres-types.ts';
import type { SqlType } from '../../sql/types.ts';
import type { Format } from '../protocol/client-message.ts';
import { WireError } from '../protocol/wire-error.ts';
import { arrayText } from './array-text.ts';
import { doubleText } from './double-text.ts';
import { readNumeric } from './numeric-binary.ts';
import { dateText, intervalText, timeOfDayText, timestampText } from './times.ts';

/**
 * The values of parameters as the translator takes them: PostgreSQL's text. Binary values are what
 * PostgreSQL's `…_recv` functions read.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param number from 1 @throws WireError */
export function parameterValue(
  bytes: Buffer | null,
  format: Format,
  type: PostgresType,
  number: number,
): ParameterValue {
  if (bytes === null) return null;
  const text = format === 0 ? decodeUtf8(bytes) : readBinary(bytes, type.sql);
  if (text !== undefined && !text.includes('\0')) return text;
  if (format === 0)
    throw new WireError('22021', `invalid byte sequence for encoding "UTF8" in parameter $${number}`);
  throw new WireError('22P03', `incorrect binary data format in bind parameter ${number}`);
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // `fatal` has no other way to say that this is not UTF-8
  }
}

/** Undefined if it is not valid. */
function readBinary(bytes: Buffer, type: SqlType): string | undefined {
  const sized = (size: number, read: () => string): string | undefined =>
    bytes.length === size ? read() : undefined;
  switch (type.name) {
    case 'bool':
      return sized(1, () => (bytes[0] === 0 ? 'false' : 'true'));
    case 'int2':
    case 'int4':
    case 'int8':
      return readInteger(bytes);
    case 'float':
      if (bytes.length === 4) return doubleText(bytes.readFloatBE(0));
      return sized(8, () => doubleText(bytes.readDoubleBE(0)));
    case 'numeric':
      return readNumeric(bytes);
    case 'timestamp':
    case 'timestamptz':
      return sized(8, () => shownTime(bytes.readBigInt64BE(0), type.name === 'timestamptz' ? '+00' : ''));
    case 'date':
      return sized(4, () => {
        const days = bytes.readInt32BE(0);
        return Math.abs(days) > maxDays ? infinite(days) : dateText(days);
      });
    case 'time':
      return sized(8, () => timeOfDayText(bytes.readBigInt64BE(0)));
    case 'bytea':
      return `\\x${bytes.toString('hex')}`;
    case 'interval':
      return sized(16, () =>
        intervalText(bytes.readInt32BE(12), bytes.readInt32BE(8), bytes.readBigInt64BE(0)),
      );
    case 'jsonb':
      return bytes[0] === 1 ? decodeUtf8(bytes.subarray(1)) : undefined;
    case 'array':
      return readArrayBinary(bytes, type.element);
    default:
      return decodeUtf8(bytes);
  }
}

/** Of the width that the client has taken: it may be less than that of the type. */
function readInteger(bytes: Buffer): string | undefined {
  if (bytes.length === 2) return String(bytes.readInt16BE(0));
  if (bytes.length === 4) return String(bytes.readInt32BE(0));
  return bytes.length === 8 ? String(bytes.readBigInt64BE(0)) : undefined;
}

/** Days beyond which JavaScript has no date. */
const maxDays = 90_000_000;
const infinite = (value: number | bigint): string => (value < 0 ? '-infinity' : 'infinity');

function shownTime(micros: bigint, zone: string): string {
  const days = micros / 86_400_000_000n;
  return days > maxDays || days < -maxDays ? infinite(micros) : `${timestampText(micros)}${zone}`;
}

/** One dimension, or none. */
function readArrayBinary(bytes: Buffer, element: SqlType): string | undefined {
  if (bytes.length < 12) return undefined;
  const dimensions = bytes.readInt32BE(0);
  if (dimensions === 0) return '{}';
  if (dimensions !== 1 || bytes.length < 20) return undefined;
  const { sql } = postgresType(element);
  const count = bytes.readInt32BE(12);
  // Each has a length at least.
  if (count < 0 || count > (bytes.length - 20) / 4) return undefined;
  const elements: Array<string | null> = [];
  let at = 20;
  let length = 0;
  for (let index = 0; index < count; index++) {
    if (at + 4 > bytes.length) return undefined;
    const size = bytes.readInt32BE(at);
    at += 4;
    if (size === -1) elements.push(null);
    else {
      if (size < 0 || at + size > bytes.length) return undefined;
      const text = readBinary(bytes.subarray(at, at + size), sql);
      if (text === undefined) return undefined;
      elements.push(text);
      at += size;
      length += text.length;
      // A number of a few bytes may have hundreds of digits.
      if (length > limits.maxQueryParametersLength) {
        throw new WireError(
          '54000',
          `an array of more than ${limits.maxQueryParametersLength} characters is not allowed as the value of a parameter`,
        );
      }
    }
  }
  return at === bytes.length ? arrayText(elements) : undefined;
}

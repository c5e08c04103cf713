import { limits } from '../../limits/limits.ts';
import type { ParameterValue } from '../../sql/parameters.ts';
import { type PostgresType, postgresType, typeOids } from '../../sql/postgres-types.ts';
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

/**
 * @param type what the parameter is taken for
 * @param number from 1
 * @param given the object id of the type that the client gave it, if it gave one
 * @throws WireError
 */
export function parameterValue(
  bytes: Buffer | null,
  format: Format,
  type: PostgresType,
  number: number,
  given = 0,
): ParameterValue {
  if (bytes === null) return null;
  const isUuid = given === typeOids.uuid || given === typeOids.uuidArray;
  const text =
    format === 0 ? decodeUtf8(bytes) : readBinary(bytes, type.sql, isUuid ? binaryUuid : undefined);
  if (text !== undefined && !text.includes('\0')) {
    if (given === typeOids.uuid) return canonicalUuid(text, number);
    return given === typeOids.real ? singleText(text) : text;
  }
  if (format === 0)
    throw new WireError('22021', `invalid byte sequence for encoding "UTF8" in parameter $${number}`);
  throw new WireError('22P03', `incorrect binary data format in bind parameter ${number}`);
}

/**
 * As PostgreSQL shows it: it takes upper case, braces around it, and hyphens behind any four digits or none
 * (src/backend/utils/adt/uuid.c). No column has the type; it is compared with texts, which mostly have this
 * form.
 * @throws WireError
 */
function canonicalUuid(written: string, number: number): string {
  const isPlain = /^[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}$/i;
  const inner = written.startsWith('{') && written.endsWith('}') ? written.slice(1, -1) : written;
  if (inner.length > 39 || !isPlain.test(inner)) {
    const shown = written.length > 100 ? `${written.slice(0, 100)}...` : written;
    throw new WireError('22P02', `invalid input syntax for type uuid: "${shown}" in parameter $${number}`);
  }
  return hyphenated(inner.replaceAll('-', '').toLowerCase());
}

const binaryUuid = (bytes: Buffer): string | undefined =>
  bytes.length === 16 ? hyphenated(bytes.toString('hex')) : undefined;

const hyphenated = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The double that PostgreSQL compares in place of a `real`. What is not a number is refused later. */
const singleText = (written: string): string =>
  /^\s*[-+]?[\d.][-+\d.e]*\s*$/i.test(written) && Number.isFinite(Math.fround(Number(written)))
    ? doubleText(Math.fround(Number(written)))
    : written;

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // `fatal` has no other way to say that this is not UTF-8
  }
}

/** Undefined if it is not valid. @param readText reads texts; UTF-8 if it is not given */
function readBinary(
  bytes: Buffer,
  type: SqlType,
  readText: (bytes: Buffer) => string | undefined = decodeUtf8,
): string | undefined {
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
      return readArrayBinary(bytes, type.element, readText);
    default:
      return readText(bytes);
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
function readArrayBinary(
  bytes: Buffer,
  element: SqlType,
  readText: (bytes: Buffer) => string | undefined,
): string | undefined {
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
      const text = readBinary(bytes.subarray(at, at + size), sql, readText);
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

import { type TimeZone, utc } from '../../lib/time-zone.ts';
import { limits } from '../../limits/limits.ts';
import type { PostgresType } from '../../sql/postgres-types.ts';
import { postgresType } from '../../sql/postgres-types.ts';
import { type DateStyle, type IntervalStyle, isoStyle } from '../../sql/time-styles.ts';
import type { SqlType } from '../../sql/types.ts';
import type { Format } from '../protocol/client-message.ts';
import type { MessageWriter } from '../protocol/message-writer.ts';
import { WireError } from '../protocol/wire-error.ts';
import { arrayText } from './array-text.ts';
import { cellMicros, integerOf, isPlainDouble, safeDigits, withoutZerosEnd } from './cell-bytes.ts';
import { doubleText, readDouble } from './double-text.ts';
import { writeNumeric } from './numeric-binary.ts';
import { readArray, readMap } from './store-literals.ts';
import { styledDate, styledInterval, styledMoment, styledTimestamp } from './styled-times.ts';
import { cellKind, type TabSeparatedRows, unescaped } from './tab-separated-rows.ts';
import { dateDays, intervalParts, timeMicros, timestampMicros, withoutZeros, zonedText } from './times.ts';

/**
 * From the cells that the store writes to the values that clients get, in text and in binary, for each type.
 *
 * The store's settings (`wireSettings`) are such that most cells are PostgreSQL's text already: those are
 * copied, byte by byte.
 */

/** Writes the length and the value of one cell. */
type CellEncoder = (to: MessageWriter, bytes: Buffer, start: number, end: number) => unknown;

/** What the session has a say in. */
export interface OutputSettings {
  readonly timeZone: () => TimeZone;
  /** ISO unless given. */
  readonly dateStyle?: () => DateStyle;
  /** `postgres` unless given. */
  readonly intervalStyle?: () => IntervalStyle;
}

/**
 * In arrays and maps the backslashes are part of what `store-literals.ts` reads, and stand before what a
 * cell may not have, too.
 */
const isLiteral = ({ sql }: PostgresType): boolean => sql.name === 'array' || sql.name === 'map';

/** Writes rows of a result. */
export class RowEncoder {
  readonly #encoders: readonly CellEncoder[];
  readonly #isLiteral: readonly boolean[];

  constructor(
    columns: ReadonlyArray<{ readonly type: PostgresType; readonly format: Format }>,
    settings: OutputSettings,
  ) {
    this.#isLiteral = columns.map(({ type }) => isLiteral(type));
    this.#encoders = columns.map(({ type, format }) =>
      format === 0 ? textEncoder(type.sql, settings) : binaryEncoder(type.sql),
    );
  }

  /** Writes the cells of the current row, each with its length. */
  write(to: MessageWriter, { bytes, starts, ends, kinds }: TabSeparatedRows): void {
    const encoders = this.#encoders;
    for (let index = 0; index < encoders.length; index++) {
      const encode = encoders[index] ?? copied;
      const start = starts[index] ?? 0;
      const end = ends[index] ?? 0;
      const kind = kinds[index];
      if (this.#isLiteral[index] === true) requireShort(end - start);
      if (kind === cellKind.plain || (kind === cellKind.escaped && this.#isLiteral[index] === true))
        encode(to, bytes, start, end);
      else if (kind === cellKind.null) to.int32(-1);
      else {
        const cell = unescaped(bytes, start, end);
        encode(to, cell, 0, cell.length);
      }
    }
  }
}

/** PostgreSQL's texts of the cells of rows; null for NULL. */
export class RowTexts {
  readonly #texts: ReadonlyArray<(text: string) => string>;
  readonly #isLiteral: readonly boolean[];

  constructor(types: readonly PostgresType[], settings: OutputSettings) {
    this.#isLiteral = types.map(isLiteral);
    this.#texts = types.map(({ sql }) => textOf(sql, settings));
  }

  /** Of the current row. */
  read({ bytes, starts, ends, kinds }: TabSeparatedRows): ReadonlyArray<string | null> {
    return this.#texts.map((make, index) => {
      const start = starts[index] ?? 0;
      const end = ends[index] ?? 0;
      if (kinds[index] === cellKind.null) return null;
      const isPlain = kinds[index] === cellKind.plain || this.#isLiteral[index] === true;
      if (this.#isLiteral[index] === true) requireShort(end - start);
      return make(
        isPlain ? bytes.toString('utf8', start, end) : unescaped(bytes, start, end).toString('utf8'),
      );
    });
  }
}

/** Before an array or a map is read. @throws WireError */
function requireShort(bytes: number): void {
  if (bytes <= limits.pgMaxContainerBytes) return;
  throw new WireError(
    '54000',
    `an array or a map of more than ${limits.pgMaxContainerBytes} bytes is not allowed`,
    { hint: 'Use unnest, or HTTP, which has no such limit.' },
  );
}

const copied: CellEncoder = (to, bytes, start, end) => {
  to.int32(end - start).slice(bytes, start, end);
};

/** An encoder for a text that is made of the cell's text. */
const made =
  (make: (text: string) => string): CellEncoder =>
  (to, bytes, start, end) => {
    const at = to.lengthAhead();
    to.text(make(bytes.toString('utf8', start, end))).setLength(at);
  };

function textEncoder(type: SqlType, settings: OutputSettings): CellEncoder {
  const isCopied = copiedTypes.has(type.name) || (type.name === 'numeric' && type.exact);
  if (isCopied) return copied;
  const other = made(textOf(type, settings));
  switch (type.name) {
    case 'float':
      return (to, bytes, start, end) =>
        (isPlainDouble(bytes, start, end) ? copied : other)(to, bytes, start, end);
    case 'date':
      return (to, bytes, start, end) => (isIso(settings) ? copied : other)(to, bytes, start, end);
    case 'interval':
      return (to, bytes, start, end) =>
        ((settings.intervalStyle?.() ?? 'postgres') === 'postgres' ? copied : other)(to, bytes, start, end);
    case 'timestamp':
      return (to, bytes, start, end) => {
        if (isIso(settings)) copied(to, bytes, start, withoutZerosEnd(bytes, start, end));
        else other(to, bytes, start, end);
      };
    case 'timestamptz':
      return (to, bytes, start, end) => {
        if (settings.timeZone() !== utc || !isIso(settings)) other(to, bytes, start, end);
        else {
          const last = withoutZerosEnd(bytes, start, end);
          to.int32(last - start + 3)
            .slice(bytes, start, last)
            .slice(utcOffset, 0, 3);
        }
      };
    default:
      return other;
  }
}

const isIso = ({ dateStyle }: OutputSettings): boolean =>
  dateStyle === undefined || dateStyle().format === 'ISO';

const utcOffset = Buffer.from('+00');

const copiedTypes: ReadonlySet<SqlType['name']> = new Set([
  'bool',
  'int2',
  'int4',
  'int8',
  'text',
  'time',
  'bytea',
  'record',
  'json',
  'jsonb',
  'unknown',
  'mixed',
]);

/** PostgreSQL's text for the store's text. */
function textOf(type: SqlType, settings: OutputSettings): (text: string) => string {
  switch (type.name) {
    case 'float':
      return (text) => doubleText(readDouble(text));
    case 'numeric':
      return type.exact ? (text) => text : shortNumeric;
    case 'date':
      return (text) => (isIso(settings) ? text : styledDate(text, settings.dateStyle?.() ?? isoStyle));
    case 'interval':
      return (text) => styledInterval(text, settings.intervalStyle?.() ?? 'postgres');
    case 'timestamp':
      return (text) =>
        isIso(settings) ? withoutZeros(text) : styledTimestamp(text, settings.dateStyle?.() ?? isoStyle);
    case 'timestamptz':
      return (text) =>
        isIso(settings)
          ? zonedText(text, settings.timeZone())
          : styledMoment(text, settings.timeZone(), settings.dateStyle?.() ?? isoStyle);
    case 'map':
      return mapText;
    case 'array': {
      const element = textOf(type.element, settings);
      const isBool = type.element.name === 'bool';
      return (text) =>
        arrayText((readArray(text) ?? []).map((item) => item && element(isBool ? item.slice(0, 1) : item)));
    }
    default:
      return (text) => text;
  }
}

const mapText = (text: string): string => JSON.stringify(Object.fromEntries(readMap(text) ?? []));

/** Of how many zeros PostgreSQL would show, nothing is known. */
function shortNumeric(text: string): string {
  if (!text.includes('.')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** Writes a value of the store's text in binary, without its length. */
type BinaryWriter = (to: MessageWriter, text: string) => void;

function binaryEncoder(type: SqlType): CellEncoder {
  if (bytesTypes.has(type.name)) return copied;
  const direct = directEncoders[type.name];
  if (direct !== undefined) return direct;
  const write = binaryWriter(type);
  return (to, bytes, start, end) => {
    const at = to.lengthAhead();
    write(to, bytes.toString('utf8', start, end));
    to.setLength(at);
  };
}

/** Of types whose binary form is made of the bytes of a cell, without a text in between. */
const directEncoders: Readonly<Partial<Record<SqlType['name'], CellEncoder>>> = {
  int2: (to, bytes, start, end) => to.int32(2).int16(integerOf(bytes, start, end)),
  int4: (to, bytes, start, end) => to.int32(4).int32(integerOf(bytes, start, end)),
  int8: (to, bytes, start, end) => {
    to.int32(8);
    if (end - start <= safeDigits) to.safeInt64(integerOf(bytes, start, end));
    else to.int64(BigInt(bytes.toString('latin1', start, end)));
  },
  float: (to, bytes, start, end) => to.int32(8).double(readDouble(bytes.toString('latin1', start, end))),
  timestamp: timestampEncoder,
  timestamptz: timestampEncoder,
};

function timestampEncoder(to: MessageWriter, bytes: Buffer, start: number, end: number): void {
  const micros = cellMicros(bytes, start, end);
  to.int32(8);
  if (micros === undefined) to.int64(timestampMicros(bytes.toString('latin1', start, end)));
  else to.safeInt64(micros);
}

/** Whose binary form is their text. */
const bytesTypes: ReadonlySet<SqlType['name']> = new Set(['text', 'json', 'unknown', 'mixed']);

function binaryWriter(type: SqlType): BinaryWriter {
  switch (type.name) {
    case 'bool':
      return (to, text) => to.byte(text.startsWith('t') || text === '1' ? 1 : 0);
    case 'int2':
      return (to, text) => to.int16(Number(text));
    case 'int4':
      return (to, text) => to.int32(Number(text));
    case 'int8':
      return (to, text) => to.int64(BigInt(text));
    case 'float':
      return (to, text) => to.double(readDouble(text));
    case 'numeric':
      return (to, text) => writeNumeric(to, type.exact ? text : shortNumeric(text));
    case 'timestamp':
    case 'timestamptz':
      return (to, text) => to.int64(timestampMicros(text));
    case 'date':
      return (to, text) => to.int32(dateDays(text));
    case 'time':
      return (to, text) => to.int64(timeMicros(text));
    case 'bytea':
      return (to, text) => to.bytes(Buffer.from(text.slice(2), 'hex'));
    case 'interval':
      return (to, text) => {
        const { months, days, micros } = intervalParts(text);
        to.int64(micros).int32(days).int32(months);
      };
    case 'jsonb':
      return (to, text) => to.byte(jsonbVersion).text(text);
    case 'map':
      return (to, text) => to.text(mapText(text));
    case 'array':
      return arrayWriter(type.element);
    default:
      return (to, text) => to.text(text);
  }
}

const jsonbVersion = 1;

/**
 * Dimensions, whether there are NULLs, the type of the elements, length and lower bound,
 * elements (`array_send`).
 */
function arrayWriter(element: SqlType): BinaryWriter {
  const { oid } = postgresType(element);
  const write = binaryWriter(element);
  return (to, text) => {
    const items = readArray(text) ?? [];
    to.int32(items.length === 0 ? 0 : 1)
      .int32(items.includes(null) ? 1 : 0)
      .int32(oid);
    if (items.length > 0) to.int32(items.length).int32(1);
    for (const item of items) {
      if (item === null) to.int32(-1);
      else {
        const at = to.lengthAhead();
        write(to, item);
        to.setLength(at);
      }
    }
  };
}

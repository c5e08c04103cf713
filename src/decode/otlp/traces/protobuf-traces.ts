/** OTLP traces in protobuf (`schema/proto/otlp.proto`) into rows of `spans`. */
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { fieldTag, ProtobufReader } from '../../wire/protobuf-reader.ts';
import { keep } from '../../wire/protobuf-values.ts';
import { ProtobufValues } from '../any-value.ts';
import { ProtobufExport } from '../protobuf-export.ts';
import { SpanRows } from './span-rows.ts';

const spanTag = {
  traceId: fieldTag(1, 'bytes'),
  spanId: fieldTag(2, 'bytes'),
  traceState: fieldTag(3, 'bytes'),
  parentSpanId: fieldTag(4, 'bytes'),
  name: fieldTag(5, 'bytes'),
  kind: fieldTag(6, 'varint'),
  start: fieldTag(7, 'fixed64'),
  end: fieldTag(8, 'fixed64'),
  attributes: fieldTag(9, 'bytes'),
  droppedAttributes: fieldTag(10, 'varint'),
  events: fieldTag(11, 'bytes'),
  droppedEvents: fieldTag(12, 'varint'),
  links: fieldTag(13, 'bytes'),
  droppedLinks: fieldTag(14, 'varint'),
  status: fieldTag(15, 'bytes'),
  flags: fieldTag(16, 'fixed32'),
} as const;

const eventTag = {
  time: fieldTag(1, 'fixed64'),
  name: fieldTag(2, 'bytes'),
  attributes: fieldTag(3, 'bytes'),
  droppedAttributes: fieldTag(4, 'varint'),
} as const;

const linkTag = {
  traceId: fieldTag(1, 'bytes'),
  spanId: fieldTag(2, 'bytes'),
  traceState: fieldTag(3, 'bytes'),
  attributes: fieldTag(4, 'bytes'),
  droppedAttributes: fieldTag(5, 'varint'),
  flags: fieldTag(6, 'fixed32'),
} as const;

const statusMessage = fieldTag(2, 'bytes');
const statusCode = fieldTag(3, 'varint');

/**
 * @param message the decompressed body
 * @param bounds of what it may become; `requestBounds` unless given
 * @param isUtf8 whether its texts are known to be valid UTF-8; else each is checked, and repaired
 * @throws AppError `bad_protobuf`, `bad_record`, `body_too_large`
 */
export function decodeProtobufTraces(
  message: Buffer,
  receivedMicros: number,
  bounds?: DecodeBounds,
  isUtf8 = false,
): DecodedBody {
  const rows = new SpanRows(message, receivedMicros, bounds);
  rows.record.isUtf8 = isUtf8;
  const reader = new ProtobufReader(message);
  const spans = new SpanReader(reader, rows);
  new ProtobufExport(reader, rows, (end) => spans.read(end)).read();
  return rows.finish();
}

class SpanReader {
  readonly #reader: ProtobufReader;
  readonly #rows: SpanRows;
  readonly #values: ProtobufValues;

  constructor(reader: ProtobufReader, rows: SpanRows) {
    this.#reader = reader;
    this.#rows = rows;
    this.#values = new ProtobufValues(reader, rows.record);
  }

  read(end: number): void {
    const reader = this.#reader;
    this.#rows.beginRecord();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (!this.#readContext(tag, end) && !this.#readContent(tag, end)) reader.skip(tag, end);
    }
    this.#rows.endRecord();
  }

  /** Fields that place the span. @returns false, with nothing read, for another field */
  #readContext(tag: number, end: number): boolean {
    const reader = this.#reader;
    const rows = this.#rows;
    const values = this.#values;
    switch (tag) {
      case spanTag.traceId:
        values.readId(rows.traceId, end);
        return true;
      case spanTag.spanId:
        values.readId(rows.spanId, end);
        return true;
      case spanTag.parentSpanId:
        values.readId(rows.parentSpanId, end);
        return true;
      case spanTag.traceState:
        values.readString(rows.traceState, end);
        return true;
      case spanTag.flags:
        rows.flags = reader.fixed32(end);
        return true;
      case spanTag.start:
        reader.fixed64(end);
        keep(rows.start, reader);
        return true;
      case spanTag.end:
        reader.fixed64(end);
        keep(rows.endTime, reader);
        return true;
      default:
        return false;
    }
  }

  /** @returns false, with nothing read, for another field */
  #readContent(tag: number, end: number): boolean {
    const reader = this.#reader;
    const rows = this.#rows;
    switch (tag) {
      case spanTag.name:
        this.#values.readString(rows.name, end);
        return true;
      case spanTag.kind:
        rows.kind = reader.int32(end);
        return true;
      case spanTag.attributes:
        this.#values.readAttribute(rows.attributes, end);
        return true;
      case spanTag.droppedAttributes:
        rows.droppedAttributes = reader.int32(end);
        return true;
      case spanTag.events:
        this.#readEvent(reader.lengthEnd(end));
        return true;
      case spanTag.droppedEvents:
        rows.droppedEvents = reader.int32(end);
        return true;
      case spanTag.links:
        this.#readLink(reader.lengthEnd(end));
        return true;
      case spanTag.droppedLinks:
        rows.droppedLinks = reader.int32(end);
        return true;
      case spanTag.status:
        this.#readStatus(reader.lengthEnd(end));
        return true;
      default:
        return false;
    }
  }

  #readStatus(end: number): void {
    const reader = this.#reader;
    const rows = this.#rows;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === statusMessage) this.#values.readString(rows.statusMessage, end);
      else if (tag === statusCode) rows.statusCode = reader.int32(end);
      else reader.skip(tag, end);
    }
  }

  #readEvent(end: number): void {
    const reader = this.#reader;
    const { events } = this.#rows;
    events.begin();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === eventTag.time) {
        reader.fixed64(end);
        keep(events.time, reader);
      } else if (tag === eventTag.name) this.#values.readString(events.name, end);
      else if (tag === eventTag.attributes) this.#values.readAttribute(events.attributes, end);
      else if (tag === eventTag.droppedAttributes) events.droppedAttributes = reader.int32(end);
      else reader.skip(tag, end);
    }
    events.end();
  }

  #readLink(end: number): void {
    const reader = this.#reader;
    const { links } = this.#rows;
    links.begin();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === linkTag.traceId) this.#values.readId(links.traceId, end);
      else if (tag === linkTag.spanId) this.#values.readId(links.spanId, end);
      else if (tag === linkTag.traceState) this.#values.readString(links.traceState, end);
      else if (tag === linkTag.attributes) this.#values.readAttribute(links.attributes, end);
      else if (tag === linkTag.droppedAttributes) links.droppedAttributes = reader.int32(end);
      else if (tag === linkTag.flags) links.flags = reader.fixed32(end);
      else reader.skip(tag, end);
    }
    links.end();
  }
}

/** OTLP traces in JSON into rows of `spans`. */
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import type { JsonReader } from '../../wire/json-reader.ts';
import { ExportFields, JsonExport, openJson } from '../json/json-export.ts';
import { JsonFields, readArray } from '../json/json-fields.ts';
import { readEnum, readId, readText, readUnsigned32, readUnsigned64 } from '../json/json-scalars.ts';
import { JsonValues } from '../json/json-values.ts';
import { SpanRows } from './span-rows.ts';

const spanField = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  droppedAttributesCount: 10,
  events: 11,
  droppedEventsCount: 12,
  links: 13,
  droppedLinksCount: 14,
  status: 15,
  flags: 16,
} as const;
const eventField = { timeUnixNano: 1, name: 2, attributes: 3, droppedAttributesCount: 4 } as const;
const linkField = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  attributes: 4,
  droppedAttributesCount: 5,
  flags: 6,
} as const;
const statusField = { message: 2, code: 3 } as const;

const exportFields = new ExportFields({
  resources: 'resourceSpans',
  scopes: 'scopeSpans',
  records: 'spans',
});
const spanFields = new JsonFields(spanField);
const eventFields = new JsonFields(eventField);
const linkFields = new JsonFields(linkField);
const statusFields = new JsonFields(statusField);

const numbered = (prefix: string, ...values: readonly string[]): ReadonlyMap<string, number> =>
  new Map(values.map((value, index) => [`${prefix}_${value}`, index]));
const kinds = numbered('SPAN_KIND', 'UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER');
const statusCodes = numbered('STATUS_CODE', 'UNSET', 'OK', 'ERROR');

/**
 * @param body decompressed
 * @throws AppError `bad_json`, `bad_record`, `body_too_large`
 * @param bounds of what it may become; `requestBounds` unless given
 */
export function decodeJsonTraces(body: Buffer, receivedMicros: number, bounds?: DecodeBounds): DecodedBody {
  const rows = new SpanRows(body, receivedMicros, bounds);
  const reader = openJson(body);
  const spans = new SpanReader(reader, rows);
  new JsonExport(reader, rows, exportFields, () => spans.read()).read();
  return rows.finish();
}

class SpanReader {
  readonly #reader: JsonReader;
  readonly #rows: SpanRows;
  readonly #values: JsonValues;

  constructor(reader: JsonReader, rows: SpanRows) {
    this.#reader = reader;
    this.#rows = rows;
    this.#values = new JsonValues(reader, rows.record);
  }

  read(): void {
    this.#rows.beginRecord();
    spanFields.read(this.#reader, this.#readField);
    this.#rows.endRecord();
  }

  readonly #readField = (id: number): void => {
    const reader = this.#reader;
    const rows = this.#rows;
    switch (id) {
      case spanField.traceId:
        readId(reader, rows.traceId);
        break;
      case spanField.spanId:
        readId(reader, rows.spanId);
        break;
      case spanField.parentSpanId:
        readId(reader, rows.parentSpanId);
        break;
      case spanField.traceState:
        readText(reader, rows.record, rows.traceState);
        break;
      case spanField.name:
        readText(reader, rows.record, rows.name);
        break;
      case spanField.startTimeUnixNano:
        readUnsigned64(reader, rows.start);
        break;
      case spanField.endTimeUnixNano:
        readUnsigned64(reader, rows.endTime);
        break;
      case spanField.attributes:
        this.#values.readAttributes(rows.attributes);
        break;
      case spanField.events:
        readArray(reader, this.#readEvent);
        break;
      case spanField.links:
        readArray(reader, this.#readLink);
        break;
      case spanField.status:
        statusFields.read(reader, this.#readStatusField);
        break;
      default:
        this.#readNumber(id);
    }
  };

  #readNumber(id: number): void {
    const reader = this.#reader;
    const rows = this.#rows;
    if (id === spanField.kind) rows.kind = readEnum(reader, kinds);
    else if (id === spanField.flags) rows.flags = readUnsigned32(reader);
    else if (id === spanField.droppedAttributesCount) rows.droppedAttributes = readUnsigned32(reader);
    else if (id === spanField.droppedEventsCount) rows.droppedEvents = readUnsigned32(reader);
    else rows.droppedLinks = readUnsigned32(reader);
  }

  readonly #readStatusField = (id: number): void => {
    const rows = this.#rows;
    if (id === statusField.code) rows.statusCode = readEnum(this.#reader, statusCodes);
    else readText(this.#reader, rows.record, rows.statusMessage);
  };

  readonly #readEvent = (): void => {
    const { events } = this.#rows;
    events.begin();
    eventFields.read(this.#reader, this.#readEventField);
    events.end();
  };

  readonly #readEventField = (id: number): void => {
    const reader = this.#reader;
    const { events, record } = this.#rows;
    if (id === eventField.timeUnixNano) readUnsigned64(reader, events.time);
    else if (id === eventField.name) readText(reader, record, events.name);
    else if (id === eventField.attributes) this.#values.readAttributes(events.attributes);
    else events.droppedAttributes = readUnsigned32(reader);
  };

  readonly #readLink = (): void => {
    const { links } = this.#rows;
    links.begin();
    linkFields.read(this.#reader, this.#readLinkField);
    links.end();
  };

  readonly #readLinkField = (id: number): void => {
    const reader = this.#reader;
    const { links, record } = this.#rows;
    if (id === linkField.traceId) readId(reader, links.traceId);
    else if (id === linkField.spanId) readId(reader, links.spanId);
    else if (id === linkField.traceState) readText(reader, record, links.traceState);
    else if (id === linkField.attributes) this.#values.readAttributes(links.attributes);
    else if (id === linkField.flags) links.flags = readUnsigned32(reader);
    else links.droppedAttributes = readUnsigned32(reader);
  };
}

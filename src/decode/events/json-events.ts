/**
 * JSON events into one `events` block: an array of objects, a single object, or one object after
 * another, each on lines of its own (NDJSON). One pass over the bytes: no object is made for an event
 * and no string for a field.
 *
 * - Objects flatten: the field of `{"a":{"b":1}}` is `a_b`. Arrays, empty objects, and objects that would
 *   give a name of more than `maxFlattenDepth` parts stay JSON text, with every number as it was sent.
 * - A value goes to the column of its type (`model/column.ts`). Numbers that a double cannot hold, integers
 *   beyond 2^53 and anything beyond 1.8e308, go to the string column as they were sent.
 * - A field named like a column of the system, or not at all, gets `_` in front.
 * - null means absent. Of several values for one flattened name in an event, the last one counts.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { noCounts } from '../../model/counts.ts';
import type { DecodeBounds } from '../decode-bounds.ts';
import type { DecodedBody, EventOptions, EventOrigin } from '../task.ts';
import { ascii, JsonReader } from '../wire/json-reader.ts';
import { JsonTextCopier } from '../wire/json-text-copier.ts';
import { EventColumns, type Field } from './event-columns.ts';
import { EventRules, type EventRulesOptions } from './event-rules.ts';
import { FieldNode } from './field-tree.ts';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** An event takes about this much; it only sizes the first allocation. */
const typicalEventBytes = 200;
const expectedEventsMax = 4096;

/**
 * @param body decompressed
 * @param format `ndjson` knows no array and may be empty
 * @param receivedMicros the time of all events, microseconds since 1970, unless the options
 *   have them name their own
 * @param maxEventBytes of one event, as it stands in the body
 * @param bounds of what it may become; `requestBounds` unless given
 * @param origin of the request, stored with each event
 * @throws AppError `bad_json`, `bad_event`, `event_too_large`, `too_many_columns`, `body_too_large`
 */
export function decodeJsonEvents(
  body: Buffer,
  format: 'json' | 'ndjson',
  receivedMicros: number,
  maxEventBytes: number = limits.maxEventBytes,
  options?: EventOptions,
  bounds?: DecodeBounds,
  origin?: EventOrigin,
): DecodedBody {
  if (!isUtf8(body)) throw new AppError('bad_json', 'The body is not valid UTF-8');
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  const reader = new JsonReader(body, hasMark ? byteOrderMark.length : 0);
  const rules = options && { ...options, receivedMicros };
  const decoder = new EventDecoder(reader, maxEventBytes, rules, bounds);
  if (format === 'ndjson') decoder.readLines();
  else decoder.readDocument();
  return decoder.finish(receivedMicros, origin);
}

class EventDecoder {
  readonly #reader: JsonReader;
  readonly #maxEventBytes: number;
  readonly #columns: EventColumns;
  readonly #root: FieldNode;
  readonly #text = new JsonTextCopier();
  readonly #rules: EventRules | undefined;
  /** The event under way, counted from 0. */
  #row = 0;
  /** Where it begins, if events are lines; undefined if they are elements of an array. */
  #lineStart: number | undefined;

  constructor(
    reader: JsonReader,
    maxEventBytes: number,
    options: EventRulesOptions | undefined,
    bounds: DecodeBounds | undefined,
  ) {
    this.#reader = reader;
    this.#maxEventBytes = maxEventBytes;
    const expectedEvents = Math.ceil(reader.end / typicalEventBytes);
    this.#columns = new EventColumns(Math.min(expectedEvents, expectedEventsMax), bounds);
    this.#root = new FieldNode(this.#columns.field(''), '', '');
    this.#rules = options && new EventRules(options, this.#columns, () => this.#where());
  }

  /** An array or an object; if more objects follow, lines. */
  readDocument(): void {
    const reader = this.#reader;
    if (reader.peek() === -1) throw reader.syntaxError('expected an object or an array of objects');
    if (!reader.take(ascii.openBracket)) {
      this.readLines();
      return;
    }
    if (!reader.take(ascii.closeBracket)) {
      do this.#readEvent();
      while (reader.take(ascii.comma));
      if (!reader.take(ascii.closeBracket)) throw reader.syntaxError('expected "," or "]" after an event');
    }
    if (reader.peek() !== -1) throw reader.syntaxError('expected nothing after the array of events');
  }

  readLines(): void {
    const reader = this.#reader;
    while (reader.peek() !== -1) {
      this.#lineStart = reader.position;
      this.#readEvent();
      const eventEnd = reader.position;
      if (reader.peek() !== -1 && !hasLineFeed(reader.bytes, eventEnd, reader.position)) {
        throw reader.syntaxError('expected a line break after an event');
      }
    }
  }

  #readEvent(): void {
    const reader = this.#reader;
    const first = reader.peek();
    if (first !== ascii.openBrace) throw this.#notAnObject(first);
    if (this.#row === limits.maxEventsPerRequest) {
      throw new AppError('body_too_large', `The request has more than ${limits.maxEventsPerRequest} events`);
    }
    const start = reader.position;
    reader.position++;
    this.#root.beginRow();
    if (!reader.take(ascii.closeBrace)) this.#readFields(this.#root, 1);
    if (reader.position - start > this.#maxEventBytes) throw this.#tooLarge(reader.position - start);
    this.#rules?.endRow(this.#row);
    this.#row++;
    this.#columns.checkSize(this.#row);
  }

  /** @param parts of the flattened names of these fields */
  #readFields(parent: FieldNode, parts: number): void {
    const reader = this.#reader;
    let previous: FieldNode | undefined;
    do {
      reader.openString('a field name in double quotes');
      const node = this.#readKey(parent, previous);
      if (!reader.take(ascii.colon)) throw reader.syntaxError('expected ":" after the field name');
      node.touch(this.#row, parent);
      this.#readValue(node, parts);
      previous = node;
    } while (reader.take(ascii.comma));
    if (!reader.take(ascii.closeBrace)) throw reader.syntaxError('expected "," or "}"');
  }

  #readKey(parent: FieldNode, previous: FieldNode | undefined): FieldNode {
    const reader = this.#reader;
    const predicted = previous === undefined ? parent.firstChild : previous.nextSibling;
    if (predicted !== undefined) {
      const after = predicted.match(reader.bytes, reader.position, reader.end);
      if (after >= 0) {
        reader.position = after;
        return predicted;
      }
    }
    const node = this.#lookUp(parent);
    if (previous === undefined) parent.firstChild = node;
    else previous.nextSibling = node;
    return node;
  }

  #lookUp(parent: FieldNode): FieldNode {
    const reader = this.#reader;
    const start = reader.position;
    const close = reader.closeString();
    const key = reader.escaped
      ? reader.unescape(start, close).view().toString('utf8')
      : reader.bytes.toString('utf8', start, close);
    const known = parent.child(key);
    if (known !== undefined) return known;
    const problem = parent.problemOfChild(key);
    if (problem !== undefined) throw new AppError('bad_event', `${this.#where()}: ${problem}`);
    return parent.addChild(key, this.#columns);
  }

  #readValue(node: FieldNode, parts: number): void {
    const reader = this.#reader;
    const { field } = node;
    const first = reader.peek();
    if (first === ascii.openBrace && parts < limits.maxFlattenDepth && this.#takeFields()) {
      this.#readFields(node, parts + 1);
      return;
    }
    field.touch(this.#row);
    switch (first) {
      case ascii.quote:
        reader.position++;
        this.#readString(node);
        break;
      case ascii.openBrace:
      case ascii.openBracket:
        this.#readText(node);
        break;
      case ascii.lowerT:
        reader.readLiteral('true');
        field.setBool(this.#row, true);
        break;
      case ascii.lowerF:
        reader.readLiteral('false');
        field.setBool(this.#row, false);
        break;
      case ascii.lowerN:
        reader.readLiteral('null');
        break;
      default: {
        const start = reader.readNumber();
        if (Number.isNaN(reader.number)) this.#setText(field, reader.bytes, start, reader.position);
        else field.setNumber(this.#row, reader.number);
      }
    }
  }

  #readString({ field }: FieldNode): void {
    const reader = this.#reader;
    const start = reader.position;
    const close = reader.closeString();
    if (reader.escaped) {
      const text = reader.unescape(start, close);
      field.setString(this.#row, text.buffer, 0, text.length);
    } else {
      field.setString(this.#row, reader.bytes, start, close);
    }
  }

  /** Consumes the brace of an object that has fields; an empty one stays where it is. */
  #takeFields(): boolean {
    const reader = this.#reader;
    const start = reader.position;
    reader.position++;
    if (reader.peek() !== ascii.closeBrace) return true;
    reader.position = start;
    return false;
  }

  #readText({ field }: FieldNode): void {
    const text = this.#text.copy(this.#reader);
    this.#setText(field, text.buffer, 0, text.length);
  }

  /** A value that is no string, as the JSON text `source[start, end)`. */
  #setText(field: Field, source: Uint8Array, start: number, end: number): void {
    this.#rules?.checkText(field.name);
    field.setString(this.#row, source, start, end);
  }

  #notAnObject(first: number): AppError {
    const kind = kindOfValue(first);
    return kind === undefined
      ? this.#reader.syntaxError('expected an object')
      : new AppError('bad_event', `${this.#where()} is ${kind}: an event is an object`);
  }

  #tooLarge(bytes: number): AppError {
    const allowed = this.#maxEventBytes;
    return new AppError(
      'event_too_large',
      `${this.#where()} has ${bytes} bytes; at most ${allowed} are allowed`,
    );
  }

  #where(): string {
    return this.#lineStart === undefined
      ? `element ${this.#row + 1}`
      : `line ${this.#reader.lineOf(this.#lineStart)}`;
  }

  finish(receivedMicros: number, origin: EventOrigin | undefined): DecodedBody {
    const counts = { ...noCounts, events: this.#row };
    const blocks = this.#row === 0 ? [] : [this.#columns.finish(this.#row, receivedMicros, origin)];
    return { blocks, counts };
  }
}

function kindOfValue(first: number): string | undefined {
  switch (first) {
    case ascii.quote:
      return 'a string';
    case ascii.openBracket:
      return 'an array';
    case ascii.lowerT:
    case ascii.lowerF:
      return 'a boolean';
    case ascii.lowerN:
      return 'null';
    default:
      return first === ascii.minus || (first >= ascii.zero && first <= ascii.nine) ? 'a number' : undefined;
  }
}

function hasLineFeed(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === ascii.lineFeed) return true;
  return false;
}

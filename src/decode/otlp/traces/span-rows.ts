/** Spans as rows of `spans`, whatever their encoding. */
import { Column64, StringColumn, UIntColumn } from '../../../columnar/columns.ts';
import { LowCardinalityColumn } from '../../../columnar/dictionary-columns.ts';
import { encodeTableBlock } from '../../../columnar/native-block.ts';
import { requestBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { type Bits, clear } from '../../wire/protobuf-values.ts';
import { DraftText } from '../draft.ts';
import { HexId } from '../hex-id.ts';
import { RecordRows } from '../record-rows.ts';
import { isStorable, isZero, nanosOf } from '../record-times.ts';
import { SpanEvents, SpanLinks } from './span-items.ts';

/** A span takes about this much of a body; it only sizes the first allocation. */
const typicalSpanBytes = 350;
const expectedRowsMax = 8192;

/** The duration of a span that has no end: the lowest number of its type. */
const noDuration: Readonly<Bits> = { low: 0, high: -0x8000_0000 };

/** Fields of the span under way, filled by the reader of its encoding. */
export class SpanRows extends RecordRows {
  readonly traceId = new HexId(16, 'its trace id');
  readonly spanId = new HexId(8, 'its span id');
  readonly parentSpanId = new HexId(8, 'its parent span id');
  readonly traceState = new DraftText();
  readonly name = new DraftText();
  kind = 0;
  readonly start: Bits = { low: 0, high: 0 };
  readonly endTime: Bits = { low: 0, high: 0 };
  flags = 0;
  droppedEvents = 0;
  droppedLinks = 0;
  statusCode = 0;
  readonly statusMessage = new DraftText();
  readonly events: SpanEvents;
  readonly links: SpanLinks;

  readonly #received: Readonly<Bits>;
  readonly #timestamp: Column64;
  readonly #duration: Column64;
  readonly #traceIds: StringColumn;
  readonly #spanIds: StringColumn;
  readonly #parentSpanIds: StringColumn;
  readonly #traceStates: StringColumn;
  readonly #flags: UIntColumn;
  readonly #names = new LowCardinalityColumn('name');
  readonly #kinds: UIntColumn;
  readonly #statusCodes: UIntColumn;
  readonly #statusMessages: StringColumn;
  readonly #droppedEvents: UIntColumn;
  readonly #droppedLinks: UIntColumn;

  /** @param receivedMicros the time of spans that have none */
  constructor(message: Buffer, receivedMicros: number, bounds = requestBounds) {
    const rows = Math.min(expectedRowsMax, Math.ceil(message.length / typicalSpanBytes));
    super(message, 'span', rows, bounds);
    this.#received = nanosOf(receivedMicros);
    this.events = new SpanEvents(this.record, this.budget, bounds);
    this.links = new SpanLinks(this.record, this.budget, bounds);
    this.#timestamp = new Column64('timestamp', "DateTime64(9, 'UTC')", rows);
    this.#duration = new Column64('duration_ns', 'Int64', rows);
    this.#traceIds = new StringColumn('trace_id', 2 * rows);
    this.#spanIds = new StringColumn('span_id', rows);
    this.#parentSpanIds = new StringColumn('parent_span_id', rows);
    this.#traceStates = new StringColumn('trace_state', rows);
    this.#flags = new UIntColumn('trace_flags', 'UInt32', 32, rows);
    this.#kinds = new UIntColumn('kind', 'Int32', 32, rows);
    this.#statusCodes = new UIntColumn('status_code', 'Int32', 32, rows);
    this.#statusMessages = new StringColumn('status_message', rows);
    this.#droppedEvents = new UIntColumn('dropped_events_count', 'UInt32', 32, rows);
    this.#droppedLinks = new UIntColumn('dropped_links_count', 'UInt32', 32, rows);
  }

  override beginRecord(): void {
    super.beginRecord();
    this.traceId.clear();
    this.spanId.clear();
    this.parentSpanId.clear();
    this.traceState.clear();
    this.name.clear();
    this.kind = 0;
    clear(this.start);
    clear(this.endTime);
    this.flags = 0;
    this.droppedEvents = 0;
    this.droppedLinks = 0;
    this.statusCode = 0;
    this.statusMessage.clear();
  }

  override endRecord(): boolean {
    const { record } = this;
    if (!isStorable(this.start) || !isStorable(this.endTime))
      record.refuse('its time is beyond the year 2106');
    // A span needs its ids: without them it would be in no trace, or at another place in it.
    const idProblem = this.traceId.problem ?? this.spanId.problem ?? this.parentSpanId.problem;
    if (idProblem !== undefined) record.refuse(idProblem);
    this.checkLength(this.name, 'name');
    this.checkLength(this.statusMessage, 'status message');
    if (!super.endRecord()) {
      this.events.discardRow();
      this.links.discardRow();
      return false;
    }
    this.events.endRow();
    this.links.endRow();
    this.#appendTimes();
    this.traceId.appendTo(this.#traceIds);
    this.spanId.appendTo(this.#spanIds);
    this.parentSpanId.appendTo(this.#parentSpanIds);
    this.#appendText(this.#traceStates, this.traceState);
    this.#flags.append(this.flags);
    this.#appendText(this.#names, this.name);
    this.#kinds.append(this.kind);
    this.#statusCodes.append(this.statusCode);
    this.#appendText(this.#statusMessages, this.statusMessage);
    this.#droppedEvents.append(this.droppedEvents);
    this.#droppedLinks.append(this.droppedLinks);
    return true;
  }

  #appendText(column: StringColumn | LowCardinalityColumn, text: DraftText): void {
    column.append(this.record.bytesOf(text), text.start, text.end);
  }

  /** A span without a start began when it ended; without either, when it was received. */
  #appendTimes(): void {
    const { endTime } = this;
    const start = !isZero(this.start) ? this.start : isZero(endTime) ? this.#received : endTime;
    this.#timestamp.append(start.low, start.high);
    if (isZero(endTime)) {
      this.#duration.append(noDuration.low, noDuration.high);
      return;
    }
    const borrow = endTime.low >>> 0 < start.low >>> 0 ? 1 : 0;
    this.#duration.append(endTime.low - start.low, endTime.high - start.high - borrow);
  }

  finish(): DecodedBody {
    const { rows } = this;
    if (rows === 0) return { blocks: [], ...this.outcome('spans') };
    const columns = [
      this.#timestamp,
      this.#duration,
      this.#traceIds,
      this.#spanIds,
      this.#parentSpanIds,
      this.#traceStates,
      this.#flags,
      this.#names,
      this.#kinds,
      this.#statusCodes,
      this.#statusMessages,
      this.#droppedEvents,
      this.#droppedLinks,
      ...this.events.columns,
      ...this.links.columns,
      ...this.columns,
    ];
    return { blocks: [encodeTableBlock('spans', columns, rows)], ...this.outcome('spans') };
  }
}

/** Log records as rows of `logs`, whatever their encoding. */
import { Column64, StringColumn, UIntColumn } from '../../../columnar/columns.ts';
import { LowCardinalityColumn } from '../../../columnar/dictionary-columns.ts';
import { encodeTableBlock } from '../../../columnar/native-block.ts';
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { DecodedBody } from '../../task.ts';
import { type Bits, clear } from '../../wire/protobuf-values.ts';
import { DraftText } from '../draft.ts';
import { HexId } from '../hex-id.ts';
import { RecordRows } from '../record-rows.ts';
import { isStorable, isZero, nanosOf } from '../record-times.ts';

/** A record takes about this much of a body; it only sizes the first allocation. */
const typicalRecordBytes = 250;
const expectedRowsMax = 8192;

/** Fields of the record under way, filled by the reader of its encoding. */
export class LogRows extends RecordRows {
  readonly time: Bits = { low: 0, high: 0 };
  readonly observedTime: Bits = { low: 0, high: 0 };
  severityNumber = 0;
  readonly severityText = new DraftText();
  readonly body = new DraftText();
  flags = 0;
  readonly traceId = new HexId(16, 'its trace id');
  readonly spanId = new HexId(8, 'its span id');
  readonly eventName = new DraftText();

  readonly #received: Readonly<Bits>;
  readonly #timestamp: Column64;
  readonly #observed: Column64;
  readonly #traceIds: StringColumn;
  readonly #spanIds: StringColumn;
  readonly #flags: UIntColumn;
  readonly #severityNumbers: UIntColumn;
  readonly #severityTexts = new LowCardinalityColumn('severity_text');
  readonly #eventNames = new LowCardinalityColumn('event_name');
  readonly #bodies: StringColumn;

  /** @param receivedMicros the time of records that have none */
  constructor(message: Buffer, receivedMicros: number, bounds?: DecodeBounds) {
    const expectedRows = Math.min(expectedRowsMax, Math.ceil(message.length / typicalRecordBytes));
    super(message, 'log record', expectedRows, bounds);
    this.#received = nanosOf(receivedMicros);
    this.#timestamp = new Column64('timestamp', "DateTime64(9, 'UTC')", expectedRows);
    this.#observed = new Column64('observed_timestamp', "DateTime64(9, 'UTC')", expectedRows);
    this.#traceIds = new StringColumn('trace_id', expectedRows);
    this.#spanIds = new StringColumn('span_id', expectedRows);
    this.#flags = new UIntColumn('trace_flags', 'UInt32', 32, expectedRows);
    this.#severityNumbers = new UIntColumn('severity_number', 'Int32', 32, expectedRows);
    this.#bodies = new StringColumn('body', 4 * expectedRows);
  }

  override beginRecord(): void {
    super.beginRecord();
    clear(this.time);
    clear(this.observedTime);
    this.severityNumber = 0;
    this.severityText.clear();
    this.body.clear();
    this.flags = 0;
    this.traceId.clear();
    this.spanId.clear();
    this.eventName.clear();
  }

  override endRecord(): boolean {
    const { record, observedTime } = this;
    if (!isStorable(this.time) || !isStorable(observedTime))
      record.refuse('its time is beyond the year 2106');
    // A log record with an id that is not valid belongs to no trace (opentelemetry/proto/logs/v1/logs.proto).
    const idProblem = this.traceId.problem ?? this.spanId.problem;
    if (idProblem !== undefined) record.warn(`${idProblem}, and is left out`);
    this.checkLength(this.body, 'body');
    this.checkLength(this.severityText, 'severity text');
    this.checkLength(this.eventName, 'event name');
    if (!super.endRecord()) return false;
    // A record without a time of its own happened about when it was seen.
    const time = !isZero(this.time) ? this.time : isZero(observedTime) ? this.#received : observedTime;
    this.#timestamp.append(time.low, time.high);
    this.#observed.append(observedTime.low, observedTime.high);
    this.traceId.appendTo(this.#traceIds);
    this.spanId.appendTo(this.#spanIds);
    this.#flags.append(this.flags);
    this.#severityNumbers.append(this.severityNumber);
    const { severityText, eventName, body } = this;
    this.#severityTexts.append(record.bytesOf(severityText), severityText.start, severityText.end);
    this.#eventNames.append(record.bytesOf(eventName), eventName.start, eventName.end);
    this.#bodies.append(record.bytesOf(body), body.start, body.end);
    return true;
  }

  finish(): DecodedBody {
    const { rows } = this;
    if (rows === 0) return { blocks: [], ...this.outcome('logs') };
    const columns = [
      this.#timestamp,
      this.#observed,
      this.#traceIds,
      this.#spanIds,
      this.#flags,
      this.#severityNumbers,
      this.#severityTexts,
      this.#eventNames,
      this.#bodies,
      ...this.columns,
    ];
    return { blocks: [encodeTableBlock('logs', columns, rows)], ...this.outcome('logs') };
  }
}

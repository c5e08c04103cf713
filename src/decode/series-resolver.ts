/**
 * From the labels of a series to the ids of its samples, and the rows of `series` that these need.
 *
 * A scrape sends the same series again and again, with the same label bytes. So labels are parsed once; later
 * they cost a hash of the raw bytes and a lookup. A row of `series` is written for each day on which the series
 * has samples, so that expiry by day never leaves a sample without its series. It is left out only if a
 * record that holds it is known to be durable, or if it is in the block under way.
 */
import type { XXHashAPI } from 'xxhash-wasm';
import { Column64, UIntColumn } from '../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../columnar/dictionary-columns.ts';
import { type BlockColumn, encodeTableBlock } from '../columnar/native-block.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import { LabelHash } from './label-hash.ts';
import type { DecodeOutcomes } from './outcomes.ts';
import type { ProtobufReader } from './protobuf-reader.ts';
import { SeriesLabels } from './series-labels.ts';
import { type SeriesTable, slotField } from './series-table.ts';
import type { DecodeTask } from './task.ts';

/** What outlives a request: one for each worker, shared by all datasets. */
export interface SeriesContext {
  readonly table: SeriesTable;
  readonly outcomes: DecodeOutcomes;
  readonly hashes: XXHashAPI;
}

/** Room for the first series of a request; in most requests there are no new ones. */
const expectedRows = 16;

export class SeriesResolver {
  /** Of the series resolved last; the bits of unsigned integers. */
  seriesIdLow = 0;
  seriesIdHigh = 0;
  metricId = 0;

  readonly #context: SeriesContext;
  readonly #sequence: number;
  readonly #hash: LabelHash;
  readonly #labels = new SeriesLabels();

  readonly #date = new UIntColumn('date', 'Date', 16, expectedRows);
  readonly #seriesId = new Column64('series_id', 'UInt64', expectedRows);
  readonly #metricId = new UIntColumn('metric_id', 'UInt32', 32, expectedRows);
  readonly #metricName = new LowCardinalityColumn('metric_name');
  readonly #labelMap = new MapColumn('labels');

  constructor(task: Pick<DecodeTask, 'tenant' | 'dataset' | 'sequence'>, context: SeriesContext) {
    this.#context = context;
    this.#sequence = task.sequence | 0;
    this.#hash = new LabelHash(JSON.stringify([task.tenant, task.dataset]));
  }

  /**
   * Resolves a series whose label fields are all in `[start, end)` of the message. Other fields between them do
   * no harm but make the bytes, and so the entry in the table, differ.
   * @param days on which it has samples in this request, since 1970; may repeat
   * @throws AppError `bad_series`, `bad_protobuf`, `body_too_large`
   */
  resolve(reader: ProtobufReader, start: number, end: number, days: readonly number[]): void {
    const { table } = this.#context;
    const hash = this.#hash;
    hash.compute(reader.view, start, end);
    let slot = table.find(hash.low, hash.high);
    let labelsRead = false;
    if (slot < 0) {
      this.#identify(reader, start, end);
      labelsRead = true;
      slot = table.insert(hash.low, hash.high);
      table.words[slot + slotField.seriesIdLow] = this.seriesIdLow;
      table.words[slot + slotField.seriesIdHigh] = this.seriesIdHigh;
      table.words[slot + slotField.metricId] = this.metricId;
    } else {
      this.seriesIdLow = table.words[slot + slotField.seriesIdLow] as number;
      this.seriesIdHigh = table.words[slot + slotField.seriesIdHigh] as number;
      this.metricId = table.words[slot + slotField.metricId] as number;
    }
    for (const day of days.length === 1 ? days : new Set(days)) {
      if (this.#isWritten(slot, day)) continue;
      if (!labelsRead) this.#readLabels(reader, start, end);
      labelsRead = true;
      this.#writeRow(reader.bytes, day);
      table.words[slot + slotField.day] = day;
      table.words[slot + slotField.sequence] = this.#sequence;
      table.words[slot + slotField.durable] = 0;
    }
  }

  /** True if the row of that day is durable, or in the block under way and shares its fate. */
  #isWritten(slot: number, day: number): boolean {
    const { table, outcomes } = this.#context;
    if (table.words[slot + slotField.day] !== day) return false;
    if (table.words[slot + slotField.durable] === 1) return true;
    const sequence = table.words[slot + slotField.sequence] as number;
    if (sequence === this.#sequence) return true;
    if (!outcomes.isCommitted(sequence)) return false;
    // Remembered here, since the outcome is forgotten after some time.
    table.words[slot + slotField.durable] = 1;
    return true;
  }

  #identify(reader: ProtobufReader, start: number, end: number): void {
    this.#readLabels(reader, start, end);
    const { hashes } = this.#context;
    const seriesId = hashes.h64Raw(this.#labels.canonical());
    this.seriesIdLow = Number(BigInt.asIntN(32, seriesId));
    this.seriesIdHigh = Number(BigInt.asIntN(32, seriesId >> 32n));
    const { valueStart, valueEnd } = this.#labels.metricName;
    this.metricId = hashes.h32Raw(reader.bytes.subarray(valueStart, valueEnd)) | 0;
  }

  #readLabels(reader: ProtobufReader, start: number, end: number): void {
    const problem = this.#labels.read(reader, start, end);
    if (problem !== undefined) throw this.#refused(problem);
  }

  /** The error for a series with a problem that is not in its labels; their fields are in `[start, end)`. */
  refusal(reader: ProtobufReader, start: number, end: number, problem: string): AppError {
    return this.#refused(this.#labels.read(reader, start, end) ?? problem);
  }

  #refused(problem: string): AppError {
    return new AppError('bad_series', `The series ${this.#labels.describe()} is refused: ${problem}`);
  }

  /** Appends a row for the series that was read last. */
  #writeRow(bytes: Buffer, day: number): void {
    const { metricName, ranges } = this.#labels;
    this.#date.append(day);
    this.#seriesId.append(this.seriesIdLow, this.seriesIdHigh);
    this.#metricId.append(this.metricId);
    this.#metricName.append(bytes, metricName.valueStart, metricName.valueEnd);
    for (const range of ranges) {
      if (range === metricName) continue;
      this.#labelMap.appendPair(bytes, range.nameStart, range.nameEnd, range.valueStart, range.valueEnd);
    }
    this.#labelMap.endRow();
    if (this.#labelMap.byteLength() > limits.maxInflatedBlockBytes) {
      throw new AppError(
        'body_too_large',
        `The series of this request take more than ${limits.maxInflatedBlockBytes} bytes: a series is stored once for each day of its samples, so send fewer days at a time`,
      );
    }
  }

  /** The `series` block of the request; undefined if it has no rows. */
  finish(): TableBlock | undefined {
    const columns: BlockColumn[] = [
      this.#date,
      this.#seriesId,
      this.#metricId,
      this.#metricName,
      this.#labelMap,
    ];
    const { rows } = this.#date;
    return rows === 0 ? undefined : encodeTableBlock('series', columns, rows);
  }
}

import { Column64, UIntColumn } from '../columnar/columns.ts';
import { type BlockColumn, encodeTableBlock } from '../columnar/native-block.ts';
import type { TableBlock } from '../model/block.ts';
import { HistogramArrays } from './histogram-arrays.ts';
import type { HistogramMessage } from './histogram-message.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { PointColumns, StartTimestampColumn } from './point-columns.ts';

/** Room for the first histograms of a request; most have none. */
const expectedRows = 16;

/** What a row takes without its buckets, bytes: ids, times, numbers, and the ends of nine arrays. */
const rowBytes = 160;

/** Rows of `histograms`. */
export class HistogramColumns {
  readonly points = new PointColumns(expectedRows);
  readonly arrays = new HistogramArrays();
  readonly #budget: MemoryBudget;
  readonly #start = new StartTimestampColumn();
  readonly #isFloat = new UIntColumn('is_float', 'Bool', 8, expectedRows);
  readonly #countInt = new Column64('count_int', 'UInt64', expectedRows);
  readonly #countFloat = new Column64('count_float', 'Float64', expectedRows);
  readonly #sum = new Column64('sum', 'Float64', expectedRows);
  readonly #schema = new UIntColumn('schema', 'Int8', 8, expectedRows);
  readonly #zeroThreshold = new Column64('zero_threshold', 'Float64', expectedRows);
  readonly #zeroCountInt = new Column64('zero_count_int', 'UInt64', expectedRows);
  readonly #zeroCountFloat = new Column64('zero_count_float', 'Float64', expectedRows);
  readonly #resetHint = new UIntColumn('reset_hint', 'UInt8', 8, expectedRows);

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Appends a histogram whose arrays were read into `arrays`. */
  append(histogram: HistogramMessage): void {
    const { timestamp, start, sum, zeroThreshold } = histogram;
    const { int, float, zeroInt, zeroFloat } = histogram.countsByForm;
    this.#start.append(this.points.rows, start.low, start.high);
    this.points.timestamp.append(timestamp.low, timestamp.high);
    this.#isFloat.append(histogram.isFloat ? 1 : 0);
    this.#countInt.append(int.low, int.high);
    this.#countFloat.append(float.low, float.high);
    this.#sum.append(sum.low, sum.high);
    this.#schema.append(histogram.schema);
    this.#zeroThreshold.append(zeroThreshold.low, zeroThreshold.high);
    this.#zeroCountInt.append(zeroInt.low, zeroInt.high);
    this.#zeroCountFloat.append(zeroFloat.low, zeroFloat.high);
    this.#resetHint.append(histogram.resetHint);
    const elements = this.arrays.all.reduce((sum, { pending }) => sum + pending, 0);
    this.#budget.spend(rowBytes + 8 * elements, 'its histograms');
    for (const array of this.arrays.all) array.endRow();
  }

  discard(): void {
    for (const array of this.arrays.all) array.discardRow();
  }

  finish(): TableBlock {
    const columns: BlockColumn[] = [
      ...this.points.columns,
      ...this.#start.columns,
      this.#isFloat,
      this.#countInt,
      this.#countFloat,
      this.#sum,
      this.#schema,
      this.#zeroThreshold,
      this.#zeroCountInt,
      this.#zeroCountFloat,
      this.#resetHint,
      ...this.arrays.all,
    ];
    return encodeTableBlock('histograms', columns, this.points.rows);
  }
}

import { Column64, UIntColumn } from '../../columnar/columns.ts';
import { type BlockColumn, encodeTableBlock } from '../../columnar/native-block.ts';
import { NullableFloat64Column } from '../../columnar/nullable-columns.ts';
import type { TableBlock } from '../../model/block.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import { type Bits, zeroBits } from '../wire/protobuf-values.ts';
import { HistogramArrays } from './histogram-arrays.ts';
import { PointColumns, StartTimestampColumn } from './point-columns.ts';

/** Room for the first histograms of a request; most have none. */
const expectedRows = 16;

/** What a row takes without its buckets, bytes: ids, times, numbers, and the ends of nine arrays. */
const rowBytes = 160;

/** A row of `histograms` but for its arrays; times in milliseconds. */
export interface NativeHistogram {
  readonly timestamp: Readonly<Bits>;
  readonly start: Readonly<Bits>;
  /** An unsigned integer, or a double if `isFloat`. */
  readonly count: Readonly<Bits>;
  readonly isFloat: boolean;
  /** An unsigned integer, or a double if `isZeroFloat`. */
  readonly zeroCount: Readonly<Bits>;
  readonly isZeroFloat: boolean;
  readonly sum: Readonly<Bits>;
  readonly schema: number;
  readonly zeroThreshold: Readonly<Bits>;
  readonly resetHint: number;
  /** The smallest and the largest observation, where the protocol has them and they are known. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

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
  readonly #min = new SparseColumn('min');
  readonly #max = new SparseColumn('max');

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Appends a histogram whose arrays were read into `arrays`. */
  append(histogram: NativeHistogram): void {
    const { timestamp, start, sum, zeroThreshold, count, zeroCount, isFloat, isZeroFloat } = histogram;
    const int = isFloat ? zeroBits : count;
    const float = isFloat ? count : zeroBits;
    const zeroInt = isZeroFloat ? zeroBits : zeroCount;
    const zeroFloat = isZeroFloat ? zeroCount : zeroBits;
    this.#min.set(this.points.rows, histogram.min);
    this.#max.set(this.points.rows, histogram.max);
    this.#start.append(this.points.rows, start.low, start.high);
    this.points.timestamp.append(timestamp.low, timestamp.high);
    this.#isFloat.append(isFloat ? 1 : 0);
    this.#countInt.append(int.low, int.high);
    this.#countFloat.append(float.low, float.high);
    this.#sum.append(sum.low, sum.high);
    this.#schema.append(histogram.schema);
    this.#zeroThreshold.append(zeroThreshold.low, zeroThreshold.high);
    this.#zeroCountInt.append(zeroInt.low, zeroInt.high);
    this.#zeroCountFloat.append(zeroFloat.low, zeroFloat.high);
    this.#resetHint.append(histogram.resetHint);
    let elements = 0;
    for (const array of this.arrays.all) {
      elements += array.pending;
      array.endRow();
    }
    this.#budget.spend(rowBytes + 8 * elements, 'its histograms');
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
      ...this.#min.columns,
      ...this.#max.columns,
    ];
    return encodeTableBlock('histograms', columns, this.points.rows);
  }
}

/** A number that few histograms have. In the block only if any has one. */
class SparseColumn {
  readonly #name: string;
  #column: NullableFloat64Column | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  set(row: number, value: number | undefined): void {
    if (value === undefined) return;
    this.#column ??= new NullableFloat64Column(this.#name, 2 * (row + 1));
    this.#column.set(row, value);
  }

  get columns(): BlockColumn[] {
    return this.#column === undefined ? [] : [this.#column];
  }
}

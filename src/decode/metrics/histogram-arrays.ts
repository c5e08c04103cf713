import { ArrayColumn } from '../../columnar/array-column.ts';
import { Column64, UIntColumn } from '../../columnar/columns.ts';

/** Room for the values of the first histograms of a request; most requests have none. */
const expectedValues = 16;

const array64 = (name: string, type: 'Int64' | 'Float64'): ArrayColumn<Column64> =>
  new ArrayColumn(new Column64(name, type, expectedValues));
const array32 = (name: string, type: 'Int32' | 'UInt32'): ArrayColumn<UIntColumn> =>
  new ArrayColumn(new UIntColumn(name, type, 32, expectedValues));

/** The buckets on one side of zero, as they are sent. */
export class BucketColumns {
  readonly offsets: ArrayColumn<UIntColumn>;
  readonly lengths: ArrayColumn<UIntColumn>;
  readonly deltas: ArrayColumn<Column64>;
  readonly counts: ArrayColumn<Column64>;

  constructor(side: 'negative' | 'positive') {
    this.offsets = array32(`${side}_offsets`, 'Int32');
    this.lengths = array32(`${side}_lengths`, 'UInt32');
    this.deltas = array64(`${side}_deltas`, 'Int64');
    this.counts = array64(`${side}_counts`, 'Float64');
  }

  get arrays(): readonly ArrayColumn<Column64 | UIntColumn>[] {
    return [this.offsets, this.lengths, this.deltas, this.counts];
  }
}

/** The parts of a row that have any number of values. A message is read straight into them. */
export class HistogramArrays {
  readonly negative = new BucketColumns('negative');
  readonly positive = new BucketColumns('positive');
  readonly customValues = array64('custom_values', 'Float64');
  readonly all: readonly ArrayColumn<Column64 | UIntColumn>[] = [
    ...this.negative.arrays,
    ...this.positive.arrays,
    this.customValues,
  ];
}

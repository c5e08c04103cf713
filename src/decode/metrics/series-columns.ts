import { Column64, UIntColumn } from '../../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../columnar/dictionary-columns.ts';
import { type BlockColumn, encodeTableBlock } from '../../columnar/native-block.ts';
import type { TableBlock } from '../../model/block.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { SeriesIds } from './point-columns.ts';
import type { RowDetails } from './row-details.ts';
import type { SeriesLabels } from './series-labels.ts';

/** Room for the first series of a request. */
const expectedRows = 16;

/** Rows of `series`. */
export class SeriesColumns {
  readonly #budget: MemoryBudget;
  readonly #date = new UIntColumn('date', 'Date', 16, expectedRows);
  readonly #seriesId = new Column64('series_id', 'UInt64', expectedRows);
  readonly #metricId = new UIntColumn('metric_id', 'UInt32', 32, expectedRows);
  readonly #metricName = new LowCardinalityColumn('metric_name');
  readonly #labels = new MapColumn('labels');

  readonly #details: RowDetails | undefined;

  constructor(budget: MemoryBudget, details: RowDetails | undefined) {
    this.#budget = budget;
    this.#details = details;
  }

  /**
   * @param bytes the message that the labels are in
   * @param day since 1970
   * @throws AppError `body_too_large`
   */
  append(ids: SeriesIds, labels: SeriesLabels, bytes: Buffer, day: number): void {
    const { metricName, ranges } = labels;
    const bytesBefore = this.#bytesSpent();
    this.#date.append(day);
    this.#seriesId.append(ids.seriesIdLow, ids.seriesIdHigh);
    this.#metricId.append(ids.metricId);
    this.#metricName.append(bytes, metricName.valueStart, metricName.valueEnd);
    for (const range of ranges) {
      if (range === metricName) continue;
      this.#labels.appendPair(bytes, range.nameStart, range.nameEnd, range.valueStart, range.valueEnd);
    }
    this.#labels.endRow();
    this.#details?.append();
    this.#budget.spend(
      this.#bytesSpent() - bytesBefore,
      'the series, which are stored once for each day of their samples: send fewer days at a time',
    );
  }

  #bytesSpent(): number {
    return this.#labels.byteLength() + (this.#details?.byteLength() ?? 0);
  }

  finish(): TableBlock {
    const columns: BlockColumn[] = [
      this.#date,
      this.#seriesId,
      this.#metricId,
      this.#metricName,
      this.#labels,
      ...(this.#details?.columns ?? []),
    ];
    return encodeTableBlock('series', columns, this.#date.rows);
  }
}

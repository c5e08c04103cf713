import { Column64, UIntColumn } from '../../columnar/columns.ts';
import type { BlockColumn } from '../../columnar/native-block.ts';

/** Ids of the series that points belong to, as the bits of unsigned integers. */
export interface SeriesIds {
  readonly metricId: number;
  readonly seriesIdLow: number;
  readonly seriesIdHigh: number;
}

/** The columns that samples, exemplars and histograms have in common. Each series' points come in one go. */
export class PointColumns {
  readonly #metricId: UIntColumn;
  readonly #seriesId: Column64;
  readonly timestamp: Column64;

  constructor(expectedRows: number) {
    this.#metricId = new UIntColumn('metric_id', 'UInt32', 32, expectedRows);
    this.#seriesId = new Column64('series_id', 'UInt64', expectedRows);
    this.timestamp = new Column64('timestamp', "DateTime64(3, 'UTC')", expectedRows);
  }

  get rows(): number {
    return this.timestamp.rows;
  }

  /** Gives the points that were added since the last call to their series. */
  identify({ metricId, seriesIdLow, seriesIdHigh }: SeriesIds): void {
    const points = this.rows - this.#seriesId.rows;
    if (points === 0) return;
    this.#metricId.appendRepeated(metricId, points);
    this.#seriesId.appendRepeated(seriesIdLow, seriesIdHigh, points);
  }

  /** Takes back the points from that row on. */
  truncate(rows: number): void {
    this.#metricId.rows = this.#seriesId.rows = this.timestamp.rows = rows;
  }

  get columns(): BlockColumn[] {
    return [this.#metricId, this.#seriesId, this.timestamp];
  }
}

/** Since when a counter counts, in milliseconds; 0 for unknown. In the block only if any point has one. */
export class StartTimestampColumn {
  #column: Column64 | undefined;

  /** @param row of the point, counted from 0 */
  append(row: number, low: number, high: number): void {
    if (this.#column === undefined) {
      if (low === 0 && high === 0) return;
      this.#column = new Column64('start_timestamp', "DateTime64(3, 'UTC')", 2 * (row + 1));
      this.#column.appendRepeated(0, 0, row);
    }
    this.#column.append(low, high);
  }

  /** Takes back what was appended from that row on. */
  truncate(rows: number): void {
    if (rows === 0) this.#column = undefined;
    else if (this.#column !== undefined) this.#column.rows = Math.min(rows, this.#column.rows);
  }

  get columns(): BlockColumn[] {
    return this.#column === undefined ? [] : [this.#column];
  }
}

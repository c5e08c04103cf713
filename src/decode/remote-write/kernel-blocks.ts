/** The blocks of what the kernel of remote write took of a message. */
import { type BlockColumn, encodeTableBlock, specsOf } from '../../columnar/native-block.ts';
import type { TableBlock } from '../../model/block.ts';
import type { ColumnSpec } from '../../model/column.ts';
import { KernelColumn, KernelMapColumn, KernelTextColumn } from './kernel-columns.ts';

/** A global of the kernel. */
export interface Global {
  readonly value: number;
}

/** Where the columns are, and how much is in them: `kernel/memory-layout.ts`. */
export interface KernelColumnExports {
  readonly metricIds: Global;
  readonly seriesIds: Global;
  readonly timestamps: Global;
  readonly values: Global;
  readonly newDates: Global;
  readonly newSeriesIds: Global;
  readonly newMetricIds: Global;
  readonly newMetricNames: Global;
  readonly metricNames: Global;
  readonly newLabelEnds: Global;
  readonly newLabelKeys: Global;
  readonly labelNames: Global;
  readonly keysOffset: Global;
  readonly newLabelValues: Global;
  readonly rows: Global;
  readonly newRows: Global;
  readonly newPairs: Global;
  readonly newValueBytes: Global;
}

export class KernelBlocks {
  readonly #kernel: KernelColumnExports;
  readonly #samples: readonly BlockColumn[];
  readonly #series: readonly BlockColumn[];
  /** Made once: there are as many blocks as requests. */
  readonly #sampleSpecs: readonly ColumnSpec[];
  readonly #seriesSpecs: readonly ColumnSpec[];

  constructor(kernel: KernelColumnExports, memory: Uint8Array) {
    const fixed = (name: string, type: string, address: Global, width: number) =>
      new KernelColumn(name, type, memory, address.value, width);
    const keysOffset = kernel.keysOffset.value;
    const labelValues = () => ({
      start: kernel.newLabelValues.value,
      byteLength: kernel.newValueBytes.value,
    });
    this.#kernel = kernel;
    this.#samples = [
      fixed('metric_id', 'UInt32', kernel.metricIds, 4),
      fixed('series_id', 'UInt64', kernel.seriesIds, 8),
      fixed('timestamp', "DateTime64(3, 'UTC')", kernel.timestamps, 8),
      fixed('value', 'Float64', kernel.values, 8),
    ];
    this.#series = [
      fixed('date', 'Date', kernel.newDates, 2),
      fixed('series_id', 'UInt64', kernel.newSeriesIds, 8),
      fixed('metric_id', 'UInt32', kernel.newMetricIds, 4),
      new KernelTextColumn(
        'metric_name',
        memory,
        kernel.metricNames.value,
        keysOffset,
        kernel.newMetricNames.value,
      ),
      new KernelMapColumn(
        'labels',
        kernel.newLabelEnds.value,
        () => kernel.newPairs.value,
        labelValues,
        memory,
        kernel.labelNames.value,
        keysOffset,
        kernel.newLabelKeys.value,
      ),
    ];
    this.#sampleSpecs = specsOf(this.#samples);
    this.#seriesSpecs = specsOf(this.#series);
  }

  /** Those that have rows, with the series before their samples. */
  finish(): TableBlock[] {
    const samples = this.#kernel.rows.value;
    const series = this.#kernel.newRows.value;
    const blocks: TableBlock[] = [];
    if (series > 0) blocks.push(encodeTableBlock('series', this.#series, series, this.#seriesSpecs));
    if (samples > 0) blocks.push(encodeTableBlock('samples', this.#samples, samples, this.#sampleSpecs));
    return blocks;
  }
}

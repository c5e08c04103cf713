import type { TableBlock } from '../../../model/block.ts';
import type { DecodeCounts } from '../../../model/counts.ts';
import type { MemoryBudget } from '../../memory-budget.ts';
import { ExemplarColumns } from '../../metrics/exemplar-columns.ts';
import { HistogramColumns, type NativeHistogram } from '../../metrics/histogram-columns.ts';
import { roomProblem } from '../../metrics/metric-rows.ts';
import { type Sample, SampleColumns } from '../../metrics/sample-columns.ts';
import type { SeriesResolver } from '../../metrics/series-resolver.ts';
import { highBits, lowBits } from '../../wire/double-bits.ts';
import type { MetricLabels, SeriesVariant } from './metric-labels.ts';
import type { PointExemplar } from './point-exemplar.ts';
import type { PointHeader } from './point-header.ts';

const dayMs = 86_400_000;
/** Prometheus' marker for the end of a series, the halves of a double (model/value/value.go, StaleNaN). */
export const staleMarker = { low: 0x0000_0002, high: 0x7ff0_0000 } as const;

/** The rows of data points: the header's point, as samples of one or several series. */
export class SampleWriter implements Sample {
  valueLow = 0;
  valueHigh = 0;
  timestampLow = 0;
  timestampHigh = 0;
  startLow = 0;
  startHigh = 0;
  readonly #header: PointHeader;
  readonly #labels: MetricLabels;
  readonly #series: SeriesResolver;
  readonly #budget: MemoryBudget;
  readonly #samples: SampleColumns;
  readonly #days = [0];
  /** The first sample of the point under way. */
  #pointStart = 0;
  /** Made for the first of their kind: most requests have none. */
  #histograms: HistogramColumns | undefined;
  #exemplars: ExemplarColumns | undefined;

  constructor(parts: {
    readonly header: PointHeader;
    readonly labels: MetricLabels;
    readonly series: SeriesResolver;
    readonly budget: MemoryBudget;
    /** Rows of samples to make room for. */
    readonly expectedSamples: number;
  }) {
    this.#header = parts.header;
    this.#labels = parts.labels;
    this.#series = parts.series;
    this.#budget = parts.budget;
    this.#samples = new SampleColumns(parts.expectedSamples);
  }

  /** The header holds another point. */
  beginPoint(): void {
    const { timestampMs, startMs } = this.#header;
    // The lowest 32 bits of an integer up to 2^53.
    this.timestampLow = timestampMs | 0;
    this.timestampHigh = Math.floor(timestampMs / 0x1_0000_0000);
    this.startLow = startMs | 0;
    this.startHigh = Math.floor(startMs / 0x1_0000_0000);
    this.#days[0] = Math.floor(timestampMs / dayMs);
    this.#pointStart = this.#samples.points.rows;
  }

  /** Takes back the samples of the point under way, which cannot be stored as a whole. */
  discardPoint(): void {
    this.#samples.truncate(this.#pointStart);
  }

  /**
   * Writes a sample of one of the series that the point makes; a stale marker if the point has no value.
   * @param number of the label that the series has beside those of the point
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why the series cannot be stored, or undefined
   */
  add(variant: SeriesVariant, value: number, number = 0): string | undefined {
    return this.addBits(variant, lowBits(value), highBits(value), number);
  }

  /** The same with the bits of the value. */
  addBits(variant: SeriesVariant, low: number, high: number, number = 0): string | undefined {
    const { isUnrecorded } = this.#header;
    this.valueLow = isUnrecorded ? staleMarker.low : low;
    this.valueHigh = isUnrecorded ? staleMarker.high : high;
    this.#labels.choose(variant, number);
    const problem =
      roomProblem(this.#samples.points.rows, 'samples') ??
      this.#series.find() ??
      this.#series.writeRows(this.#days);
    if (problem !== undefined) return problem;
    this.#samples.append(this);
    this.#samples.points.identify(this.#series);
    return undefined;
  }

  /** Whose arrays a message is read straight into. */
  get histograms(): HistogramColumns {
    this.#histograms ??= new HistogramColumns(this.#budget);
    return this.#histograms;
  }

  /** Writes the histogram whose arrays were read into `histograms`, or drops them. */
  addHistogram(histogram: NativeHistogram): string | undefined {
    const { histograms } = this;
    const problem =
      roomProblem(histograms.points.rows, 'histograms') ??
      this.#series.find() ??
      this.#series.writeRows(this.#days);
    if (problem !== undefined) {
      histograms.discard();
      return problem;
    }
    histograms.append(histogram);
    histograms.points.identify(this.#series);
    return undefined;
  }

  /**
   * Writes an exemplar of the series that was chosen last.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why it cannot be stored, or undefined
   */
  addExemplar(exemplar: PointExemplar): string | undefined {
    this.#exemplars ??= new ExemplarColumns(this.#budget);
    const exemplars = this.#exemplars;
    const problem =
      roomProblem(exemplars.points.rows, 'exemplars') ??
      exemplars.readLabels(exemplar) ??
      this.#series.find() ??
      this.#series.writeRows([Math.floor(exemplar.timestampMs / dayMs)]);
    if (problem !== undefined) return problem;
    exemplars.append(exemplar);
    exemplars.points.identify(this.#series);
    return undefined;
  }

  /** The labels of the series that was chosen last, for messages. */
  describeSeries(): string {
    return this.#series.describe();
  }

  get counts(): Pick<DecodeCounts, 'samples' | 'histograms' | 'exemplars'> {
    return {
      samples: this.#samples.points.rows,
      histograms: this.#histograms?.points.rows ?? 0,
      exemplars: this.#exemplars?.points.rows ?? 0,
    };
  }

  /** A block for each kind of row that there is. */
  finish(): TableBlock[] {
    return [this.#samples, this.#exemplars, this.#histograms].flatMap((columns) =>
      columns !== undefined && columns.points.rows > 0 ? [columns.finish()] : [],
    );
  }
}

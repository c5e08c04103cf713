import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import type { DecodeCounts } from '../model/counts.ts';
import { ExemplarColumns } from './exemplar-columns.ts';
import { HistogramColumns } from './histogram-columns.ts';
import { HistogramMessage } from './histogram-message.ts';
import type { LabelFields } from './label-list.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { SeriesIds } from './point-columns.ts';
import type { ProtobufReader } from './protobuf-reader.ts';
import { SampleColumns, SampleMessage } from './sample-columns.ts';

const dayMs = 86_400_000;

export interface MetricRowsOptions {
  readonly reader: ProtobufReader;
  /** Of the exemplars' own labels. */
  readonly exemplarLabels: LabelFields;
  readonly budget: MemoryBudget;
  /** Rows of samples to make room for. */
  readonly expectedSamples: number;
  /** Whether samples and histograms have start timestamps, as in version 2.0. */
  readonly hasStart: boolean;
}

/**
 * The points of a request, series by series: each of the `add…` reads a message and appends it, or returns why it
 * cannot be stored. They throw AppError `bad_protobuf` and `body_too_large`.
 */
export class MetricRows {
  /** Days of the points of the series under way, since 1970, neighbours merged. */
  readonly days: number[] = [];
  #lastDay = -1;
  readonly #reader: ProtobufReader;
  readonly #sample: SampleMessage;
  readonly #samples: SampleColumns;
  readonly #exemplars: ExemplarColumns;
  readonly #histograms: HistogramColumns;
  readonly #histogram: HistogramMessage;

  constructor(options: MetricRowsOptions) {
    const { reader, exemplarLabels, budget, expectedSamples, hasStart } = options;
    this.#reader = reader;
    this.#sample = new SampleMessage(hasStart);
    this.#samples = new SampleColumns(expectedSamples);
    this.#exemplars = new ExemplarColumns(exemplarLabels, budget);
    this.#histograms = new HistogramColumns(budget);
    this.#histogram = new HistogramMessage(reader, this.#histograms.arrays, hasStart);
  }

  beginSeries(): void {
    this.days.length = 0;
    this.#lastDay = -1;
  }

  addSample(end: number): string | undefined {
    const sample = this.#sample;
    sample.read(this.#reader, end);
    checkRoom(this.#samples.points.rows, 'samples');
    const problem =
      timeProblem('timestamp', sample.timestampLow, sample.timestampHigh) ??
      timeProblem('start timestamp', sample.startLow, sample.startHigh);
    if (problem !== undefined) return problem;
    this.#samples.append(sample);
    this.#noteDay(sample.timestampLow, sample.timestampHigh);
    return undefined;
  }

  addHistogram(end: number): string | undefined {
    const histogram = this.#histogram;
    checkRoom(this.#histograms.points.rows, 'histograms');
    const problem =
      histogram.read(end) ??
      timeProblem('timestamp', histogram.timestamp.low, histogram.timestamp.high) ??
      timeProblem('start timestamp', histogram.start.low, histogram.start.high);
    if (problem !== undefined) {
      this.#histograms.discard();
      return problem;
    }
    this.#histograms.append(histogram);
    this.#noteDay(histogram.timestamp.low, histogram.timestamp.high);
    return undefined;
  }

  addExemplar(end: number): string | undefined {
    const exemplars = this.#exemplars;
    checkRoom(exemplars.points.rows, 'exemplars');
    const problem =
      exemplars.read(this.#reader, end) ??
      timeProblem('timestamp', exemplars.timestampLow, exemplars.timestampHigh);
    if (problem !== undefined) return problem;
    exemplars.append();
    this.#noteDay(exemplars.timestampLow, exemplars.timestampHigh);
    return undefined;
  }

  /** Gives the points of the series under way their ids. */
  endSeries(series: SeriesIds): void {
    this.#samples.points.identify(series);
    this.#exemplars.points.identify(series);
    this.#histograms.points.identify(series);
  }

  #noteDay(timestampLow: number, timestampHigh: number): void {
    const day = Math.floor(milliseconds(timestampLow, timestampHigh) / dayMs);
    if (day !== this.#lastDay) this.days.push(day);
    this.#lastDay = day;
  }

  get counts(): Pick<DecodeCounts, 'samples' | 'histograms' | 'exemplars'> {
    return {
      samples: this.#samples.points.rows,
      histograms: this.#histograms.points.rows,
      exemplars: this.#exemplars.points.rows,
    };
  }

  /** A block for each kind of point that there is. */
  finish(): TableBlock[] {
    return [this.#samples, this.#exemplars, this.#histograms]
      .filter(({ points }) => points.rows > 0)
      .map((columns) => columns.finish());
  }
}

const milliseconds = (low: number, high: number): number => high * 0x1_0000_0000 + (low >>> 0);

function timeProblem(what: string, low: number, high: number): string | undefined {
  const timestampMs = milliseconds(low, high);
  if (timestampMs >= 0 && timestampMs <= limits.maxSampleTimestampMs) return undefined;
  return `its ${what} is ${timestampMs} ms, from 0 to ${limits.maxSampleTimestampMs} are allowed`;
}

function checkRoom(rows: number, what: string): void {
  if (rows < limits.maxSamplesPerRequest) return;
  throw new AppError('body_too_large', `The request has more than ${limits.maxSamplesPerRequest} ${what}`);
}

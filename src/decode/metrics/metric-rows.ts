import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import type { TableBlock } from '../../model/block.ts';
import type { DecodeCounts } from '../../model/counts.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { ProtobufReader } from '../wire/protobuf-reader.ts';
import { ExemplarColumns } from './exemplar-columns.ts';
import { ExemplarMessage } from './exemplar-message.ts';
import { HistogramColumns } from './histogram-columns.ts';
import { HistogramMessage } from './histogram-message.ts';
import type { LabelFields } from './label-list.ts';
import type { SeriesIds } from './point-columns.ts';
import { SampleColumns, SampleMessage } from './sample-columns.ts';

const dayMs = 86_400_000;

export interface MetricRowsOptions {
  readonly reader: ProtobufReader;
  /** Makes the fields for the exemplars' own labels. */
  readonly exemplarLabels: () => LabelFields;
  readonly budget: MemoryBudget;
  /** Rows of samples to make room for. */
  readonly expectedSamples: number;
  /** Whether samples and histograms have start timestamps, as in version 2.0. */
  readonly hasStart: boolean;
}

/**
 * The points of a request, series by series: each of the `add…` reads a message and appends it, or returns
 * why it cannot be stored. They throw AppError `bad_protobuf` and `body_too_large`.
 */
export class MetricRows {
  /** Days of the points of the series under way, since 1970, neighbours merged. */
  readonly days: number[] = [];
  #lastDay = -1;
  readonly #reader: ProtobufReader;
  readonly #sample: SampleMessage;
  readonly #samples: SampleColumns;
  /** Made for the first of their kind: most requests have none. */
  #exemplars: ExemplarReader | undefined;
  #histograms: HistogramReader | undefined;
  /** Messages, stored or refused: reading them is what takes time. */
  #exemplarsRead = 0;
  #histogramsRead = 0;
  readonly #options: MetricRowsOptions;

  constructor(options: MetricRowsOptions) {
    this.#options = options;
    this.#reader = options.reader;
    this.#sample = new SampleMessage(options.hasStart);
    this.#samples = new SampleColumns(options.expectedSamples);
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
    this.#histograms ??= histogramReader(this.#options);
    const { message: histogram, columns } = this.#histograms;
    checkRoom(this.#histogramsRead++, 'histograms');
    const problem =
      histogram.read(end) ??
      timeProblem('timestamp', histogram.timestamp.low, histogram.timestamp.high) ??
      timeProblem('start timestamp', histogram.start.low, histogram.start.high);
    if (problem !== undefined) {
      columns.discard();
      return problem;
    }
    columns.append(histogram);
    this.#noteDay(histogram.timestamp.low, histogram.timestamp.high);
    return undefined;
  }

  addExemplar(end: number): string | undefined {
    this.#exemplars ??= exemplarReader(this.#options);
    const { message: exemplar, columns } = this.#exemplars;
    checkRoom(this.#exemplarsRead++, 'exemplars');
    exemplar.read(this.#reader, end);
    const problem =
      columns.readLabels(exemplar) ?? timeProblem('timestamp', exemplar.timestampLow, exemplar.timestampHigh);
    if (problem !== undefined) return problem;
    columns.append(exemplar);
    this.#noteDay(exemplar.timestampLow, exemplar.timestampHigh);
    return undefined;
  }

  /** Gives the points of the series under way their ids. */
  endSeries(series: SeriesIds): void {
    this.#samples.points.identify(series);
    this.#exemplars?.columns.points.identify(series);
    this.#histograms?.columns.points.identify(series);
  }

  #noteDay(timestampLow: number, timestampHigh: number): void {
    const day = Math.floor(milliseconds(timestampLow, timestampHigh) / dayMs);
    if (day !== this.#lastDay) this.days.push(day);
    this.#lastDay = day;
  }

  get counts(): Pick<DecodeCounts, 'samples' | 'histograms' | 'exemplars'> {
    return {
      samples: this.#samples.points.rows,
      histograms: this.#histograms?.columns.points.rows ?? 0,
      exemplars: this.#exemplars?.columns.points.rows ?? 0,
    };
  }

  /** A block for each kind of point that there is. */
  finish(): TableBlock[] {
    return [this.#samples, this.#exemplars?.columns, this.#histograms?.columns].flatMap((columns) =>
      columns !== undefined && columns.points.rows > 0 ? [columns.finish()] : [],
    );
  }
}

interface HistogramReader {
  readonly columns: HistogramColumns;
  /** Reads into the columns. */
  readonly message: HistogramMessage;
}

function histogramReader({ reader, budget, hasStart }: MetricRowsOptions): HistogramReader {
  const columns = new HistogramColumns(budget);
  return { columns, message: new HistogramMessage(reader, columns.arrays, hasStart) };
}

interface ExemplarReader {
  readonly columns: ExemplarColumns;
  readonly message: ExemplarMessage;
}

const exemplarReader = ({ exemplarLabels, budget }: MetricRowsOptions): ExemplarReader => ({
  columns: new ExemplarColumns(budget),
  message: new ExemplarMessage(exemplarLabels()),
});

const milliseconds = (low: number, high: number): number => high * 0x1_0000_0000 + (low >>> 0);

function timeProblem(what: string, low: number, high: number): string | undefined {
  const timestampMs = milliseconds(low, high);
  if (timestampMs >= 0 && timestampMs <= limits.maxSampleTimestampMs) return undefined;
  return `its ${what} is ${timestampMs} ms, from 0 to ${limits.maxSampleTimestampMs} are allowed`;
}

const maxPerRequest = {
  samples: limits.maxSamplesPerRequest,
  histograms: limits.maxHistogramsPerRequest,
  exemplars: limits.maxExemplarsPerRequest,
  'series without points': limits.maxEmptySeriesPerRequest,
} as const;

/** @throws AppError `body_too_large` when there is no room for one more */
export function checkRoom(present: number, what: keyof typeof maxPerRequest): void {
  const problem = roomProblem(present, what);
  if (problem !== undefined) throw new AppError('body_too_large', `T${problem.slice(1)}`);
}

/** @returns why there is no room for one more, or undefined */
export const roomProblem = (present: number, what: keyof typeof maxPerRequest): string | undefined =>
  present < maxPerRequest[what] ? undefined : `the request has more than ${maxPerRequest[what]} ${what}`;

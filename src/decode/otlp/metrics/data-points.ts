import type { Lost, Refusals } from '../../refusals.ts';
import { fieldTag, type ProtobufReader, type TextRange } from '../../wire/protobuf-reader.ts';
import { ExponentialPoint } from './exponential-point.ts';
import { HistogramPoint } from './histogram-point.ts';
import type { MetricLabels } from './metric-labels.ts';
import type { MetricOrigin } from './metric-origin.ts';
import { NumberPoint } from './number-point.ts';
import { PointExemplar } from './point-exemplar.ts';
import type { PointHeader } from './point-header.ts';
import type { PointReader } from './point-reader.ts';
import type { SampleWriter } from './sample-writer.ts';
import { SummaryPoint } from './summary-point.ts';

/** Of the messages `Gauge`, `Sum`, `Histogram`, `ExponentialHistogram` and `Summary` alike. */
const dataPoint = fieldTag(1, 'bytes');

const onePoint: Lost = { points: 1 };
const oneExemplar: Lost = { exemplars: 1 };
const nothing: Lost = {};

export interface DataPointParts {
  readonly reader: ProtobufReader;
  readonly origin: MetricOrigin;
  readonly header: PointHeader;
  readonly labels: MetricLabels;
  readonly rows: SampleWriter;
  readonly refusals: Refusals;
}

/** Reads the data points of metrics, of all kinds, and writes their rows. */
export class DataPoints {
  /** Points that were stored. */
  stored = 0;
  readonly #parts: DataPointParts;
  readonly #readers: readonly (PointReader | undefined)[];
  readonly #exemplar: PointExemplar;

  constructor(parts: DataPointParts) {
    const { reader, header, rows } = parts;
    const number = new NumberPoint(reader, header);
    const readers: (PointReader | undefined)[] = [];
    readers[5] = number;
    readers[7] = number;
    readers[9] = new HistogramPoint(reader, header);
    readers[10] = new ExponentialPoint(reader, header, rows);
    readers[11] = new SummaryPoint(reader, header);
    this.#parts = parts;
    this.#readers = readers;
    this.#exemplar = new PointExemplar(reader);
  }

  /**
   * Reads the points of the origin's metric.
   * @param data of the metric, whose kind the origin has
   * @throws AppError `bad_protobuf`, `body_too_large`
   */
  read({ start, end }: TextRange): void {
    const { reader, origin } = this.#parts;
    const point = this.#readers[origin.kind];
    if (point === undefined) return;
    reader.position = start;
    let pointEnd = reader.nextField(dataPoint, end);
    while (pointEnd >= 0) {
      this.#readPoint(point, pointEnd);
      reader.position = pointEnd;
      pointEnd = reader.nextField(dataPoint, end);
    }
  }

  #readPoint(point: PointReader, end: number): void {
    const { header, labels, rows } = this.#parts;
    let problem = point.read(end);
    labels.beginPoint();
    problem ??= header.timeProblem();
    if (problem === undefined) {
      rows.beginPoint();
      problem = point.store(rows);
      if (problem !== undefined) rows.discardPoint();
    }
    if (problem !== undefined) {
      this.#refuse(onePoint, 'A data point', problem);
      return;
    }
    this.stored++;
    if (labels.warning !== undefined) this.#warn('A data point', labels.warning);
    if (header.exemplarsStart >= 0) this.#readExemplars(point, end);
  }

  #readExemplars(point: PointReader, end: number): void {
    const { reader, header } = this.#parts;
    reader.position = header.exemplarsStart;
    let exemplarEnd = reader.nextField(header.exemplarTag, end);
    while (exemplarEnd >= 0) {
      this.#readExemplar(point, exemplarEnd);
      reader.position = exemplarEnd;
      exemplarEnd = reader.nextField(header.exemplarTag, end);
    }
  }

  #readExemplar(point: PointReader, end: number): void {
    const { header, labels, rows } = this.#parts;
    const exemplar = this.#exemplar;
    let problem = exemplar.read(end, header.timestampMs);
    if (problem === undefined) {
      const { variant, number } = point.exemplarSeries(exemplar.value);
      labels.choose(variant, number);
      problem = rows.addExemplar(exemplar);
    }
    if (problem !== undefined) this.#refuse(oneExemplar, 'An exemplar', problem);
    else if (exemplar.labels.warning !== undefined) this.#warn('An exemplar', exemplar.labels.warning);
  }

  #warn(what: string, warning: string): void {
    const { rows, refusals } = this.#parts;
    refusals.add(nothing, () => `${what} of the series ${rows.describeSeries()}: ${warning}`);
  }

  #refuse(lost: Lost, what: string, problem: string): void {
    const { rows, refusals } = this.#parts;
    refusals.add(lost, () => `${what} of the series ${rows.describeSeries()} is refused: ${problem}`);
  }
}

import { AppError } from '../../errors.ts';
import type { LabelFields } from '../metrics/label-list.ts';
import { checkRoom, type MetricRows } from '../metrics/metric-rows.ts';
import type { SeriesResolver } from '../metrics/series-resolver.ts';
import type { Lost, Refusals } from '../refusals.ts';
import type { ProtobufReader } from '../wire/protobuf-reader.ts';

/** Tags of a `TimeSeries` message's fields beside its labels; they differ by version. */
export interface TimeSeriesTags {
  readonly sample: number;
  readonly exemplar: number;
  readonly histogram: number;
}

export interface TimeSeriesParts {
  readonly reader: ProtobufReader;
  readonly tags: TimeSeriesTags;
  readonly labels: LabelFields;
  readonly series: SeriesResolver;
  readonly rows: MetricRows;
  readonly refusals: Refusals;
  /** Reads or skips a field that is neither a label nor a point. */
  readOther(tag: number, end: number): void;
}

/** What became of a series: stored at least in part, refused with all its points, or none were there. */
export type SeriesVerdict = 'stored' | 'refused' | 'empty';

const oneSample: Lost = { samples: 1, histograms: 0, exemplars: 0 };
const oneHistogram: Lost = { samples: 0, histograms: 1, exemplars: 0 };
const oneExemplar: Lost = { samples: 0, histograms: 0, exemplars: 1 };

/**
 * Reads `TimeSeries` messages of either version. The labels come first: what a series is must be known before
 * anything of it is stored. No object and no string is made for a sample of a known series.
 */
export class TimeSeriesReader {
  readonly #parts: TimeSeriesParts;
  /** Where the fields of the series under way that are not labels begin. */
  #pointsStart = 0;
  #emptySeries = 0;

  constructor(parts: TimeSeriesParts) {
    this.#parts = parts;
  }

  /**
   * Reads the message up to `end`, and stores its points, and the row of the series itself
   * where one is needed.
   * @throws AppError `bad_protobuf`, `body_too_large`; `bad_series` if `refusals` takes nothing in part
   */
  read(end: number): SeriesVerdict {
    const { series, rows } = this.#parts;
    if (!this.#takeLabels(end)) {
      // Whatever they say: what is no message is refused all the same.
      series.readLabels();
      checkRoom(this.#emptySeries++, 'series without points');
      return 'empty';
    }
    const problem = series.find();
    if (problem !== undefined) {
      this.#refuse(end, problem);
      return 'refused';
    }
    rows.beginSeries();
    this.#addPoints(end);
    const unwritten = series.writeRows(rows.days);
    // Its points are among the rows already.
    if (unwritten !== undefined)
      throw new AppError('body_too_large', `Series ${series.describe()}: ${unwritten}`);
    rows.endSeries(series);
    return 'stored';
  }

  /** @returns whether there are any points */
  #takeLabels(end: number): boolean {
    const { reader, labels, tags } = this.#parts;
    let hasPoints = false;
    labels.begin();
    this.#pointsStart = end;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (labels.take(reader, tag, fieldStart, end)) continue;
      reader.skip(tag, end);
      if (this.#pointsStart === end) this.#pointsStart = fieldStart;
      hasPoints ||= tag === tags.sample || tag === tags.histogram || tag === tags.exemplar;
    }
    return hasPoints;
  }

  #refuse(end: number, problem: string): void {
    const { series, refusals } = this.#parts;
    refusals.add(this.#countPoints(end), () => `The series ${series.describe()} is refused: ${problem}`);
  }

  #addPoints(end: number): void {
    const { reader, tags, rows } = this.#parts;
    reader.position = this.#pointsStart;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === tags.sample) {
        this.#note(rows.addSample(reader.lengthEnd(end)), 'A sample', oneSample);
      } else if (tag === tags.histogram) {
        this.#note(rows.addHistogram(reader.lengthEnd(end)), 'A histogram', oneHistogram);
      } else if (tag === tags.exemplar) {
        this.#note(rows.addExemplar(reader.lengthEnd(end)), 'An exemplar', oneExemplar);
      } else {
        this.#parts.readOther(tag, end);
      }
    }
  }

  #note(problem: string | undefined, what: string, lost: Lost): void {
    if (problem === undefined) return;
    const { series, refusals } = this.#parts;
    refusals.add(lost, () => `${what} of the series ${series.describe()} is refused: ${problem}`);
  }

  #countPoints(end: number): Lost {
    const { reader, tags } = this.#parts;
    let samples = 0;
    let histograms = 0;
    let exemplars = 0;
    reader.position = this.#pointsStart;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === tags.sample) samples++;
      else if (tag === tags.histogram) histograms++;
      else if (tag === tags.exemplar) exemplars++;
      reader.skip(tag, end);
    }
    return { samples, histograms, exemplars };
  }
}

import { type SeriesVariant, seriesVariants } from './metric-labels.ts';
import type { SampleWriter } from './sample-writer.ts';

export interface ExemplarSeries {
  readonly variant: SeriesVariant;
  /** Of the label that the variant has. */
  readonly number: number;
}

/** For points that make one series. */
export const plainSeries: ExemplarSeries = { variant: seriesVariants.plain, number: 0 };

/** Reads data points of one kind. One object is filled again and again. */
export interface PointReader {
  /**
   * Reads the message up to `end`, what all points have into the header.
   * @throws AppError `bad_protobuf`
   * @returns why it cannot be stored, or undefined
   */
  read(end: number): string | undefined;
  /**
   * Writes the rows of the point that was read last.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why they cannot be stored, or undefined
   */
  store(rows: SampleWriter): string | undefined;
  /** Which of its series an exemplar with that value belongs to. */
  exemplarSeries(value: number): ExemplarSeries;
}

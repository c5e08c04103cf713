/**
 * Prometheus Remote Write 1.0 (`schema/proto/remote.proto`): a protobuf `WriteRequest` into rows of `samples`
 * and `series`. Exemplars, histograms and metadata are skipped.
 */
import { Column64, UIntColumn } from '../columnar/columns.ts';
import { encodeTableBlock } from '../columnar/native-block.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import { fieldTag, ProtobufReader } from './protobuf-reader.ts';
import { seriesLabel } from './series-labels.ts';
import { type SeriesContext, SeriesResolver } from './series-resolver.ts';
import type { DecodedBody, DecodeTask } from './task.ts';

const requestTimeseries = fieldTag(1, 'bytes');
const seriesSample = fieldTag(2, 'bytes');
const sampleValue = fieldTag(1, 'fixed64');
const sampleTimestamp = fieldTag(2, 'varint');

const dayMs = 86_400_000;

/** Typical requests have 150 to 400 bytes a sample; this only sizes the first allocation. */
const typicalSampleBytes = 150;

/**
 * @param message the decompressed body
 * @throws AppError `bad_protobuf`, `bad_series`, `body_too_large`
 */
export function decodeRemoteWriteV1(
  message: Buffer,
  task: Pick<DecodeTask, 'tenant' | 'dataset' | 'sequence'>,
  context: SeriesContext,
): DecodedBody {
  const walk = new WriteRequestWalk(message, new SeriesResolver(task, context));
  walk.readRequest();
  return walk.finish();
}

/** One pass over the bytes of a message: no object and no string for a sample of a known series. */
class WriteRequestWalk {
  readonly #reader: ProtobufReader;
  readonly #series: SeriesResolver;

  readonly #metricId: UIntColumn;
  readonly #seriesId: Column64;
  readonly #timestamp: Column64;
  /** As bits: the stale marker is a NaN with a payload. */
  readonly #value: Column64;

  /** Days of the samples of the series under way, neighbours merged. */
  readonly #days: number[] = [];
  #lastDay = -1;
  /** A timestamp of the series under way that is out of range. */
  #badTimestampMs: number | undefined;

  constructor(message: Buffer, series: SeriesResolver) {
    this.#reader = new ProtobufReader(message);
    this.#series = series;
    const expectedRows = Math.ceil(message.length / typicalSampleBytes);
    this.#metricId = new UIntColumn('metric_id', 'UInt32', 32, expectedRows);
    this.#seriesId = new Column64('series_id', 'UInt64', expectedRows);
    this.#timestamp = new Column64('timestamp', "DateTime64(3, 'UTC')", expectedRows);
    this.#value = new Column64('value', 'Float64', expectedRows);
  }

  readRequest(): void {
    const reader = this.#reader;
    const end = reader.bytes.length;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === requestTimeseries) this.#readSeries(reader.lengthEnd(end));
      else reader.skip(tag, end);
    }
  }

  /** Finds the bytes of the labels and appends the samples; then the labels give the samples their ids. */
  #readSeries(end: number): void {
    const reader = this.#reader;
    const start = reader.position;
    const firstRow = this.#timestamp.rows;
    let labelsStart = start;
    let labelsEnd = start;
    this.#days.length = 0;
    this.#lastDay = -1;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (tag === seriesLabel) {
        if (labelsStart === labelsEnd) labelsStart = fieldStart;
        labelsEnd = reader.lengthEnd(end);
        reader.position = labelsEnd;
      } else if (tag === seriesSample) {
        this.#readSample(reader.lengthEnd(end));
      } else {
        reader.skip(tag, end);
      }
    }
    const samples = this.#timestamp.rows - firstRow;
    if (samples === 0) return;
    const series = this.#series;
    if (this.#badTimestampMs !== undefined) {
      throw series.refusal(
        reader,
        labelsStart,
        labelsEnd,
        `a sample has the timestamp ${this.#badTimestampMs} ms, from 0 to ${limits.maxSampleTimestampMs} are allowed`,
      );
    }
    series.resolve(reader, labelsStart, labelsEnd, this.#days);
    reader.position = end;
    this.#metricId.appendRepeated(series.metricId, samples);
    this.#seriesId.appendRepeated(series.seriesIdLow, series.seriesIdHigh, samples);
  }

  #readSample(end: number): void {
    const reader = this.#reader;
    let valueLow = 0;
    let valueHigh = 0;
    let timestampLow = 0;
    let timestampHigh = 0;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === sampleValue) {
        reader.fixed64(end);
        valueLow = reader.low;
        valueHigh = reader.high;
      } else if (tag === sampleTimestamp) {
        reader.varint64(end);
        timestampLow = reader.low;
        timestampHigh = reader.high;
      } else {
        reader.skip(tag, end);
      }
    }
    if (this.#timestamp.rows === limits.maxSamplesPerRequest) {
      throw new AppError(
        'body_too_large',
        `The request has more than ${limits.maxSamplesPerRequest} samples`,
      );
    }
    this.#noteDay(timestampHigh * 0x1_0000_0000 + (timestampLow >>> 0));
    this.#timestamp.append(timestampLow, timestampHigh);
    this.#value.append(valueLow, valueHigh);
  }

  #noteDay(timestampMs: number): void {
    if (timestampMs < 0 || timestampMs > limits.maxSampleTimestampMs) this.#badTimestampMs = timestampMs;
    const day = Math.floor(timestampMs / dayMs);
    if (day !== this.#lastDay) this.#days.push(day);
    this.#lastDay = day;
  }

  finish(): DecodedBody {
    const samples = this.#timestamp.rows;
    const counts = { events: 0, samples };
    if (samples === 0) return { blocks: [], counts };
    const columns = [this.#metricId, this.#seriesId, this.#timestamp, this.#value];
    const sampleBlock = encodeTableBlock('samples', columns, samples);
    const seriesBlock = this.#series.finish();
    return { blocks: seriesBlock === undefined ? [sampleBlock] : [seriesBlock, sampleBlock], counts };
  }
}

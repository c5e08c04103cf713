/**
 * Prometheus Remote Write 1.0 (`schema/proto/remote.proto`): a protobuf `WriteRequest` into rows of
 * `samples`, `exemplars`, `histograms`, `series` and `metadata`. It is taken whole or not at all.
 */
import type { TableBlock } from '../../model/block.ts';
import { noCounts } from '../../model/counts.ts';
import { MemoryBudget } from '../memory-budget.ts';
import type { DistinctDays } from '../metrics/distinct-days.ts';
import { MetadataColumns, type MetricDescription, metricTypeName } from '../metrics/metadata-columns.ts';
import { MetricRows } from '../metrics/metric-rows.ts';
import { type SeriesContext, SeriesResolver } from '../metrics/series-resolver.ts';
import { Refusals } from '../refusals.ts';
import type { DecodedBody, MetricsTask } from '../task.ts';
import { fieldTag, ProtobufReader } from '../wire/protobuf-reader.ts';
import { decodeWithKernel, type FieldWalk } from './kernel-walk.ts';
import { LabelMessages, type MessageHash } from './label-messages.ts';
import { otherVersion } from './other-version.ts';
import type { RemoteWriteKernel } from './remote-write-kernel.ts';
import { TimeSeriesReader, type TimeSeriesTags } from './time-series.ts';

const requestTimeseries = fieldTag(1, 'bytes');
const requestMetadata = fieldTag(3, 'bytes');
/** What a message of version 2.0 has at its top, in numbers that this version leaves free. */
const symbolOfV2 = fieldTag(4, 'bytes');
const timeseriesOfV2 = fieldTag(5, 'bytes');
const seriesTags: TimeSeriesTags = {
  sample: fieldTag(2, 'bytes'),
  exemplar: fieldTag(3, 'bytes'),
  histogram: fieldTag(4, 'bytes'),
};
const metadataType = fieldTag(1, 'varint');
const metadataFamily = fieldTag(2, 'bytes');
const metadataHelp = fieldTag(4, 'bytes');
const metadataUnit = fieldTag(5, 'bytes');

/** Typical requests have 150 to 400 bytes a sample; this only sizes the first allocation. */
const typicalRows = (message: Buffer): number => Math.ceil(message.length / 150);
/** Rows to begin with where the kernel takes most of the samples. */
const expectedOddRows = 64;

/**
 * @param message the decompressed body
 * @throws AppError `bad_protobuf`, `bad_series`, `body_too_large`
 */
export function decodeRemoteWriteV1(message: Buffer, task: MetricsTask, context: SeriesContext): DecodedBody {
  const walk = new WriteRequestWalk(message, task, context, typicalRows(message));
  for (let position = 0; position < message.length; ) position = walk.readField(position);
  return walk.finish();
}

/**
 * Decodes the message that the kernel has loaded. Fields at which it stops are read here.
 * @throws AppError `bad_protobuf`, `bad_series`, `body_too_large`
 */
export function decodeV1WithKernel(
  kernel: RemoteWriteKernel,
  task: MetricsTask,
  context: SeriesContext,
): DecodedBody {
  const newWalk = () =>
    new WriteRequestWalk(kernel.message, task, context, expectedOddRows, kernel, kernel.days);
  return decodeWithKernel(kernel, 0, context.outcomes, newWalk);
}

/** One pass over the bytes of a message. */
class WriteRequestWalk implements FieldWalk {
  readonly #reader: ProtobufReader;
  readonly #series: SeriesResolver;
  readonly #rows: MetricRows;
  readonly #metadata: MetadataColumns;
  readonly #refusals = new Refusals(false);
  readonly #timeSeries: TimeSeriesReader;
  #metadataCount = 0;

  constructor(
    message: Buffer,
    task: MetricsTask,
    context: SeriesContext,
    expectedSamples: number,
    messageHash?: MessageHash,
    days?: DistinctDays,
  ) {
    const reader = new ProtobufReader(message);
    const budget = new MemoryBudget(task.bounds?.maxInflatedBytes);
    const labels = new LabelMessages(message, messageHash);
    const series = new SeriesResolver(task, context, labels, budget, undefined, days);
    const rows = new MetricRows({
      reader,
      exemplarLabels: () => new LabelMessages(message),
      budget,
      expectedSamples,
      hasStart: false,
    });
    this.#reader = reader;
    this.#series = series;
    this.#rows = rows;
    this.#metadata = new MetadataColumns(message, task, context, budget);
    this.#timeSeries = new TimeSeriesReader({
      reader,
      tags: seriesTags,
      labels,
      series,
      rows,
      refusals: this.#refusals,
      readOther: (tag, end) => reader.skip(tag, end),
    });
  }

  readField(position: number): number {
    const reader = this.#reader;
    const end = reader.bytes.length;
    reader.position = position;
    const tag = reader.tag(end);
    if (tag === requestTimeseries) this.#readSeries(reader.lengthEnd(end));
    else if (tag === requestMetadata) this.#readMetadata(reader.lengthEnd(end));
    else if (tag === symbolOfV2 || tag === timeseriesOfV2) throw otherVersion('2.0', '1.0');
    else reader.skip(tag, end);
    return reader.position;
  }

  #readSeries(end: number): void {
    this.#timeSeries.read(end);
    this.#reader.position = end;
  }

  /** Metadata that a worker has seen durable costs a hash of its bytes. */
  #readMetadata(end: number): void {
    const reader = this.#reader;
    const start = reader.position;
    this.#metadata.hash.compute(reader.view, start, end);
    const problem = this.#metadata.add(() => readDescription(reader, end));
    if (problem !== undefined) {
      this.#refusals.add(noCounts, () => `The metadata at byte ${start} is refused: ${problem}`);
    }
    this.#metadataCount++;
    reader.position = end;
  }

  finish(): DecodedBody {
    const blocks = [this.#metadata.finish(), this.#series.finish(), ...this.#rows.finish()];
    return {
      blocks: blocks.filter((block): block is TableBlock => block !== undefined),
      counts: { ...noCounts, ...this.#rows.counts, metadata: this.#metadataCount },
    };
  }
}

/** Reads a `MetricMetadata` message. */
function readDescription(reader: ProtobufReader, end: number): MetricDescription {
  const description = {
    name: { start: 0, end: 0 },
    type: metricTypeName(0),
    unit: { start: 0, end: 0 },
    help: { start: 0, end: 0 },
  };
  const fields = new Map([
    [metadataFamily, description.name],
    [metadataHelp, description.help],
    [metadataUnit, description.unit],
  ]);
  while (reader.position < end) {
    const tag = reader.tag(end);
    const text = fields.get(tag);
    if (text !== undefined) {
      text.end = reader.lengthEnd(end);
      text.start = reader.position;
      reader.position = text.end;
    } else if (tag === metadataType) {
      reader.varint64(end);
      description.type = metricTypeName(reader.low);
    } else {
      reader.skip(tag, end);
    }
  }
  return description;
}

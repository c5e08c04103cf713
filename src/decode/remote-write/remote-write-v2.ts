/**
 * Prometheus Remote Write 2.0 (`schema/proto/remote-v2.proto`): a protobuf `Request`, whose strings stand in
 * a table of symbols, into rows of `samples`, `exemplars`, `histograms`, `series` and `metadata`. What can be
 * stored is, and the rest is reported.
 */
import { AppError } from '../../errors.ts';
import type { TableBlock } from '../../model/block.ts';
import { noCounts } from '../../model/counts.ts';
import { MemoryBudget } from '../memory-budget.ts';
import type { DistinctDays } from '../metrics/distinct-days.ts';
import { MetadataColumns, metricTypeName } from '../metrics/metadata-columns.ts';
import { MetricRows } from '../metrics/metric-rows.ts';
import { type SeriesContext, SeriesResolver } from '../metrics/series-resolver.ts';
import { Refusals } from '../refusals.ts';
import type { DecodedBody, MetricsTask } from '../task.ts';
import { fieldTag, ProtobufReader } from '../wire/protobuf-reader.ts';
import { decodeWithKernel, type FieldWalk } from './kernel-walk.ts';
import { otherVersion } from './other-version.ts';
import type { RemoteWriteKernel } from './remote-write-kernel.ts';
import { LabelRefs, type SymbolHash, SymbolTable } from './symbol-table.ts';
import { TimeSeriesReader, type TimeSeriesTags } from './time-series.ts';

const requestSymbol = fieldTag(4, 'bytes');
const requestTimeseries = fieldTag(5, 'bytes');
/** What a message of version 1.0 has at its top, in numbers that this version reserves for it. */
const timeseriesOfV1 = fieldTag(1, 'bytes');
const metadataOfV1 = fieldTag(3, 'bytes');
const seriesTags: TimeSeriesTags = {
  sample: fieldTag(2, 'bytes'),
  histogram: fieldTag(3, 'bytes'),
  exemplar: fieldTag(4, 'bytes'),
};
const seriesMetadata = fieldTag(5, 'bytes');
const metadataType = fieldTag(1, 'varint');
const metadataHelp = fieldTag(3, 'varint');
const metadataUnit = fieldTag(4, 'varint');

/**
 * A series with one sample takes some 40 bytes and its share of the symbols; this only sizes
 * the first allocation.
 */
const typicalSampleBytes = 60;
/** Rows to begin with where the kernel takes most of the samples. */
const expectedOddRows = 64;

/**
 * @param message the decompressed body
 * @throws AppError `bad_protobuf`, `body_too_large`
 */
export function decodeRemoteWriteV2(message: Buffer, task: MetricsTask, context: SeriesContext): DecodedBody {
  const walk = new RequestWalk(message, task, context, Math.ceil(message.length / typicalSampleBytes));
  for (let position = 0; position < message.length; ) position = walk.readField(position);
  return walk.finish();
}

/**
 * Decodes the message that the kernel has loaded. Fields at which it stops are read here.
 * @throws AppError `bad_protobuf`, `body_too_large`
 */
export function decodeV2WithKernel(
  kernel: RemoteWriteKernel,
  task: MetricsTask,
  context: SeriesContext,
): DecodedBody {
  const { message } = kernel;
  const start = kernel.readSymbols();
  const newWalk = () => new RequestWalk(message, task, context, expectedOddRows, kernel, kernel.days);
  if (start > 0) return decodeWithKernel(kernel, start, context.outcomes, newWalk);
  const walk = newWalk();
  return decodeWithKernel(kernel, start, context.outcomes, () => walk);
}

/** One pass for the symbols, since nothing says that they come first, and then field by field. */
class RequestWalk implements FieldWalk {
  readonly #reader: ProtobufReader;
  readonly #symbols: SymbolTable;
  readonly #series: SeriesResolver;
  readonly #rows: MetricRows;
  readonly #metadata: MetadataColumns;
  readonly #refusals = new Refusals(true);
  readonly #timeSeries: TimeSeriesReader;
  #metadataCount = 0;

  /** @throws AppError `bad_protobuf`, `body_too_large` for what is wrong with the message as a whole */
  constructor(
    message: Buffer,
    task: MetricsTask,
    context: SeriesContext,
    expectedSamples: number,
    symbolHash?: SymbolHash,
    days?: DistinctDays,
  ) {
    const reader = new ProtobufReader(message);
    const budget = new MemoryBudget(task.bounds?.maxInflatedBytes);
    const symbols = new SymbolTable(reader, symbolHash);
    const labels = new LabelRefs(symbols);
    const series = new SeriesResolver(task, context, labels, budget, undefined, days);
    const rows = new MetricRows({
      reader,
      exemplarLabels: () => new LabelRefs(symbols),
      budget,
      expectedSamples,
      hasStart: true,
    });
    this.#reader = reader;
    this.#symbols = symbols;
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
      readOther: (tag, end) => {
        if (tag === seriesMetadata) this.#readMetadata(reader.lengthEnd(end));
        else reader.skip(tag, end);
      },
    });
    this.#readSymbols();
  }

  #readSymbols(): void {
    const reader = this.#reader;
    const end = reader.bytes.length;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === requestSymbol) {
        const symbolEnd = reader.lengthEnd(end);
        this.#symbols.add(reader.position, symbolEnd);
        reader.position = symbolEnd;
      } else {
        reader.skip(tag, end);
      }
    }
    this.#symbols.finish();
    if (!this.#symbols.beginsEmpty) {
      throw new AppError('bad_protobuf', 'The first symbol of the request must be the empty string');
    }
  }

  readField(position: number): number {
    const reader = this.#reader;
    const end = reader.bytes.length;
    reader.position = position;
    const tag = reader.tag(end);
    if (tag === requestTimeseries) this.#readTimeSeries(reader.lengthEnd(end));
    else if (tag === timeseriesOfV1 || tag === metadataOfV1) throw otherVersion('1.0', '2.0');
    else reader.skip(tag, end);
    return reader.position;
  }

  #readTimeSeries(end: number): void {
    if (this.#timeSeries.read(end) === 'empty') {
      // Exemplars alone are fine: Prometheus sends them in a series of their own.
      const problem = 'it has no sample, histogram or exemplar';
      this.#refusals.add(noCounts, () => `The series ${this.#series.describe()} is refused: ${problem}`);
    }
    this.#reader.position = end;
  }

  /** Metadata comes with every series in every request. Once a worker has seen it durable it costs a hash. */
  #readMetadata(end: number): void {
    const reader = this.#reader;
    const symbols = this.#symbols;
    let type = 0;
    let help = 0;
    let unit = 0;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === metadataType) {
        reader.varint64(end);
        type = reader.low;
      } else if (tag === metadataHelp) help = reader.uint32(end);
      else if (tag === metadataUnit) unit = reader.uint32(end);
      else reader.skip(tag, end);
    }
    if (type === 0 && help === 0 && unit === 0) return;
    this.#metadataCount++;
    const problem =
      Math.max(help, unit) < symbols.count
        ? this.#addMetadata(type, help, unit)
        : `the reference ${Math.max(help, unit)} is beyond the ${symbols.count} symbols of the request`;
    if (problem === undefined) return;
    const describe = () => `The metadata of the series ${this.#series.describe()} is refused: ${problem}`;
    this.#refusals.add(noCounts, describe);
  }

  #addMetadata(type: number, help: number, unit: number): string | undefined {
    this.#symbols.hashDescription(this.#metadata.hash, this.#series.metricId, type, help, unit);
    return this.#metadata.add(() => ({
      name: this.#series.metricName(),
      type: metricTypeName(type),
      unit: this.#symbols.range(unit),
      help: this.#symbols.range(help),
    }));
  }

  finish(): DecodedBody {
    const blocks = [this.#metadata.finish(), this.#series.finish(), ...this.#rows.finish()];
    const refused = this.#refusals.finish();
    return {
      blocks: blocks.filter((block): block is TableBlock => block !== undefined),
      counts: {
        ...noCounts,
        ...this.#rows.counts,
        metadata: this.#metadataCount,
        problems: refused?.counts.problems ?? 0,
      },
      ...(refused === undefined ? {} : { refused }),
    };
  }
}

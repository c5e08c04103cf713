/**
 * OTLP metrics (`schema/proto/otlp.proto`): a protobuf `ExportMetricsServiceRequest` into rows of
 * `samples`, `exemplars`, `histograms`, `series` and `metadata`. Data points that cannot be stored are
 * reported, the rest is.
 */
import type { TableBlock } from '../../../model/block.ts';
import { noCounts } from '../../../model/counts.ts';
import { MemoryBudget } from '../../memory-budget.ts';
import { LabelHash } from '../../metrics/label-hash.ts';
import { MetadataColumns } from '../../metrics/metadata-columns.ts';
import { type SeriesContext, SeriesResolver } from '../../metrics/series-resolver.ts';
import { Refusals } from '../../refusals.ts';
import type { DecodedBody, MetricsTask } from '../../task.ts';
import { fieldTag, ProtobufReader, type TextRange, wireType } from '../../wire/protobuf-reader.ts';
import { DataPoints } from './data-points.ts';
import { MetricDetails } from './metric-details.ts';
import { MetricLabels } from './metric-labels.ts';
import { isMetricKind, knownTemporality, MetricOrigin, metricKinds } from './metric-origin.ts';
import { PointHeader } from './point-header.ts';
import { SampleWriter } from './sample-writer.ts';
import { SeriesDetails } from './series-details.ts';

const resourceMetrics = fieldTag(1, 'bytes');
/** `resource` and `scope` in their wrappers. */
const origin = fieldTag(1, 'bytes');
/** What a wrapper holds. */
const content = fieldTag(2, 'bytes');
const schemaUrl = fieldTag(3, 'bytes');
const metricName = fieldTag(1, 'bytes');
const metricDescription = fieldTag(2, 'bytes');
const metricUnit = fieldTag(3, 'bytes');
const metricMetadata = fieldTag(12, 'bytes');
const temporality = fieldTag(2, 'varint');
const isMonotonic = fieldTag(3, 'varint');

const nowhere: TextRange = { start: 0, end: 0 };
const metadataParts = Uint32Array.of(0, 1, 2, 3, 4);

/** A point takes some 100 bytes with its attributes; this only sizes the first allocation. */
const typicalPointBytes = 100;

/**
 * @param message the decompressed body
 * @throws AppError `bad_protobuf`, `body_too_large`
 */
export function decodeOtlpMetrics(message: Buffer, task: MetricsTask, context: SeriesContext): DecodedBody {
  const walk = new MetricsWalk(message, task, context);
  walk.read();
  return walk.finish();
}

/**
 * One request. What a message says of its parts may stand behind them, so each is looked over before it is
 * read.
 */
class MetricsWalk {
  readonly #reader: ProtobufReader;
  readonly #origin = new MetricOrigin();
  readonly #labels: MetricLabels;
  readonly #series: SeriesResolver;
  readonly #metadata: MetadataColumns;
  readonly #rows: SampleWriter;
  readonly #points: DataPoints;
  readonly #refusals = new Refusals(true);
  /** Hashes what the row of a metric is made of. */
  readonly #hash = new LabelHash('otlp metadata');
  readonly #metadataHashes = new Int32Array(2 * metadataParts.length);
  #metadataCount = 0;

  constructor(message: Buffer, task: MetricsTask, context: SeriesContext) {
    const reader = new ProtobufReader(message);
    const budget = new MemoryBudget(task.bounds?.maxInflatedBytes);
    const origin = this.#origin;
    const header = new PointHeader(task.receivedMicros);
    const labels = new MetricLabels(message, origin, header);
    const seriesDetails = new SeriesDetails(message, origin, labels);
    const series = new SeriesResolver(task, context, labels, budget, seriesDetails);
    const expectedSamples = Math.ceil(message.length / typicalPointBytes);
    const rows = new SampleWriter({ header, labels, series, budget, expectedSamples });
    const metricDetails = new MetricDetails(message, origin);
    this.#reader = reader;
    this.#labels = labels;
    this.#series = series;
    this.#metadata = new MetadataColumns(message, task, context, budget, metricDetails);
    this.#rows = rows;
    this.#points = new DataPoints({ reader, origin, header, labels, rows, refusals: this.#refusals });
  }

  read(): void {
    this.#each(resourceMetrics, { start: 0, end: this.#reader.bytes.length }, this.#readResource);
  }

  readonly #readResource = (wrapper: TextRange): void => {
    this.#origin.resource = this.#find(origin, wrapper);
    this.#origin.resourceSchemaUrl = this.#find(schemaUrl, wrapper);
    this.#labels.beginResource();
    this.#each(content, wrapper, this.#readScope);
  };

  readonly #readScope = (wrapper: TextRange): void => {
    this.#origin.scope = this.#find(origin, wrapper);
    this.#origin.scopeSchemaUrl = this.#find(schemaUrl, wrapper);
    this.#labels.beginScope();
    this.#each(content, wrapper, this.#readMetric);
  };

  readonly #readMetric = (metric: TextRange): void => {
    const data = this.#readDescription(metric);
    this.#readAggregation(data);
    this.#addMetadata();
    this.#labels.beginMetric();
    this.#points.read(data);
  };

  /** Reads what a metric is into the origin, and returns where its data are. */
  #readDescription({ start, end }: TextRange): TextRange {
    const reader = this.#reader;
    const origin = this.#origin;
    origin.name = origin.description = origin.unit = origin.metadata = nowhere;
    origin.kind = 0;
    let data = nowhere;
    reader.position = start;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if ((tag & 7) !== wireType.bytes) {
        reader.skip(tag, end);
        continue;
      }
      const field = this.#range(end);
      const kind = tag >>> 3;
      if (tag === metricName) origin.name = field;
      else if (tag === metricDescription) origin.description = field;
      else if (tag === metricUnit) origin.unit = field;
      else if (tag === metricMetadata) {
        const metadataStart = origin.metadata === nowhere ? fieldStart : origin.metadata.start;
        origin.metadata = { start: metadataStart, end: field.end };
      } else if (isMetricKind(kind)) {
        origin.kind = kind;
        data = field;
      }
    }
    return data;
  }

  #readAggregation({ start, end }: TextRange): void {
    const reader = this.#reader;
    const origin = this.#origin;
    origin.temporality = 0;
    origin.isMonotonic = false;
    reader.position = start;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === temporality) {
        reader.varint64(end);
        origin.temporality = knownTemporality(reader.low);
      } else if (tag === isMonotonic) {
        reader.varint64(end);
        origin.isMonotonic = (reader.low | reader.high) !== 0;
      } else {
        reader.skip(tag, end);
      }
    }
  }

  /** Every request describes its metrics. Once a worker has seen a description durable it costs a hash. */
  #addMetadata(): void {
    const { name, unit, description, metadata, kind, temporality, isMonotonic } = this.#origin;
    // A metric without a name is none: its points are refused.
    if (name.start === name.end) return;
    const hashes = this.#metadataHashes;
    for (const [part, { start, end }] of [name, unit, description, metadata].entries()) {
      this.#hash.compute(this.#reader.view, start, end);
      hashes[2 * part] = this.#hash.low;
      hashes[2 * part + 1] = this.#hash.high;
    }
    hashes[8] = kind;
    hashes[9] = 2 * temporality + (isMonotonic ? 1 : 0);
    this.#metadata.hash.combine(hashes, metadataParts, metadataParts.length);
    const type = metricKinds[kind];
    const problem = this.#metadata.add(() => ({ name, type, unit, help: description }));
    this.#metadataCount++;
    if (problem === undefined) return;
    const shown = this.#reader.bytes.toString('utf8', name.start, Math.min(name.end, name.start + 300));
    const describe = () => `The metadata of the metric ${JSON.stringify(shown)} is refused: ${problem}`;
    this.#refusals.add(noCounts, describe);
  }

  /** Calls back for each field with that tag. */
  #each(tag: number, { start, end }: TextRange, onField: (field: TextRange) => void): void {
    const reader = this.#reader;
    reader.position = start;
    let fieldEnd = reader.nextField(tag, end);
    while (fieldEnd >= 0) {
      onField({ start: reader.position, end: fieldEnd });
      reader.position = fieldEnd;
      fieldEnd = reader.nextField(tag, end);
    }
  }

  /** Where the field with that tag is, the last one if there are several. */
  #find(tag: number, wrapper: TextRange): TextRange {
    let found = nowhere;
    this.#each(tag, wrapper, (field) => {
      found = field;
    });
    return found;
  }

  /** Reads a length, and passes over what has it. */
  #range(end: number): TextRange {
    const reader = this.#reader;
    const fieldEnd = reader.lengthEnd(end);
    const start = reader.position;
    reader.position = fieldEnd;
    return { start, end: fieldEnd };
  }

  finish(): DecodedBody {
    const blocks = [this.#metadata.finish(), this.#series.finish(), ...this.#rows.finish()];
    const refused = this.#refusals.finish();
    return {
      blocks: blocks.filter((block): block is TableBlock => block !== undefined),
      counts: {
        ...noCounts,
        ...this.#rows.counts,
        points: this.#points.stored,
        metadata: this.#metadataCount,
        problems: refused?.counts.problems ?? 0,
      },
      ...(refused === undefined ? {} : { refused }),
    };
  }
}

/**
 * What must be stored of a request of OTLP metrics, by a second implementation: protobufjs' reflection
 * reads it, and the rules are applied to plain objects, with no regard to speed. It shares only the
 * bounds with the decoder.
 */
import { limits } from '../../../src/limits/limits.ts';
import { doubleText } from '../clickhouse/native-rows.ts';
import { metricsRequestType } from './otlp-metrics.ts';
import { type Message, TooDeep, valueText } from './otlp-oracle.ts';

/** Rows as text, each with the name and the labels of its series; sorted, and those of `series` each once. */
export interface ExpectedMetrics {
  readonly samples: readonly string[];
  readonly exemplars: readonly string[];
  readonly histograms: readonly string[];
  readonly series: readonly string[];
  readonly metadata: readonly string[];
  readonly refusedPoints: number;
  readonly refusedExemplars: number;
}

type Pair = readonly [string, string];

const dayMs = 86_400_000;
const types = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const;
const typeNames: Readonly<Record<string, string>> = { exponentialHistogram: 'exponential_histogram' };
const temporalities = ['', 'delta', 'cumulative'];

const list = (message: Message | null | undefined, name: string): readonly Message[] =>
  (message?.[name] ?? []) as readonly Message[];
const text = (message: Message | null | undefined, name: string): string => String(message?.[name] ?? '');

/** Text of a row. Columns that the decoder leaves out of a block have their defaults. */
export const rowText = (series: string, row: Readonly<Record<string, unknown>>): string => {
  const columns = { start_timestamp: '0', ...row };
  return JSON.stringify([series, Object.entries(columns).sort(([a], [b]) => (a < b ? -1 : 1))]);
};

const byBytes = ([a]: Pair, [b]: Pair): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export const seriesText = (name: string, labels: readonly Pair[]): string =>
  `${name}{${labels.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}}`;

const pairs = (message: Message | null | undefined, field: string, prefix = ''): Pair[] =>
  list(message, field).map((each) => [
    prefix + text(each, 'key'),
    valueText(each['value'] as Message | null, false),
  ]);

/** What all series of a point have in common. */
interface Origin {
  readonly resource: Message;
  readonly scope: Message;
  readonly metric: Message;
  readonly type: string;
}

export function expectedMetrics(message: Uint8Array, receivedMicros: number): ExpectedMetrics {
  const request = metricsRequestType.toObject(metricsRequestType.decode(message), {
    longs: String,
    bytes: Buffer,
    defaults: true,
    oneofs: true,
  });
  const rows = new Rows(Math.floor(receivedMicros / 1000));
  for (const resource of list(request, 'resourceMetrics')) {
    for (const scope of list(resource, 'scopeMetrics')) {
      for (const metric of list(scope, 'metrics')) {
        const kind = metric['data'] as (typeof types)[number] | undefined;
        rows.addMetric({ resource, scope, metric, type: kind ?? 'unknown' });
      }
    }
  }
  return rows.finish();
}

class Refused extends Error {}

class Rows {
  readonly #samples: string[] = [];
  readonly #exemplars: string[] = [];
  readonly #histograms: string[] = [];
  readonly #series = new Set<string>();
  readonly #metadata = new Set<string>();
  readonly #receivedMs: number;
  #refusedPoints = 0;
  #refusedExemplars = 0;

  constructor(receivedMs: number) {
    this.#receivedMs = receivedMs;
  }

  finish(): ExpectedMetrics {
    return {
      samples: this.#samples.sort(),
      exemplars: this.#exemplars.sort(),
      histograms: this.#histograms.sort(),
      series: [...this.#series].sort(),
      metadata: [...this.#metadata].sort(),
      refusedPoints: this.#refusedPoints,
      refusedExemplars: this.#refusedExemplars,
    };
  }

  addMetric(origin: Origin): void {
    const { metric, type } = origin;
    const data = metric[type] as Message | undefined;
    if (text(metric, 'name') !== '') {
      this.#metadata.add(
        JSON.stringify([
          text(metric, 'name'),
          typeNames[type] ?? type,
          text(metric, 'unit'),
          text(metric, 'description'),
          temporalities[Number(data?.['aggregationTemporality'] ?? 0)] ?? '',
          data?.['isMonotonic'] === true ? 1 : 0,
          pairs(metric, 'metadata'),
        ]),
      );
    }
    for (const point of list(data, 'dataPoints')) this.#addPoint(origin, point);
  }

  #addPoint(origin: Origin, point: Message): void {
    try {
      const before = this.#samples.length + this.#histograms.length;
      new PointRows(origin, point, this.#receivedMs, {
        sample: (series, row) => this.#samples.push(rowText(series, row)),
        histogram: (series, row) => this.#histograms.push(rowText(series, row)),
        exemplar: (series, row) => this.#exemplars.push(rowText(series, row)),
        refusedExemplar: () => this.#refusedExemplars++,
        series: (row) => this.#series.add(row),
      }).add();
      if (this.#samples.length + this.#histograms.length === before) throw new Error('A point without rows');
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TooDeep)) throw error;
      this.#refusedPoints++;
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

interface Sink {
  sample(series: string, row: Row): void;
  histogram(series: string, row: Row): void;
  exemplar(series: string, row: Row): void;
  refusedExemplar(): void;
  series(row: string): void;
}

/** The rows of one point. What refuses it is found before anything is written. */
class PointRows {
  readonly #origin: Origin;
  readonly #point: Message;
  readonly #sink: Sink;
  readonly #timestampMs: number;
  readonly #startMs: number;
  readonly #isUnrecorded: boolean;

  constructor(origin: Origin, point: Message, receivedMs: number, sink: Sink) {
    this.#origin = origin;
    this.#point = point;
    this.#sink = sink;
    this.#timestampMs = millis(point, 'timeUnixNano') || receivedMs;
    this.#startMs = millis(point, 'startTimeUnixNano');
    this.#isUnrecorded = (Number(point['flags']) & 1) === 1;
  }

  add(): void {
    const { type, metric } = this.#origin;
    if (text(metric, 'name') === '') throw new Refused();
    for (const ms of [this.#timestampMs, this.#startMs])
      if (ms > limits.maxSampleTimestampMs) throw new Refused();
    if (type === 'gauge' || type === 'sum') this.#addNumber();
    else if (type === 'histogram') this.#addHistogram();
    else if (type === 'exponentialHistogram') this.#addExponential();
    else this.#addSummary();
  }

  /** The series with that suffix of its name and that further label; its row is written for the day. */
  #series(suffix: string, extra: readonly Pair[], timestampMs: number): string {
    const { resource, scope, metric, type } = this.#origin;
    const scopeFields = scope['scope'] as Message | null;
    const scopeText = (name: string): Pair[] =>
      scopeFields === null ? [] : [[`otel_scope_${name}`, text(scopeFields, name)]];
    const all: (readonly [origin: string, ...pair: Pair])[] = [
      ...pairs(resource['resource'] as Message | null, 'attributes').map(
        (pair) => ['resource', ...pair] as const,
      ),
      ...pairs(scopeFields, 'attributes', 'otel_scope_').map((pair) => ['scope', ...pair] as const),
      ...[...scopeText('name'), ...scopeText('version')].map((pair) => ['scope', ...pair] as const),
      ...pairs(this.#point, 'attributes').map((pair) => ['point', ...pair] as const),
      ...extra.map((pair) => ['metric', ...pair] as const),
      ['metric', '__name__', text(metric, 'name') + suffix],
    ];
    const labels = new Map<string, readonly [string, string]>();
    const shadowed: Pair[] = [];
    for (const [origin, key, value] of all) {
      const before = labels.get(key);
      if (before !== undefined) shadowed.push([`${before[0]}.${key}`, before[1]]);
      labels.set(key, [origin, value]);
    }
    const kept: Pair[] = [...labels]
      .map(([key, [, value]]) => [key, value] as const)
      .filter(([, value]) => value !== '');
    if (kept.some(([key]) => key === '')) throw new Refused();
    const sorted = kept.filter(([key]) => key !== '__name__').sort(byBytes);
    const series = seriesText(text(metric, 'name') + suffix, sorted);
    const data = metric[type] as Message;
    this.#sink.series(
      rowText(series, {
        date: Math.floor(timestampMs / dayMs),
        type: typeNames[type] ?? type,
        unit: text(metric, 'unit'),
        temporality: temporalities[Number(data['aggregationTemporality'] ?? 0)] ?? '',
        is_monotonic: data['isMonotonic'] === true ? 1 : 0,
        resource_schema_url: text(resource, 'schemaUrl'),
        scope_schema_url: text(scope, 'schemaUrl'),
        resource_dropped_attributes: Number(
          (resource['resource'] as Message | null)?.['droppedAttributesCount'] ?? 0,
        ),
        scope_dropped_attributes: Number(scopeFields?.['droppedAttributesCount'] ?? 0),
        entity_refs: entityRefs(resource['resource'] as Message | null),
        shadowed_attributes: shadowed.sort(byBytes),
      }),
    );
    return series;
  }

  #sample(value: number, suffix = '', extra: readonly Pair[] = []): void {
    this.#sink.sample(this.#series(suffix, extra, this.#timestampMs), {
      timestamp: String(this.#timestampMs),
      start_timestamp: String(this.#startMs),
      value: this.#isUnrecorded ? 'NaN' : doubleText(value),
    });
  }

  #addNumber(): void {
    const value = numberOf(this.#point);
    if (value === undefined && !this.#isUnrecorded) throw new Refused();
    this.#sample(value ?? 0);
    this.#addExemplars(() => ['', []]);
  }

  #addHistogram(): void {
    const bounds = list(this.#point, 'explicitBounds').map(Number);
    const counts = list(this.#point, 'bucketCounts').map(Number);
    const both = bounds.length + counts.length;
    if (both > 0 && counts.length !== bounds.length + 1) throw new Refused();
    if (bounds.some((bound, index) => Number.isNaN(bound) || bound <= (bounds[index - 1] ?? Number.NaN))) {
      throw new Refused();
    }
    const count = Number(this.#point['count']);
    let total = 0;
    for (const [index, bound] of bounds.entries()) {
      total += counts[index] ?? 0;
      if (bound !== Infinity) this.#sample(total, '_bucket', [['le', boundText(bound)]]);
    }
    this.#sample(both === 0 ? count : total + (counts.at(-1) ?? 0), '_bucket', [['le', '+Inf']]);
    this.#sample(count, '_count');
    const { sum, min, max } = this.#point as { sum?: number; min?: number; max?: number };
    if (sum !== undefined || this.#isUnrecorded) this.#sample(sum ?? 0, '_sum');
    if (min !== undefined) this.#sample(min, '_min');
    if (max !== undefined) this.#sample(max, '_max');
    this.#addExemplars((value) => {
      const bound = bounds.find((each) => value <= each) ?? Infinity;
      return ['_bucket', [['le', boundText(bound)]]];
    });
  }

  #addSummary(): void {
    const quantiles = list(this.#point, 'quantileValues').map(
      ({ quantile, value }) => [Number(quantile), Number(value)] as const,
    );
    if (new Set(quantiles.map(([quantile]) => quantile)).size < quantiles.length) throw new Refused();
    for (const [quantile, value] of quantiles) this.#sample(value, '', [['quantile', boundText(quantile)]]);
    this.#sample(Number(this.#point['count']), '_count');
    this.#sample(Number(this.#point['sum']), '_sum');
  }

  #addExponential(): void {
    const point = this.#point;
    const scale = Number(point['scale']);
    if (scale < -128 || scale > 127) throw new Refused();
    const positive = bucketColumns('positive', point['positive'] as Message | null);
    const negative = bucketColumns('negative', point['negative'] as Message | null);
    const { sum, min, max } = point as { sum?: number; min?: number; max?: number };
    const number = (value: number | undefined): string => (value === undefined ? 'null' : doubleText(value));
    this.#sink.histogram(this.#series('', [], this.#timestampMs), {
      timestamp: String(this.#timestampMs),
      start_timestamp: String(this.#startMs),
      is_float: 0,
      count_int: text(point, 'count'),
      count_float: '0',
      sum: this.#isUnrecorded || sum === undefined ? 'NaN' : doubleText(sum),
      schema: scale,
      zero_threshold: doubleText(Number(point['zeroThreshold'])),
      zero_count_int: text(point, 'zeroCount'),
      zero_count_float: '0',
      reset_hint: 0,
      ...positive,
      ...negative,
      custom_values: [],
      min: number(min),
      max: number(max),
    });
    this.#addExemplars(() => ['', []]);
  }

  #addExemplars(seriesOf: (value: number) => readonly [string, readonly Pair[]]): void {
    for (const exemplar of list(this.#point, 'exemplars')) {
      const value = numberOf(exemplar);
      const timestampMs = millis(exemplar, 'timeUnixNano') || this.#timestampMs;
      const labels = exemplarLabels(exemplar);
      if (value === undefined || labels === undefined || timestampMs > limits.maxSampleTimestampMs) {
        this.#sink.refusedExemplar();
        continue;
      }
      this.#sink.exemplar(this.#series(...seriesOf(value), timestampMs), {
        timestamp: String(timestampMs),
        value: doubleText(value),
        labels,
      });
    }
  }
}

/** Undefined if they cannot be stored. */
function exemplarLabels(exemplar: Message): readonly Pair[] | undefined {
  const labels = new Map(pairs(exemplar, 'filteredAttributes'));
  for (const [label, field, bytes] of [
    ['trace_id', 'traceId', 16],
    ['span_id', 'spanId', 8],
  ] as const) {
    const id = exemplar[field] as Buffer;
    if (id.length === bytes && id.some((byte) => byte !== 0)) labels.set(label, id.toString('hex'));
  }
  const kept = [...labels].filter(([, value]) => value !== '').sort(byBytes);
  const size = kept.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return kept.some(([key]) => key === '') || size > limits.maxExemplarLabelBytes ? undefined : kept;
}

function entityRefs(resource: Message | null): string {
  const refs = list(resource, 'entityRefs').map((ref) => ({
    schemaUrl: text(ref, 'schemaUrl'),
    type: text(ref, 'type'),
    idKeys: ref['idKeys'],
    descriptionKeys: ref['descriptionKeys'],
  }));
  return refs.length === 0 ? '' : JSON.stringify(refs);
}

function bucketColumns(side: string, buckets: Message | null): Row {
  const offset = Number(buckets?.['offset'] ?? 0);
  const counts = list(buckets, 'bucketCounts').map((count) => BigInt(String(count)));
  if (offset + 1 + counts.length > 2 ** 31 - 1) throw new Refused();
  const isThere = counts.length > 0 || offset !== 0;
  return {
    [`${side}_offsets`]: isThere ? [offset + 1] : [],
    [`${side}_lengths`]: isThere ? [counts.length] : [],
    [`${side}_deltas`]: counts.map((count, index) =>
      String(BigInt.asIntN(64, count - (counts[index - 1] ?? 0n))),
    ),
    [`${side}_counts`]: [],
  };
}

const millis = (message: Message, name: string): number => Number(BigInt(text(message, name)) / 1_000_000n);

const boundText = (bound: number): string =>
  bound === Infinity ? '+Inf' : bound === -Infinity ? '-Inf' : String(bound);

function numberOf(message: Message): number | undefined {
  const kind = message['value'];
  return typeof kind === 'string' ? Number(message[kind]) : undefined;
}

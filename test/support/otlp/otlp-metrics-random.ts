import type { Random } from '../lib/random.ts';
import type { Fields } from './otlp-metrics.ts';

/**
 * Random requests of OTLP metrics: every field of every message, values at their bounds, and contradictions.
 */
export class RandomMetrics {
  readonly #random: Random;
  readonly #shortness: number;
  /** Whether the request under way has a metric with a point or two and no more. */
  #isShort = false;

  /** @param shortness how often a request is short; many of these can be had in the same time */
  constructor(random: Random, shortness = 0) {
    this.#random = random;
    this.#shortness = shortness;
  }

  request(): Fields {
    this.#isShort = this.#random.chance(this.#shortness);
    return this.#some({ resourceMetrics: () => this.#level(() => this.#resourceMetrics()) }, 0.98);
  }

  /** The fields, each with this probability. */
  #some(fields: Readonly<Record<string, () => unknown>>, probability = 0.6): Fields {
    const there = Object.entries(fields).filter(() => this.#random.chance(probability));
    return Object.fromEntries(there.map(([name, make]) => [name, make()]));
  }

  #list<T>(maxLength: number, make: () => T): T[] {
    return Array.from({ length: this.#random.integer(0, maxLength) }, make);
  }

  /** What a level of the request holds: up to three, or one. */
  #level<T>(make: () => T): T[] {
    return this.#isShort ? [make()] : this.#list(3, make);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#random.integer(0, values.length - 1)] as T;
  }

  #text(): string {
    return this.#pick([
      '',
      'a',
      'b',
      'service.name',
      'é',
      '"\\\n',
      '\u{1f600}',
      'le',
      '__name__',
      'x'.repeat(140),
    ]);
  }

  #name(): string {
    return this.#pick(['m', 'http.server.duration', 'requests_total', 'm', 'é', '']);
  }

  #uint32(): number {
    return this.#pick([0, 1, 2, 127, 128, 300, 2 ** 32 - 1]);
  }

  #uint64(): bigint {
    return this.#pick([0n, 1n, 5n, 300n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]);
  }

  #int64(): bigint {
    return this.#pick([0n, 1n, -1n, 77n, -300n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]);
  }

  #double(): number {
    return this.#pick([0, -0, 1, 0.1, -2.5, 1e300, 5e-324, 123456789.25, Number.NaN, Infinity, -Infinity]);
  }

  #time(): bigint {
    const noon = 1_763_640_000_000_000_000n;
    return this.#pick([noon, noon + 999_999n, noon - 86_400_000_000_000n, noon + 1n, 0n, 2n ** 64n - 1n]);
  }

  #bytes(length: number): Buffer {
    return Buffer.alloc(this.#pick([length, length, length, 0, 3]), this.#pick([0, 1, 0xff]));
  }

  #anyValue(depth = 0): Fields {
    const kinds: Fields[] = [
      { stringValue: this.#text() },
      { stringValue: this.#text() },
      { boolValue: this.#random.chance(0.5) },
      { intValue: this.#int64() },
      { doubleValue: this.#double() },
      { bytesValue: this.#bytes(5) },
      {},
    ];
    if (depth < 3) {
      kinds.push({
        arrayValue: this.#some({ values: () => this.#list(3, () => this.#anyValue(depth + 1)) }),
      });
      kinds.push({
        kvlistValue: this.#some({ values: () => this.#list(3, () => this.#keyValue(depth + 1)) }),
      });
    }
    return this.#pick(kinds);
  }

  #keyValue(depth = 0): Fields {
    return this.#some({ key: () => this.#text(), value: () => this.#anyValue(depth) }, 0.95);
  }

  #attributes(): Fields[] {
    return this.#list(4, () => this.#keyValue());
  }

  #resourceMetrics(): Fields {
    return this.#some({
      resource: () =>
        this.#some({
          attributes: () => this.#attributes(),
          droppedAttributesCount: () => this.#uint32(),
          entityRefs: () => this.#list(2, () => this.#entityRef()),
        }),
      scopeMetrics: () => this.#level(() => this.#scopeMetrics()),
      schemaUrl: () => this.#text(),
    });
  }

  #entityRef(): Fields {
    return this.#some({
      schemaUrl: () => this.#text(),
      type: () => this.#text(),
      idKeys: () => this.#list(2, () => this.#text()),
      descriptionKeys: () => this.#list(2, () => this.#text()),
    });
  }

  #scopeMetrics(): Fields {
    return this.#some({
      scope: () =>
        this.#some({
          name: () => this.#text(),
          version: () => this.#text(),
          attributes: () => this.#attributes(),
          droppedAttributesCount: () => this.#uint32(),
        }),
      metrics: () => this.#level(() => this.#metric()),
      schemaUrl: () => this.#text(),
    });
  }

  #metric(): Fields {
    const aggregation = { aggregationTemporality: () => this.#pick([0, 1, 2, 3]) };
    const data = (point: () => Fields, fields: Readonly<Record<string, () => unknown>> = {}): Fields =>
      this.#some({ dataPoints: () => this.#list(this.#isShort ? 2 : 4, point), ...fields }, 0.9);
    const kind = this.#pick<() => Fields>([
      () => ({ gauge: data(() => this.#numberPoint()) }),
      () => ({
        sum: data(() => this.#numberPoint(), {
          ...aggregation,
          isMonotonic: () => this.#random.chance(0.5),
        }),
      }),
      () => ({ histogram: data(() => this.#histogramPoint(), aggregation) }),
      () => ({ exponentialHistogram: data(() => this.#exponentialPoint(), aggregation) }),
      () => ({ summary: data(() => this.#summaryPoint()) }),
      () => ({}),
    ]);
    return {
      name: this.#name(),
      ...this.#some({
        description: () => this.#text(),
        unit: () => this.#text(),
        metadata: () => this.#attributes(),
      }),
      ...kind(),
    };
  }

  #point(): Fields {
    return this.#some(
      {
        startTimeUnixNano: () => this.#time(),
        timeUnixNano: () => this.#time(),
        attributes: () => this.#attributes(),
        ...(this.#random.chance(0.2) ? { flags: () => this.#uint32() } : {}),
      },
      0.8,
    );
  }

  #number(): Fields {
    return this.#pick<Fields>([{ asInt: this.#int64() }, { asDouble: this.#double() }, {}]);
  }

  #exemplars(): Fields {
    const exemplar = (): Fields => ({
      ...this.#some({
        timeUnixNano: () => this.#time(),
        spanId: () => this.#bytes(8),
        traceId: () => this.#bytes(16),
        filteredAttributes: () => this.#attributes(),
      }),
      ...this.#number(),
    });
    return this.#some({ exemplars: () => this.#list(2, exemplar) }, 0.6);
  }

  #numberPoint(): Fields {
    return { ...this.#point(), ...this.#number(), ...this.#exemplars() };
  }

  #extremes(): Fields {
    return this.#some({ sum: () => this.#double(), min: () => this.#double(), max: () => this.#double() });
  }

  #histogramPoint(): Fields {
    const bounds = this.#pick([[], [1], [-1, 0, 2.5, 10], [0.1, Infinity], [2, 1], [Number.NaN]]);
    const counts =
      bounds.length === 0 && this.#random.chance(0.5) ? [] : [0, ...bounds].map(() => this.#uint64());
    if (this.#random.chance(0.1)) counts.pop();
    return {
      ...this.#point(),
      ...this.#extremes(),
      ...this.#exemplars(),
      count: this.#uint64(),
      bucketCounts: counts,
      explicitBounds: bounds,
    };
  }

  #exponentialPoint(): Fields {
    const buckets = (): Fields =>
      this.#some({
        offset: () => this.#pick([0, -1, 5, 2 ** 31 - 1, -(2 ** 31)]),
        bucketCounts: () => this.#list(4, () => this.#uint64()),
      });
    return {
      ...this.#point(),
      ...this.#extremes(),
      ...this.#exemplars(),
      ...this.#some({
        count: () => this.#uint64(),
        scale: () => this.#pick([0, 20, -10, 127, -128, 128, -(2 ** 31)]),
        zeroCount: () => this.#uint64(),
        zeroThreshold: () => this.#double(),
        positive: buckets,
        negative: buckets,
      }),
    };
  }

  #summaryPoint(): Fields {
    const quantile = (): Fields =>
      this.#some({ quantile: () => this.#pick([0, 0.5, 0.99, 1]), value: () => this.#double() }, 0.9);
    return {
      ...this.#point(),
      ...this.#some({ count: () => this.#uint64(), sum: () => this.#double() }),
      quantileValues: this.#list(3, quantile),
    };
  }
}

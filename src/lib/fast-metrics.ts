/**
 * Counters, gauges and histograms that each request changes. Those of prom-client look a series up by a text
 * of all of its labels, which takes microseconds each time. These add to a number, and prom-client gets it
 * when the registry is read.
 */
import {
  Counter,
  type CounterConfiguration,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
} from 'prom-client';
import { liveGauge } from './live-gauge.ts';

/** One series of a counter. */
export class CounterSeries {
  #sum = 0;

  inc(by = 1): void {
    this.#sum += by;
  }

  /** What was counted since the last call. */
  take(): number {
    const sum = this.#sum;
    this.#sum = 0;
    return sum;
  }
}

/** A counter without labels. */
export function fastCounter(configuration: CounterConfiguration<never>): CounterSeries {
  const sum = new CounterSeries();
  new Counter({
    ...configuration,
    collect() {
      this.inc(sum.take());
    },
  });
  return sum;
}

/** A counter with labels. */
export class FastCounters<T extends string> {
  /** By their labels as JSON. */
  readonly #series = new Map<string, readonly [LabelValues<T>, CounterSeries]>();

  constructor(configuration: CounterConfiguration<T>) {
    const series = this.#series;
    new Counter<T>({
      ...configuration,
      collect() {
        for (const [labels, sum] of series.values()) {
          const count = sum.take();
          // What was never counted is not shown.
          if (count > 0) this.inc(labels, count);
        }
      },
    });
  }

  /** Ask for each series once and keep it. */
  series(labels: LabelValues<T>): CounterSeries {
    const key = JSON.stringify(labels);
    const [, series] = this.#series.get(key) ?? [labels, new CounterSeries()];
    this.#series.set(key, [labels, series]);
    return series;
  }
}

/** The value of a gauge. */
export class GaugeSeries {
  #value = 0;

  get value(): number {
    return this.#value;
  }

  set(value: number): void {
    this.#value = value;
  }
}

/** A gauge that is set for each request. */
export function fastGauge(configuration: GaugeConfiguration<never>): GaugeSeries {
  const current = new GaugeSeries();
  liveGauge(configuration, () => current.value);
  return current;
}

/** One series of a histogram. */
export class HistogramSeries {
  /** Ascending. */
  readonly #bounds: readonly number[];
  /** How many values lie in each bucket and in none below it; the last one is that above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    (this.#counts[bucket] as number) += 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  /** For each bound how many values are not above it, and after them how many there are. */
  get cumulative(): number[] {
    let count = 0;
    return this.#counts.map((ofBucket) => {
      count += ofBucket;
      return count;
    });
  }
}

/** A histogram of which the registry reads the series that were asked for with `labels`. */
export class FastHistograms<T extends string> extends Histogram<T> {
  readonly #configuration: HistogramConfiguration<T>;
  readonly #bounds: readonly number[];
  /** By their labels as JSON. */
  readonly #series = new Map<string, readonly [LabelValues<T>, HistogramSeries]>();

  constructor(configuration: HistogramConfiguration<T> & { readonly buckets: number[] }) {
    super(configuration);
    this.#configuration = configuration;
    this.#bounds = configuration.buckets;
  }

  /** Ask for each series once and keep it. */
  series(labels: LabelValues<T>): HistogramSeries {
    const key = JSON.stringify(labels);
    const [, series] = this.#series.get(key) ?? [labels, new HistogramSeries(this.#bounds)];
    this.#series.set(key, [labels, series]);
    return series;
  }

  /** What the registry asks for where it writes text; `get` of prom-client is made of it, too. */
  async getForPromString() {
    const { name, help } = this.#configuration;
    return { name, help, type: 'histogram', values: this.#values(), aggregator: 'sum' };
  }

  #values() {
    const { name } = this.#configuration;
    return [...this.#series.values()].flatMap(([labels, series]) => {
      const cumulative = series.cumulative;
      const count = cumulative.at(-1) ?? 0;
      if (count === 0 && Object.keys(labels).length > 0) return [];
      const entry = (suffix: string, value: number, le: { le?: number | string } = {}) => ({
        metricName: `${name}_${suffix}`,
        labels: { ...le, ...labels },
        sharedLabels: {},
        value,
      });
      return [
        ...[...this.#bounds, '+Inf'].map((le, bucket) =>
          entry('bucket', cumulative[bucket] ?? count, { le }),
        ),
        entry('sum', series.sum),
        entry('count', count),
      ];
    });
  }
}

/** A histogram without labels. */
export const fastHistogram = (
  configuration: HistogramConfiguration<never> & { readonly buckets: number[] },
): HistogramSeries => new FastHistograms(configuration).series({});

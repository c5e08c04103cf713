import type { Row } from '../service/service.ts';
import type { MatrixSeries } from './prometheus.ts';

/** One sample of one series. */
export interface MetricPoint {
  /** Name and labels as one canonical text. */
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
}

export function pointsOfMatrix(matrix: readonly MatrixSeries[]): MetricPoint[] {
  return matrix.flatMap(({ metric, values }) => {
    const series = canonical(metric);
    return values.map(([seconds, value]) => ({
      series,
      timestampMs: Math.round(seconds * 1000),
      value: numberOf(value),
    }));
  });
}

/**
 * Reads the columns `metric_name, labels, timestamp` and `value`, as text: JSON has neither NaN nor infinity.
 */
export function pointsOfRows(rows: readonly Row[]): MetricPoint[] {
  return rows.map((row) => ({
    series: canonical({ ...(row['labels'] as Record<string, string>), __name__: String(row['metric_name']) }),
    timestampMs: Date.parse(String(row['timestamp'])),
    value: numberOf(row['value']),
  }));
}

const canonical = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Both sides write numbers that read back as the same bits, and special values in their own way. */
function numberOf(text: unknown): number {
  if (typeof text !== 'string') throw new Error(`Not the text of a sample value: ${JSON.stringify(text)}`);
  if (text === 'NaN') return Number.NaN;
  const number = Number(text.replace(/^\+?(-?)Inf(?:inity)?$/, '$1Infinity'));
  if (Number.isNaN(number)) throw new Error(`Not a sample value: ${text}`);
  return number;
}

export interface SampleComparison {
  /** Expected but not found. */
  readonly missing: readonly MetricPoint[];
  /** Found more than once. */
  readonly doubled: readonly MetricPoint[];
  /** Found with another value. */
  readonly different: ReadonlyArray<{ readonly expected: MetricPoint; readonly actual: MetricPoint }>;
  /** Found but not expected. */
  readonly extra: readonly MetricPoint[];
}

const keyOf = (point: MetricPoint): string => `${point.timestampMs} ${point.series}`;

export function compareSamples(
  expected: readonly MetricPoint[],
  actual: readonly MetricPoint[],
): SampleComparison {
  const found = new Map<string, MetricPoint>();
  const doubled: MetricPoint[] = [];
  for (const point of actual) {
    if (found.has(keyOf(point))) doubled.push(point);
    found.set(keyOf(point), point);
  }
  const missing: MetricPoint[] = [];
  const different: Array<{ expected: MetricPoint; actual: MetricPoint }> = [];
  for (const point of expected) {
    const match = found.get(keyOf(point));
    found.delete(keyOf(point));
    if (match === undefined) missing.push(point);
    else if (!Object.is(match.value, point.value)) different.push({ expected: point, actual: match });
  }
  return { missing, doubled, different, extra: [...found.values()] };
}

import { isDeepStrictEqual } from 'node:util';
import type { DecodeResult } from '../../../src/decode/task.ts';
import { decoded } from '../decode/decoded.ts';
import { metadataRows, rowsBySeries } from './otlp-metric-rows.ts';
import { type ExpectedMetrics, rowText } from './otlp-metrics-oracle.ts';

const tables = ['samples', 'exemplars', 'histograms', 'series'] as const;
/** Columns that a block leaves out when no row has them. */
const defaults = {
  samples: { start_timestamp: '0' },
  histograms: { start_timestamp: '0', min: 'null', max: 'null' },
  exemplars: {},
  series: {},
} as const;

/** The result of a new decoder for a request, in the form of the oracle's. */
export function storedMetrics(result: DecodeResult): ExpectedMetrics {
  const rows = Object.fromEntries(
    tables.map((table) => {
      const texts = rowsBySeries(result, table).map(({ series, ...row }) => {
        const shadowed = row['shadowed_attributes'];
        const sorted = Array.isArray(shadowed) ? { shadowed_attributes: shadowed.toSorted(byName) } : {};
        return rowText(String(series), { ...defaults[table], ...row, ...sorted });
      });
      return [table, (table === 'series' ? [...new Set(texts)] : texts).sort()];
    }),
  ) as Record<(typeof tables)[number], string[]>;
  const { refused } = decoded(result);
  return {
    ...rows,
    metadata: metadataRows(result)
      .map(({ metric_name, type, unit, description, temporality, is_monotonic, metadata }) =>
        JSON.stringify([metric_name, type, unit, description, temporality, is_monotonic, metadata]),
      )
      .sort(),
    refusedPoints: refused?.counts.points ?? 0,
    refusedExemplars: refused?.counts.exemplars ?? 0,
  };
}

const byName = (a: readonly string[], b: readonly string[]): number =>
  Buffer.compare(Buffer.from(a[0] ?? ''), Buffer.from(b[0] ?? ''));

/** @throws Error that names the first difference */
export function compareMetrics(actual: ExpectedMetrics, expected: ExpectedMetrics): void {
  for (const key of Object.keys(expected) as (keyof ExpectedMetrics)[]) {
    if (isDeepStrictEqual(actual[key], expected[key])) continue;
    const found = actual[key];
    const wanted = expected[key];
    if (typeof found === 'number' || typeof wanted === 'number') {
      throw new Error(`${key}: ${String(found)} instead of ${String(wanted)}`);
    }
    const missing = wanted.filter((row) => !found.includes(row));
    const extra = found.filter((row) => !wanted.includes(row));
    throw new Error(
      `${key}: ${found.length} instead of ${wanted.length} rows\nmissing ${missing[0]}\nextra   ${extra[0]}`,
    );
  }
}

import type { Catalog } from '../catalog/catalog.ts';
import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import type { Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';
import { countedTable, databaseOf } from '../model/dataset.ts';
import { parseGenerationId } from '../model/generation.ts';

export interface DatasetMetricsOptions {
  readonly store: Pick<Store, 'select'>;
  readonly catalog: Pick<Catalog, 'hasEnded'>;
  readonly metrics: Pick<Metrics, 'datasetRows' | 'datasetBytes'>;
  readonly timers: Timers;
  readonly log: Logger;
}

const prefix = databaseOf('');

/** The largest datasets of all tenants, from what the store keeps about its parts. */
const largest = `
  SELECT database, extract(table, '^(.*)[.]') AS dataset,
    toFloat64(sumIf(rows, splitByChar('.', table)[-1] IN (${Object.values(countedTable).map(quoteString).join(', ')}))),
    toFloat64(sum(bytes_on_disk)) AS bytes
  FROM system.parts WHERE active AND startsWith(database, ${quoteString(prefix)})
  GROUP BY database, dataset ORDER BY bytes DESC, database, dataset LIMIT ${limits.maxDatasetMetrics}`;

type Row = readonly [database: string, dataset: string, rows: number, bytes: number];

/**
 * Keeps the metrics of the largest datasets. The store is asked every so often and never by a scrape. While
 * it does not answer, the metrics stay as they are.
 *
 *     start ──▶ measuring ◀──▶ waiting ──stop──▶ stopped, after the measurement under way
 */
export class DatasetMetrics {
  readonly #options: DatasetMetricsOptions;
  #cancelTimer = () => {};
  #stopped = false;
  #underWay: Promise<void>;

  private constructor(options: DatasetMetricsOptions) {
    this.#options = options;
    this.#underWay = this.#watch();
  }

  /** Does not wait for the first measurement. */
  static start(options: DatasetMetricsOptions): DatasetMetrics {
    return new DatasetMetrics(options);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await this.#underWay;
  }

  async #watch(): Promise<void> {
    const { store, timers, log } = this.#options;
    try {
      this.#show(await selectRows<Row>(store, largest));
    } catch (error) {
      log.warn({ err: error }, 'the sizes of datasets are not known; their metrics stay as they were');
    }
    if (this.#stopped) return;
    this.#cancelTimer = timers.after(limits.datasetMetricsIntervalMs, () => {
      this.#underWay = this.#watch();
    });
  }

  #show(rows: readonly Row[]): void {
    const { catalog, metrics } = this.#options;
    metrics.datasetRows.reset();
    metrics.datasetBytes.reset();
    for (const [database, id, count, bytes] of rows) {
      const tenantId = database.slice(prefix.length);
      // What was deleted stays until the store has removed it, and another one may have its name.
      if (catalog.hasEnded(tenantId, id)) continue;
      const labels = { tenant: parseGenerationId(tenantId).name, dataset: parseGenerationId(id).name };
      metrics.datasetRows.set(labels, count);
      metrics.datasetBytes.set(labels, bytes);
    }
  }
}

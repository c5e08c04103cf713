import { LRUCache } from 'lru-cache';
import { selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';
import { countedTable, databaseOf } from '../model/dataset.ts';

/** What the store has of a dataset. */
export interface StoredSize {
  /** Events, records, spans or samples. */
  readonly rows: number;
  /** Of all of its tables, as they are on the disk. */
  readonly diskBytes: number;
}

/** By the ids of datasets. */
export type StoredSizes = ReadonlyMap<string, StoredSize>;

export interface DatasetSizesOptions {
  readonly store: Pick<Store, 'select'>;
  readonly clock: Pick<Clock, 'monotonicMs'> & Pick<Timers, 'after'>;
  readonly log: Logger;
}

interface Known {
  sizes: StoredSizes | undefined;
  readAtMs: number;
  /** The query that is under way; all who ask meanwhile wait for it. */
  reading: Promise<void> | undefined;
}

const countedTables = [...new Set(Object.values(countedTable))].map(quoteString).join(', ');

/**
 * The sizes of all datasets of a tenant, by one query of what the store keeps about its parts. They are kept
 * for some seconds. If the store does not answer in time, or fails, the last ones are given, or none.
 */
export class DatasetSizes {
  readonly #options: DatasetSizesOptions;
  readonly #known = new LRUCache<string, Known>({ max: limits.maxTenantsWithSizes });

  constructor(options: DatasetSizesOptions) {
    this.#options = options;
  }

  /** Never rejects. @returns undefined while nothing is known */
  async of(tenant: string): Promise<StoredSizes | undefined> {
    const { clock } = this.#options;
    const known: Known = this.#known.get(tenant) ?? {
      sizes: undefined,
      readAtMs: -Infinity,
      reading: undefined,
    };
    this.#known.set(tenant, known);
    if (clock.monotonicMs() - known.readAtMs < limits.datasetSizesMaxAgeMs) return known.sizes;
    known.reading ??= this.#read(tenant, known);
    let stopTimer = () => {};
    const isLate = new Promise<void>((resolve) => {
      stopTimer = clock.after(limits.datasetSizesWaitMs, resolve);
    });
    await Promise.race([known.reading, isLate]);
    stopTimer();
    return known.sizes;
  }

  async #read(tenant: string, known: Known): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      const rows = await selectRows<readonly [id: string, rows: number, bytes: number]>(
        store,
        `SELECT extract(table, '^(.*)[.]') AS dataset,
           toFloat64(sumIf(rows, splitByChar('.', table)[-1] IN (${countedTables}))), toFloat64(sum(bytes_on_disk))
         FROM system.parts WHERE active AND database = ${quoteString(databaseOf(tenant))} GROUP BY dataset`,
        tenant,
      );
      known.sizes = new Map(rows.map(([id, count, diskBytes]) => [id, { rows: count, diskBytes }]));
      known.readAtMs = clock.monotonicMs();
    } catch (error) {
      log.warn(
        { err: error, tenant },
        'the sizes of datasets are not known; the catalog shows the last ones',
      );
    }
    known.reading = undefined;
  }
}

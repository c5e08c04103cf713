import type { ReceivedOfDay, ReceivedTable } from '../catalog/received-table.ts';
import { StoreError } from '../clickhouse/store-error.ts';
import type { Logger } from '../lib/log.ts';
import { microsPerDay, parseDay } from '../lib/timestamp.ts';
import { countedTable } from '../model/dataset.ts';
import type { ReceivedAmount } from '../model/received-amounts.ts';
import type { RecordHeader } from '../wal/record-header.ts';
import type { SealedSegment, SegmentRecord } from '../wal/segment.ts';

export interface ReceivedTotalsOptions {
  /** This node's name; part of the deduplication tokens. */
  readonly node: string;
  readonly table: Pick<ReceivedTable, 'add'>;
  /** The id of the dataset that takes what was written under an id; undefined for one that has ended. */
  readonly destination: (header: RecordHeader) => string | undefined;
  /** The segments of the log that hold records. */
  readonly segments: () => Iterable<Segment>;
  readonly log: Logger;
}

interface Segment {
  readonly number: number;
  readonly records: readonly SegmentRecord[];
}

/**
 * How much was received of each dataset, across restarts and on all nodes.
 *
 * A record of the log says when its request came and how long its body was. Before a segment is removed from
 * the log, its totals are added to a table of the store, with a token of the segment: once, however often
 * that is repeated. The totals of what the log still has are computed on demand.
 */
export class ReceivedTotals {
  readonly #options: ReceivedTotalsOptions;
  /** Segments that the table has, and the log still has, too. */
  readonly #added = new Set<number>();

  constructor(options: ReceivedTotalsOptions) {
    this.#options = options;
  }

  /**
   * Adds what a segment holds. To be called before it leaves the log; safe to repeat.
   * @throws whatever is worth another try
   */
  async addSegment(segment: SealedSegment): Promise<void> {
    const { node, table, log } = this.#options;
    const amounts = this.#amountsOf(segment);
    if (amounts.length === 0) return;
    try {
      await table.add(amounts, `${node}-${segment.number}-received`);
    } catch (error) {
      if (!(error instanceof StoreError) || error.retryable) throw error;
      // Totals must not hold up rows.
      log.error({ err: error, segment: segment.number }, 'the totals of received data could not be updated');
    }
    const there = new Set([...this.#options.segments()].map(({ number }) => number));
    for (const number of this.#added) if (!there.has(number)) this.#added.delete(number);
    this.#added.add(segment.number);
  }

  /** The part of a dataset's totals that is in the log and not in the table yet. @param date `YYYY-MM-DD` */
  pending(tenant: string, id: string, date: string | undefined): ReceivedAmount {
    const day = date === undefined ? undefined : parseDay(date);
    const sum = { events: 0, bytes: 0 };
    for (const { number, records } of this.#options.segments()) {
      if (this.#added.has(number)) continue;
      for (const { header } of records) {
        if (header.dataset !== id || header.tenant !== tenant) continue;
        if (day !== undefined && dayOf(header) !== day) continue;
        sum.events += eventsOf(header);
        sum.bytes += header.received?.bytes ?? 0;
      }
    }
    return sum;
  }

  #amountsOf({ records }: SealedSegment): ReceivedOfDay[] {
    const amounts = new Map<
      string,
      { tenant: string; dataset: string; day: number; events: number; bytes: number }
    >();
    for (const { header } of records) {
      const dataset = this.#options.destination(header);
      if (dataset === undefined || header.received === undefined) continue;
      const { tenant } = header;
      const day = dayOf(header);
      const key = `${tenant}/${dataset}/${day}`;
      const amount = amounts.get(key) ?? { tenant, dataset, day, events: 0, bytes: 0 };
      amounts.set(key, amount);
      amount.events += eventsOf(header);
      amount.bytes += header.received.bytes;
    }
    return [...amounts.values()];
  }
}

const dayOf = ({ received }: RecordHeader): number => Math.floor((received?.micros ?? 0) / microsPerDay);

const eventsOf = ({ kind, blocks }: RecordHeader): number =>
  blocks.reduce((sum, { table, rows }) => (table === countedTable[kind] ? sum + rows : sum), 0);

import { isUtf8 } from 'node:buffer';
import { Column64, StringColumn, UIntColumn } from '../../columnar/columns.ts';
import { LowCardinalityColumn } from '../../columnar/dictionary-columns.ts';
import { encodeTableBlock } from '../../columnar/native-block.ts';
import { microsPerDay } from '../../lib/timestamp.ts';
import { limits } from '../../limits/limits.ts';
import type { TableBlock } from '../../model/block.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { DecodeTask } from '../task.ts';
import type { TextRange } from '../wire/protobuf-reader.ts';
import { LabelHash } from './label-hash.ts';
import type { RowDetails } from './row-details.ts';
import type { SeriesContext } from './series-resolver.ts';
import type { SeriesTable } from './series-table.ts';
import { WrittenRows } from './written-rows.ts';

/** Metric types by their number in the messages of Remote Write; others are unknown. */
const typeNames = [
  'unknown',
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
].map((name) => Buffer.from(name));
const unknownType = Buffer.from('unknown');

/** The name of a metric type of Remote Write. */
export const metricTypeName = (type: number): Buffer => typeNames[type] ?? unknownType;

/** The day of the rows of a request, since 1970. @param receivedMicros since 1970 */
export const metadataDay = (receivedMicros: number): number => Math.floor(receivedMicros / microsPerDay);

/** Date, time and string lengths of a row, in bytes. */
const rowBytes = 24;

const newColumns = () => ({
  date: new UIntColumn('date', 'Date', 16, 16),
  name: new StringColumn('metric_name', 16),
  type: new LowCardinalityColumn('type'),
  unit: new StringColumn('unit', 16),
  description: new StringColumn('description', 16),
  receivedAt: new Column64('received_at', "DateTime64(6, 'UTC')", 16),
});

/** What a metric is, as a message says it. */
export interface MetricDescription {
  readonly name: TextRange;
  /** The name of the type. */
  readonly type: Buffer;
  readonly unit: TextRange;
  readonly help: TextRange;
}

/**
 * Rows of `metadata`. Senders repeat what does not change with every request or every minute, so a row is
 * left out like one of `series`: if it is known to be durable for this day.
 */
export class MetadataColumns {
  /** For the keys of descriptions; nobody else's keys are in that table. */
  readonly hash: LabelHash;
  readonly #bytes: Buffer;
  readonly #table: SeriesTable;
  readonly #written: WrittenRows;
  readonly #budget: MemoryBudget;
  readonly #receivedMicros: number;
  readonly #day: number;
  readonly #details: RowDetails | undefined;

  /** Made for the first row: most requests have none. */
  #columns: ReturnType<typeof newColumns> | undefined;

  /** @param details what the rows have beside a `MetricDescription` */
  constructor(
    message: Buffer,
    task: Pick<DecodeTask, 'tenant' | 'dataset' | 'sequence' | 'receivedMicros'>,
    context: SeriesContext,
    budget: MemoryBudget,
    details?: RowDetails,
  ) {
    this.hash = new LabelHash(JSON.stringify([task.tenant, task.dataset]));
    this.#bytes = message;
    this.#table = context.metadata;
    this.#written = new WrittenRows(context.metadata, context.outcomes, task.sequence);
    this.#budget = budget;
    this.#details = details;
    this.#receivedMicros = task.receivedMicros;
    this.#day = metadataDay(task.receivedMicros);
  }

  /**
   * Writes a row unless one is there for this day.
   * @param read called only if a row is needed; `hash` holds the description's key
   * @returns why it cannot be stored, or undefined
   */
  add(read: () => MetricDescription): string | undefined {
    const { low, high } = this.hash;
    const found = this.#table.find(low, high);
    if (found >= 0 && this.#written.has(found, this.#day)) return undefined;
    const description = read();
    const problem = this.#problem(description);
    if (problem !== undefined) return problem;
    this.#append(description);
    this.#written.add(found >= 0 ? found : this.#table.insert(low, high), this.#day);
    return undefined;
  }

  #problem({ name, unit, help }: MetricDescription): string | undefined {
    if (name.start === name.end) return 'it is of no metric: the name is empty';
    const parts = [
      ['name', name, limits.maxLabelValueBytes],
      ['unit', unit, limits.maxMetadataTextBytes],
      ['help', help, limits.maxMetadataTextBytes],
    ] as const;
    for (const [what, { start, end }, maxBytes] of parts) {
      if (end - start > maxBytes) {
        return `the ${what} has ${end - start} bytes, at most ${maxBytes} are allowed`;
      }
      if (!isUtf8(this.#bytes.subarray(start, end))) return `the ${what} is not valid UTF-8`;
    }
    return undefined;
  }

  #append({ name, type, unit, help }: MetricDescription): void {
    const bytes = this.#bytes;
    const textBytes = name.end - name.start + (unit.end - unit.start) + (help.end - help.start);
    const detailBytes = this.#details?.byteLength() ?? 0;
    this.#columns ??= newColumns();
    const columns = this.#columns;
    columns.date.append(this.#day);
    columns.name.append(bytes, name.start, name.end);
    columns.type.append(type);
    columns.unit.append(bytes, unit.start, unit.end);
    columns.description.append(bytes, help.start, help.end);
    columns.receivedAt.appendInteger(this.#receivedMicros);
    this.#details?.append();
    const addedBytes = rowBytes + textBytes + (this.#details?.byteLength() ?? 0) - detailBytes;
    this.#budget.spend(addedBytes, 'its metadata');
  }

  /** The `metadata` block of the request; undefined if it has no rows. */
  finish(): TableBlock | undefined {
    if (this.#columns === undefined) return undefined;
    const columns = [...Object.values(this.#columns), ...(this.#details?.columns ?? [])];
    return encodeTableBlock('metadata', columns, this.#columns.date.rows);
  }
}

/**
 * From the labels of a series to the ids of its samples, and the rows of `series` that these need.
 *
 * A scrape sends the same series again and again, encoded in the same way. So labels are parsed once; later
 * they cost a hash and a lookup. A row of `series` is written for each day on which the series has samples,
 * so that expiry by day never leaves a sample without its series.
 */

import type { XXHashAPI } from 'xxhash-wasm';
import type { TableBlock } from '../../model/block.ts';
import { requestBounds } from '../decode-bounds.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import type { DecodeOutcomes } from '../outcomes.ts';
import type { DecodeTask } from '../task.ts';
import type { TextRange } from '../wire/protobuf-reader.ts';
import { DistinctDays } from './distinct-days.ts';
import { LabelHash } from './label-hash.ts';
import type { EncodedLabels } from './label-list.ts';
import { NewSeries } from './new-series.ts';
import type { SeriesIds } from './point-columns.ts';
import type { RowDetails } from './row-details.ts';
import { SeriesColumns } from './series-columns.ts';
import { SeriesLabels } from './series-labels.ts';
import { type SeriesTable, slotField } from './series-table.ts';
import { WrittenRows } from './written-rows.ts';

/** What outlives a request: one for each worker, shared by all datasets. */
export interface SeriesContext {
  readonly table: SeriesTable;
  readonly metadata: SeriesTable;
  readonly outcomes: DecodeOutcomes;
  readonly hashes: XXHashAPI;
}

export class SeriesResolver implements SeriesIds {
  /** Of the series found last; the bits of unsigned integers. */
  seriesIdLow = 0;
  seriesIdHigh = 0;
  metricId = 0;

  readonly #context: SeriesContext;
  readonly #budget: MemoryBudget;
  readonly #written: WrittenRows;
  readonly #new: NewSeries;
  readonly #hash: LabelHash;
  readonly #labels = new SeriesLabels();
  readonly #fields: EncodedLabels;
  /** The slot of the series found last. */
  #slot = 0;
  /** True when `#labels` holds the labels of that series. */
  #labelsRead = false;

  /** Made for the first row: most requests have no new series. */
  #rows: SeriesColumns | undefined;

  readonly #details: RowDetails | undefined;

  readonly #days: DistinctDays;

  /**
   * @param fields hold the labels of the series under way when `find` is called
   * @param details what the rows of `series` have beside the labels; part of the labels' key in `fields`
   * @param days of the request, if something else takes samples of it too
   */
  constructor(
    task: Pick<DecodeTask, 'tenant' | 'dataset' | 'sequence' | 'bounds'>,
    context: SeriesContext,
    fields: EncodedLabels,
    budget: MemoryBudget,
    details?: RowDetails,
    days = new DistinctDays(),
  ) {
    this.#days = days;
    this.#context = context;
    this.#budget = budget;
    this.#fields = fields;
    this.#details = details;
    this.#new = new NewSeries(task.bounds ?? requestBounds);
    this.#written = new WrittenRows(context.table, context.outcomes, task.sequence);
    this.#hash = new LabelHash(JSON.stringify([task.tenant, task.dataset]));
  }

  /**
   * Finds the ids of the series whose labels are in the fields.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why the series cannot be stored, or undefined
   */
  find(): string | undefined {
    this.#labelsRead = false;
    const { table } = this.#context;
    const hash = this.#hash;
    if (this.#fields.problem() !== undefined) return this.#new.problem() ?? this.readLabels();
    this.#fields.hash(hash);
    const slot = table.find(hash.low, hash.high);
    if (slot < 0) return this.#identify();
    this.#slot = slot;
    this.seriesIdLow = table.words[slot + slotField.seriesIdLow] as number;
    this.seriesIdHigh = table.words[slot + slotField.seriesIdHigh] as number;
    this.metricId = table.words[slot + slotField.metricId] as number;
    return undefined;
  }

  /** Makes ids of the labels, and an entry in the table for the hash computed last. */
  #identify(): string | undefined {
    const problem = this.#new.problem() ?? this.readLabels();
    if (problem !== undefined) return problem;
    this.#new.addSeries();
    const { hashes, table } = this.#context;
    const seriesId = hashes.h64Raw(this.#labels.canonical());
    this.seriesIdLow = Number(BigInt.asIntN(32, seriesId));
    this.seriesIdHigh = Number(BigInt.asIntN(32, seriesId >> 32n));
    const { start, end } = this.metricName();
    this.metricId = hashes.h32Raw(this.#fields.bytes.subarray(start, end)) | 0;
    const slot = table.insert(this.#hash.low, this.#hash.high);
    table.words[slot + slotField.seriesIdLow] = this.seriesIdLow;
    table.words[slot + slotField.seriesIdHigh] = this.seriesIdHigh;
    table.words[slot + slotField.metricId] = this.metricId;
    this.#slot = slot;
    return undefined;
  }

  /**
   * Reads the labels in the fields.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why they are not those of a series that can be stored, or undefined
   */
  readLabels(): string | undefined {
    this.#labelsRead = true;
    const problem = this.#labels.read(this.#fields);
    this.#new.addLabels(this.#labels.examined);
    this.#budget.spend(this.#labels.examinedBytes, 'the labels of its series');
    return problem;
  }

  /**
   * Writes the rows that the series found last needs.
   * @param days on which it has samples in this request, since 1970; may repeat
   * @returns why they cannot be written, or undefined
   */
  writeRows(days: readonly number[]): string | undefined {
    for (const day of days.length === 1 ? days : new Set(days)) {
      const tooManyDays = this.#days.add(day);
      if (tooManyDays !== undefined) return tooManyDays;
      if (this.#written.has(this.#slot, day)) continue;
      if (!this.#labelsRead) {
        const problem = this.#new.problem();
        if (problem !== undefined) return problem;
        this.#new.addSeries();
        this.readLabels();
      }
      this.#rows ??= new SeriesColumns(this.#budget, this.#details);
      this.#rows.append(this, this.#labels, this.#fields.bytes, day);
      this.#written.add(this.#slot, day);
    }
    return undefined;
  }

  /** Where the metric's name of the series found last is in the message. */
  metricName(): TextRange {
    if (!this.#labelsRead) this.readLabels();
    const { valueStart, valueEnd } = this.#labels.metricName;
    return { start: valueStart, end: valueEnd };
  }

  /** The labels in the fields, for messages; as many as can be read. */
  describe(): string {
    this.readLabels();
    return this.#labels.describe();
  }

  /** The `series` block of the request; undefined if it has no rows. */
  finish(): TableBlock | undefined {
    return this.#rows?.finish();
  }
}

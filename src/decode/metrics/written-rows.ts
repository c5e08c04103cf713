import type { DecodeOutcomes } from '../outcomes.ts';
import { noDay, type SeriesTable, slotField } from './series-table.ts';

/** Whether the row of that slot, whatever its day, is durable. */
export function isDurable({ words }: SeriesTable, outcomes: DecodeOutcomes, slot: number): boolean {
  if (words[slot + slotField.durable] === 1) return true;
  // A request that was refused may have left a slot without a row, and without a sequence to ask for.
  if (words[slot + slotField.day] === noDay) return false;
  if (!outcomes.isCommitted(words[slot + slotField.sequence] as number)) return false;
  // Remembered here, since the outcome is forgotten after some time.
  words[slot + slotField.durable] = 1;
  return true;
}

/**
 * Which rows that are written once a day (of series, of metadata) need not be written again.
 *
 * A row is left out only if a record that holds it is known to be durable, or if it is in the block under way
 * and shares its fate. The day, the task that wrote the row and what became of it stand in the table's slot.
 */
export class WrittenRows {
  readonly #table: SeriesTable;
  readonly #outcomes: DecodeOutcomes;
  readonly #sequence: number;

  /** @param sequence of the task under way */
  constructor(table: SeriesTable, outcomes: DecodeOutcomes, sequence: number) {
    this.#table = table;
    this.#outcomes = outcomes;
    this.#sequence = sequence | 0;
  }

  /** @param day since 1970 */
  has(slot: number, day: number): boolean {
    const { words } = this.#table;
    if (words[slot + slotField.day] !== day) return false;
    return (
      words[slot + slotField.sequence] === this.#sequence || isDurable(this.#table, this.#outcomes, slot)
    );
  }

  /** Notes that the block under way has the row of that day. */
  add(slot: number, day: number): void {
    const { words } = this.#table;
    words[slot + slotField.day] = day;
    words[slot + slotField.sequence] = this.#sequence;
    words[slot + slotField.durable] = 0;
  }
}

import {
  type ColumnSpec,
  eventTimeColumn,
  fieldColumnName,
  fieldTypes,
  isRequestColumn,
  overflowColumn,
  parseFieldColumn,
} from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';

const none: ReadonlySet<string> = new Set();

/**
 * The columns that a dataset of events has or will have: those in the store, those that acknowledged records
 * need, and those that writes in progress have reserved.
 *
 * Their number is bounded. When it is reached, new fields go into one column, `p_overflow`. From then on no
 * new field gets a column, even if the bound is raised, so that all values of a field are in one place. A
 * field that has a column can still get columns for values of the other two types. Columns about requests do
 * not count.
 */
export class ReservedColumns {
  readonly #kept: Set<string>;
  /** Reserved by writes in progress, and by how many of them. */
  readonly #taken = new Map<string, number>();

  constructor(kind: DatasetKind) {
    this.#kept = new Set(kind === 'events' ? [eventTimeColumn.name] : []);
  }

  /** The column exists, or an acknowledged record needs it. */
  keep(name: string): void {
    if (!isRequestColumn(name)) this.#kept.add(name);
  }

  /**
   * Reserves columns for a write.
   * @returns ends the reservation; with true, the record is durable
   */
  take(columns: readonly ColumnSpec[]): (durable: boolean) => void {
    const added: string[] = [];
    for (const { name } of columns) if (!this.#kept.has(name) && !isRequestColumn(name)) added.push(name);
    for (const name of added) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
    return (durable) => {
      for (const name of added) {
        const left = (this.#taken.get(name) ?? 1) - 1;
        if (left === 0) this.#taken.delete(name);
        else this.#taken.set(name, left);
        if (durable) this.#kept.add(name);
      }
    };
  }

  /**
   * The names of the columns of an events block for which there is no room. The first ones in the
   * block have precedence.
   * @param maxColumns the limit of the dataset
   */
  excess(columns: readonly ColumnSpec[], maxColumns: number): ReadonlySet<string> {
    if (columns.every(({ name }) => this.#has(name))) return none;
    const excess = new Set<string>();
    const added = new Set<string>();
    let room = this.#has(overflowColumn.name) ? 0 : maxColumns - this.#size;
    for (const { name } of columns) {
      if (this.#has(name) || name === overflowColumn.name) continue;
      const field = parseFieldColumn(name)?.field ?? name;
      const hasColumn = fieldTypes.some((type) => {
        const other = fieldColumnName(field, type);
        return this.#has(other) || added.has(other);
      });
      if (hasColumn || room > 0) {
        added.add(name);
        room -= 1;
      } else excess.add(name);
    }
    return excess;
  }

  #has(name: string): boolean {
    return this.#kept.has(name) || this.#taken.has(name) || isRequestColumn(name);
  }

  get #size(): number {
    let size = this.#kept.size;
    for (const name of this.#taken.keys()) if (!this.#kept.has(name)) size += 1;
    return size;
  }
}

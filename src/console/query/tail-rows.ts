import type { Field } from './dataset-fields.ts';
import { type Cell, parseJson, type ResultColumn, type Row } from './parse-result.ts';

/** Rows that a list of a live tail keeps, and the characters of their JSON; the oldest ones leave it. */
export const maxTailRows = 2000;
export const maxTailLength = 32 * 1024 * 1024;

/**
 * Makes rows of what a live tail sends, which are objects: the columns are those that are known when it
 * begins. A field that comes later becomes a column at the end, which the rows before do not have.
 */
export class TailRows {
  #columns: readonly ResultColumn[];
  readonly #indexes: Map<string, number>;
  readonly #lengths = new WeakMap<Row, number>();

  constructor(fields: readonly Field[]) {
    this.#columns = fields;
    this.#indexes = new Map(fields.map(({ name }, index) => [name, index]));
  }

  get columns(): readonly ResultColumn[] {
    return this.#columns;
  }

  /** @param json an object with the columns of a row */
  rowOf(json: string): Row {
    const row: Cell[] = this.#columns.map(() => null);
    for (const [name, value] of Object.entries(parseJson(json) as object)) {
      row[this.#indexes.get(name) ?? this.#addColumn(name, value)] = value;
    }
    this.#lengths.set(row, json.length);
    return row;
  }

  /** The rows that are kept of these, which are the newest first: one at least, however long it is. */
  keep(rows: readonly Row[]): readonly Row[] {
    let length = 0;
    const end = rows.findIndex((row, index) => {
      length += this.#lengths.get(row) ?? 0;
      return index > 0 && (index >= maxTailRows || length > maxTailLength);
    });
    return end < 0 ? rows : rows.slice(0, end);
  }

  #addColumn(name: string, value: Cell): number {
    const index = this.#columns.length;
    this.#columns = [...this.#columns, { name, type: typeOf(value) }];
    this.#indexes.set(name, index);
    return index;
  }
}

/** The type that a value of a new column lets one expect. */
function typeOf(value: Cell): string {
  if (typeof value === 'number') return 'double precision';
  return typeof value === 'boolean' ? 'boolean' : 'text';
}

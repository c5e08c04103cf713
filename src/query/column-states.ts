import type { Arriving, DatasetInfo } from '../catalog/dataset-entry.ts';

/** The columns of a dataset at one time, and a number that identifies them. */
export interface ColumnState {
  readonly number: number;
  readonly names: readonly string[];
}

interface Seen {
  readonly catalogVersion: number;
  readonly state: ColumnState;
}

/**
 * Gives a number to each state of the columns of a dataset. A translation thread remembers the number, so the
 * same columns are not sent to it twice. The version of the catalog would not do: it changes with every
 * dataset of the tenant, the number only with the columns of this one.
 */
export class ColumnStates {
  readonly #seen = new WeakMap<DatasetInfo['columns'], Seen>();
  /** The last number given. All instances share it, because threads do not know which one gave a number. */
  static #last = 0;

  of({ columns, arriving }: Pick<DatasetInfo, 'columns' | 'arriving'>, catalogVersion: number): ColumnState {
    const seen = this.#seen.get(columns);
    if (seen?.catalogVersion === catalogVersion) return seen.state;
    const state =
      seen !== undefined && areNames(seen.state.names, columns, arriving)
        ? seen.state
        : this.#next(columns, arriving);
    this.#seen.set(columns, { catalogVersion, state });
    return state;
  }

  #next(columns: DatasetInfo['columns'], arriving: Arriving | undefined): ColumnState {
    ColumnStates.#last += 1;
    const names = [...columns.keys()].filter((name) => arriving?.columns.has(name) !== true);
    return { number: ColumnStates.#last, names };
  }
}

function areNames(
  names: readonly string[],
  columns: DatasetInfo['columns'],
  arriving: Arriving | undefined,
): boolean {
  let index = 0;
  for (const name of columns.keys()) {
    if (arriving?.columns.has(name) === true) continue;
    if (names[index] !== name) return false;
    index += 1;
  }
  return index === names.length;
}

import type { Arriving, DatasetInfo } from '../catalog/dataset-entry.ts';

/** The columns of a dataset, and a number that no other columns have. */
export interface ColumnState {
  readonly number: number;
  readonly names: readonly string[];
}

interface Seen {
  readonly catalogVersion: number;
  readonly state: ColumnState;
}

/**
 * Numbers the states of the columns of datasets, so that a thread that was told a state need not be told
 * again. The version of the catalog changes with any dataset of a tenant; the number changes with the
 * columns of this one alone.
 */
export class ColumnStates {
  readonly #seen = new WeakMap<DatasetInfo['columns'], Seen>();
  /** Of all of the process: threads remember numbers, whoever gave them. */
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
